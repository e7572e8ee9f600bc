"""Who is there: when sources were heard, when ontrack was there itself, and that nothing of it is looked at for every job."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from sqlalchemy import Engine, create_engine, event

from bot.incidents.absence import Absence
from bot.incidents.keys import JobKey
from bot.intake import Inbound, Outcome
from bot.intake.heard import Heard
from bot.policies import load
from bot.silence import Silence
from bot.store import JobTimer
from bot.store.watch import SourceRow
from bot.timers import Timers
from storage.database import parse_url
from storage.opening import SqlStorage
from tests.storage.samples import NIGHT, NOW, minutes

LONGEST = minutes(5)


def test_a_source_is_heard_when_it_was_heard_last_whoever_says_so_first(storage: SqlStorage) -> None:
    storage.heard(at={"a": NOW, "b": NOW})
    storage.heard(at={"a": NOW + minutes(2), "b": NOW - minutes(2)})

    assert [(row.name, row.heard_at) for row in storage.sources()] == [("a", NOW + minutes(2)), ("b", NOW)]


def test_a_source_that_was_never_heard_is_watched_from_the_day_on_which_it_was_declared(storage: SqlStorage) -> None:
    storage.watch_sources(names=("a",), now=NOW)
    storage.watch_sources(names=("a", "b"), now=NOW + minutes(9))

    assert storage.sources() == (
        SourceRow(name="a", watched_from=NOW),
        SourceRow(name="b", watched_from=NOW + minutes(9)),
    )
    assert storage.sources()[0].quiet_since == NOW
    storage.heard(at={"a": NOW + minutes(1)})
    assert storage.sources()[0].quiet_since == NOW + minutes(1)


def test_an_absence_is_kept_once_and_silence_counts_from_its_end(storage: SqlStorage) -> None:
    storage.heard(at={"a": NOW})
    assert storage.be_there(now=NOW, longest=LONGEST) is None
    assert storage.be_there(now=NOW + minutes(5), longest=LONGEST) is None
    absence = Absence(began_at=NOW + minutes(5), ended_at=NOW + minutes(60))

    assert storage.be_there(now=NOW + minutes(60), longest=LONGEST) == absence
    assert storage.be_there(now=NOW + minutes(60), longest=LONGEST) is None
    assert storage.absences(since=NOW) == (absence,)
    assert storage.sources()[0].quiet_since == NOW + minutes(60)


def test_a_clock_that_goes_back_undoes_nothing(storage: SqlStorage) -> None:
    storage.be_there(now=NOW, longest=LONGEST)
    storage.be_there(now=NOW - minutes(30), longest=LONGEST)

    assert storage.be_there(now=NOW + minutes(1), longest=LONGEST) is None


def test_a_transaction_sees_who_is_silent_who_spoke_and_the_last_absence(storage: SqlStorage) -> None:
    storage.heard(at={"silent": NOW, "spoke": NOW, "well": NOW})
    storage.mark_silent(name="silent", since=NOW)
    storage.mark_silent(name="spoke", since=NOW)
    storage.mark_heard(name="spoke", now=NOW + minutes(1))
    for number in range(3):
        storage.be_there(now=NOW + number * minutes(60), longest=LONGEST)
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        watched = uow.watched(sources={"silent", "spoke", "well", "new"})
        nobody = uow.watched(sources=())

    assert watched.silent == {"silent"}
    assert watched.spoke_at == {"spoke": NOW + minutes(1)}
    assert watched.absence == Absence(began_at=NOW + minutes(60), ended_at=NOW + minutes(120))
    assert (nobody.silent, nobody.absence) == (frozenset(), watched.absence)


Statement = tuple[str, Any]


@contextmanager
def counted() -> Iterator[list[Statement]]:
    """The statements that are executed inside, with what they are given."""
    seen: list[Statement] = []

    def note(_connection: Any, _cursor: Any, statement: str, given: Any, *_rest: Any) -> None:
        if not statement.startswith("BEGIN"):
            seen.append((statement, given))

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def test_nothing_looks_through_the_jobs_for_one_that_may_be_late(storage: SqlStorage, database_url: str) -> None:
    policies = load("version: 1\nschedulers: {shop: {type: events, silent_after: 2h}}\nfallback: {}\n", env={})
    timers = Timers(storage=storage, take_in=_nothing)
    silence = Silence(store=storage, take_in=_nothing, heard=Heard(), policies=lambda: policies, leads=lambda: True)

    def ten_minutes() -> list[Statement]:
        with counted() as statements:
            for minute in range(10):
                timers.step(NOW + minutes(minute))
                silence.step(NOW + minutes(minute))
        return statements

    ten_minutes()
    with_none = ten_minutes()
    _put_to_rest(storage, 10_000)
    with_many = ten_minutes()

    assert [statement for statement, _ in with_many] == [statement for statement, _ in with_none]
    (about_jobs,) = {statement for statement, _ in with_many if " jobs" in statement}
    given = next(given for statement, given in with_many if statement == about_jobs)
    assert "ix_timers_due_at" in _plan(database_url, about_jobs, given)


def _nothing(inbounds: Sequence[Inbound]) -> list[Outcome]:
    assert not inbounds, "nobody is late"
    return []


def _put_to_rest(storage: SqlStorage, number: int) -> None:
    """So many jobs, each with a deadline tomorrow."""
    for first in range(0, number, 1000):
        keys = {JobKey(scheduler="shop", name=f"job-{first + one}") for one in range(1000)}
        with storage.begin_write(born_leased=False, now=NOW) as uow:
            for row in uow.lock_jobs(keys=keys, now=NOW).values():
                tomorrow = NOW + timedelta(days=1, seconds=row.id)
                timer = JobTimer(kind="start_by", nominal_time=NIGHT, due_at=tomorrow)
                uow.set_job_timers(job=row.id, timers=(timer,), kinds=("start_by",))
            uow.commit()


def _plan(database_url: str, statement: str, given: Any) -> str:
    """How the database goes about it."""
    engine = create_engine(parse_url(database_url))
    explain = "EXPLAIN QUERY PLAN" if engine.dialect.name == "sqlite" else "EXPLAIN"
    with engine.connect() as connection:
        connection.exec_driver_sql("ANALYZE")
        plan = "\n".join(str(row) for row in connection.exec_driver_sql(f"{explain} {statement}", given))
    engine.dispose()
    return plan
