"""Gates, and where reruns stand: locked, moved, let go the longest held first, stopped together; rows of storms."""

from dataclasses import replace
from datetime import timedelta

from sqlalchemy import select

from bot.incidents.canary import Canary, Stage
from bot.incidents.keys import JobKey
from bot.incidents.model import Incident, TimerKind
from bot.incidents.people import By, Person
from bot.incidents.storm import ROWS_A_PAGE, Held, Storm, StormPlace, after_taking, team_key
from bot.store import Gate
from storage.opening import SqlStorage
from storage.queue_tables import timers
from tests.storage.samples import NOW, booking, incident, minutes, resolved

CAUSE = "network.connection_reset"


def jobs(count: int) -> list[JobKey]:
    return [JobKey(scheduler="cron", name=f"load-{number:03}") for number in range(count)]


def held(storage: SqlStorage, count: int) -> list[Incident]:
    """So many occurrences whose reruns are held, the first the longest."""
    found = []
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        rows = uow.lock_jobs(keys=jobs(count), now=NOW)
        for number, key in enumerate(jobs(count)):
            one = uow.save_incident(incident(job=key), expected=None)
            row = booking(one, job_id=rows[key].id, key=f"rerun-{number}", stage=Stage.HELD, at=NOW + minutes(number))
            assert uow.reserve(row, limits={})
            found.append(one)
        uow.commit()
    return found


def released(storage: SqlStorage) -> list[tuple[int, int]]:
    """The occurrences that are told."""
    with storage._database.read() as connection:
        rows = connection.execute(select(timers).where(timers.c.kind == TimerKind.RELEASE).order_by(timers.c.record))
        return [(row.record, row.number) for row in rows]


def test_a_gate_keeps_what_was_written(storage: SqlStorage) -> None:
    known = Canary(cause=CAUSE, wave=2, gone=1, out=1, held=9)
    calm = Storm(channel="C0DATA", rows=3)
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        found = uow.lock_gates(names=["cause:a", "channel:b"])
        assert found == {"cause:a": Gate(name="cause:a"), "channel:b": Gate(name="channel:b")}
        uow.save_gate(Gate(name="cause:a", canary=known))
        uow.save_gate(Gate(name="channel:b", storm=calm))
        uow.commit()

    with storage.begin_write(born_leased=False, now=NOW) as uow:
        found = uow.lock_gates(names=["channel:b", "cause:a", "cause:new"])
    assert found["cause:a"].canary == known
    assert found["channel:b"].storm == calm
    assert found["cause:new"] == Gate(name="cause:new")


def test_the_longest_held_go_first_and_their_occurrences_are_told_at_once(storage: SqlStorage) -> None:
    waiting = held(storage, 5)
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        uow.let_held(cause=CAUSE, count=2)
        committed = uow.commit()

    assert released(storage) == [(one.record, one.number) for one in waiting[:2]]
    assert committed.next_timer_at == NOW
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        stages = uow.stages(keys=[f"rerun-{number}" for number in range(5)])
    assert [stages[f"rerun-{number}"] for number in range(5)] == [Stage.LET, Stage.LET, *[Stage.HELD] * 3]


def test_all_that_are_held_are_stopped_together(storage: SqlStorage) -> None:
    waiting = held(storage, 3)
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        assert uow.stage_rerun(key="rerun-1", stage=Stage.OUT)
        uow.stop_held(cause=CAUSE)
        uow.commit()

    assert released(storage) == [(waiting[0].record, 1), (waiting[2].record, 1)]
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        assert uow.standing(cause=CAUSE) == {Stage.OUT: 1}


def test_a_rerun_that_has_ended_stands_nowhere(storage: SqlStorage) -> None:
    held(storage, 1)
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        uow.lock_jobs(keys=jobs(1), now=NOW)
        uow.settle_booking(key="rerun-0", amount=1.0, result="succeeded", at=NOW)
        uow.commit()

    with storage.begin_write(born_leased=False, now=NOW) as uow:
        assert uow.stages(keys=["rerun-0"]) == {}
        assert not uow.stage_rerun(key="rerun-0", stage=Stage.OUT)


def test_the_word_to_go_outlives_a_save_of_the_occurrence(storage: SqlStorage) -> None:
    (one,) = held(storage, 1)
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        uow.let_held(cause=CAUSE, count=1)
        uow.commit()
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        uow.lock_jobs(keys=jobs(1), now=NOW)
        uow.save_incident(replace(one, version=2), expected=1)
        uow.commit()

    assert released(storage) == [(one.record, one.number)]


def stormy(storage: SqlStorage, count: int) -> list[Incident]:
    """So many rows of one storm."""
    found = []
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        uow.lock_jobs(keys=jobs(count), now=NOW)
        for number, key in enumerate(jobs(count)):
            place = StormPlace(channel="C0DATA", number=1, row=number + 1, apart=10, since=NOW)
            one = uow.save_incident(incident(job=key, storm=place), expected=None)
            uow.join_storm(incident=one, place=place, team="data")
            found.append(one)
        uow.commit()
    return found


def test_a_storm_counts_its_rows_and_lists_them_page_by_page(storage: SqlStorage) -> None:
    rows = stormy(storage, ROWS_A_PAGE + 2)
    state = storage.reads.storm(key="C0DATA/1")

    assert state is not None
    assert [(one.status, one.team, one.count) for one in state.counts] == [("open", "data", ROWS_A_PAGE + 2)]
    assert state.settled_at is None
    assert [row.incident.job for row in storage.reads.storm_rows(key="C0DATA/1", page=2)] == [
        one.job for one in rows[-2:]
    ]
    assert storage.reads.storm(key="C0DATA/2") is None


def test_pages_wait_for_the_root_and_follow_their_rows(storage: SqlStorage) -> None:
    rows = stormy(storage, ROWS_A_PAGE + 2)
    (root,) = storage.claim_views(now=NOW, limit=10)
    assert (root.storm, root.page) == ("C0DATA/1", 0)
    assert storage.next_effect_at(now=NOW) is None

    storage.settle_view(row=root, root_ts="7.0", now=NOW)
    pages = storage.claim_views(now=NOW, limit=10)
    assert [(page.page, page.thread_ts) for page in pages] == [(1, "7.0"), (2, "7.0")]
    for page in pages:
        storage.settle_view(row=page, root_ts=f"7.{page.page}", now=NOW)
    assert storage.claim_views(now=NOW, limit=10) == ()

    with storage.begin_write(born_leased=False, now=NOW) as uow:
        uow.lock_jobs(keys=jobs(ROWS_A_PAGE + 2), now=NOW)
        uow.save_incident(replace(resolved(rows[-1]), version=2), expected=1)
        uow.commit()
    assert sorted(view.page or 0 for view in storage.claim_views(now=NOW, limit=10)) == [0, 2]
    assert storage.reads.storm_thread_of(record=rows[-1].record, number=1) == ("C0DATA", "7.0")


def test_who_took_a_storm_is_read_with_it_and_every_view_of_it_is_raised(storage: SqlStorage) -> None:
    rows = stormy(storage, ROWS_A_PAGE + 2)
    (root,) = storage.claim_views(now=NOW, limit=10)
    storage.settle_view(row=root, root_ts="7.0", now=NOW)
    for page in storage.claim_views(now=NOW, limit=10):
        storage.settle_view(row=page, root_ts=f"7.{page.page}", now=NOW)
    assert storage.reads.storm_held(key="C0DATA/1") == ()

    held = Held(who=team_key("data"), by=By(person=Person(id="U0ANA"), at=NOW), until=NOW + timedelta(hours=4))
    taken = after_taking(Storm(channel="C0DATA", number=1, rows=len(rows)), held)
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        uow.lock_gates(names=["channel:C0DATA"])
        uow.save_gate(Gate(name="channel:C0DATA", storm=taken))
        uow.show_storm(key="C0DATA/1")
        uow.commit()
    state = storage.reads.storm(key="C0DATA/1")

    assert state is not None
    assert state.held == storage.reads.storm_held(key="C0DATA/1") == (held,)
    assert (state.apart, state.since) == (10, NOW)
    assert sorted(view.page or 0 for view in storage.claim_views(now=NOW, limit=10)) == [0, 1, 2]
    assert storage.reads.storm_held(key="C0DATA/2") == ()


def test_the_next_storm_of_the_channel_is_not_taken_for_the_one_before(storage: SqlStorage) -> None:
    stormy(storage, 1)
    held = Held(who=team_key("data"), by=By(person=Person(id="U0ANA"), at=NOW), until=NOW + timedelta(hours=4))
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        uow.lock_gates(names=["channel:C0DATA"])
        uow.save_gate(Gate(name="channel:C0DATA", storm=after_taking(Storm(channel="C0DATA", number=2), held)))
        uow.commit()

    assert storage.reads.storm_held(key="C0DATA/1") == ()
