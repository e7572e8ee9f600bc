"""What is measured of an occurrence is written with it, whatever happens to it; older rows are filled from their documents."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from alembic import command
from alembic.config import Config
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import create_engine, select, text

from bot.health.query import Query
from bot.health.reporting import HealthReports
from bot.incidents.health import Period, Scope
from bot.incidents.keys import Cost
from bot.incidents.model import DecisionKind, Incident, Outcome, OwnerDecision, Status
from bot.incidents.people import By, Handover
from bot.incidents.waits import Wait
from bot.store.health import RowsOf
from storage import upgrading
from storage.database import Database, parse_url
from storage.measured_columns import measured_columns, measured_values
from storage.migrating import migrate
from storage.opening import SqlStorage, open_storage
from storage.tables import occurrences
from tests.databases import PostgresServer
from tests.health import by_hand
from tests.health.company import AWAY, CAUSES, MANY, NOW, TEAMS, Case
from tests.health.company import occurrence as made
from tests.health.simple import MINUTE, occurrence, put
from tests.storage.samples import ANA, saved

MEASURED = [column.name for column in measured_columns()]


@pytest.fixture
def storage(database_url: str) -> Iterator[SqlStorage]:
    opened = open_storage(database_url, instance="web")
    yield opened
    opened.close()


def columns(url: str) -> list[dict[str, Any]]:
    """The measured columns of every occurrence."""
    database = Database(url, read_only=True)
    with database.read() as connection:
        rows = connection.execute(select(*(occurrences.c[name] for name in MEASURED)).order_by(occurrences.c.record))
        found = [dict(row._mapping) for row in rows]
    database.close()
    return found


def test_the_columns_follow_what_happens(storage: SqlStorage, database_url: str) -> None:
    (one,) = put(storage, [occurrence("orders", NOW)])
    by = By(person=ANA, at=NOW + 9 * MINUTE)
    told = replace(
        one,
        version=2,
        first_word_at=by.at,
        corrected_cause="data.missing",
        decision=OwnerDecision(kind=DecisionKind.LEFT, by=by, false_alarm=True),
        handed=(Handover(team="platform", came_from="finance", by=by),),
        measured=replace(one.measured, team="platform", estimate=Cost(amount=1.5, unit="credits"), late_runs=2),
        waits=tuple(Wait(job=f"cron/r{n}", nominal_time=NOW, since=NOW, delay=n * MINUTE) for n in range(3)),
    )
    saved(storage, told)

    assert columns(database_url) == [
        {
            "team": "platform",
            "failed_at": NOW,
            "answered_at": NOW + 9 * MINUTE,
            "recovered_at": None,
            "late_runs": 2,
            "fixed": False,
            "decided": DecisionKind.LEFT,
            "corrected": True,
            "false_alarm": True,
            "handed": True,
            "observed": False,
            "estimate": 1.5,
            "estimate_unit": "credits",
            "delay": 3 * MINUTE,
            "delayed": 2,
        }
    ]
    well = replace(
        told,
        version=3,
        status=Status.RESOLVED,
        outcome=Outcome.RECOVERED_BY_HAND,
        closed_at=NOW + 60 * MINUTE,
        closed_by_run="run-2",
        measured=replace(told.measured, good_at=NOW + 59 * MINUTE),
    )
    saved(storage, well)
    assert columns(database_url)[0]["recovered_at"] == NOW + 59 * MINUTE
    saved(storage, replace(well, version=4, status=Status.OPEN, outcome=None, closed_at=None, closed_by_run=None))
    assert columns(database_url)[0]["recovered_at"] is None, "reopened: the good run settled nothing"


def an_earlier_version(url: str, known: list[Incident]) -> None:
    """A database before it measured anything, with these occurrences; the document of the last cannot be read."""
    engine = create_engine(parse_url(url))
    with engine.begin() as connection:
        config = Config()
        config.set_main_option("script_location", str(upgrading._scripts().dir))
        config.attributes["connection"] = connection
        command.upgrade(config, "0010")
        for number, one in enumerate(known, start=1):
            job = {"number": number, "name": f"{one.job.name}-{number}", "memory": "{}"}
            connection.execute(
                text(
                    "INSERT INTO jobs (id, scheduler, name, created_at, memory) VALUES (:number, 'cron', :name, 0, :memory)"
                ),
                job,
            )
            connection.execute(
                text("INSERT INTO records (id, job_id, fingerprint, opened_at) VALUES (:number, :number, 'f', 0)"), job
            )
            connection.execute(OLD_OCCURRENCE, _old_values(number, one, readable=number < len(known)))
    engine.dispose()


OLD_OCCURRENCE = text(
    "INSERT INTO occurrences (record, number, job_id, status, version, fingerprint, cause, opened_at, closed_at, document) "
    "VALUES (:number, 1, :number, :status, 1, 'f', 'unknown', :opened_at, :closed_at, :document)"
)


def _old_values(number: int, one: Incident, *, readable: bool) -> dict[str, Any]:
    document = msgspec.to_builtins(one)
    del document["measured"]
    return {
        "number": number,
        "status": one.status,
        "opened_at": micros(one.opened_at),
        "closed_at": micros(one.closed_at) if one.closed_at else None,
        "document": msgspec.json.encode(document if readable else {}).decode(),
    }


def micros(at: datetime) -> int:
    return (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def test_rows_of_an_earlier_version_are_filled_from_their_documents(empty_url: str) -> None:
    """What the step writes for a document is what is written with it now, but for what was not known then."""
    known = [made(i) for i in range(MANY)]
    an_earlier_version(empty_url, known)
    migrate(empty_url)
    *filled, unreadable = columns(empty_url)

    assert set(unreadable.values()) == {None}, "a document that cannot be read leaves its row unmeasured"
    then_unknown = {"team", "estimate", "estimate_unit", "late_runs", "recovered_at"}
    for one, found in zip(known, filled, strict=False):
        now = measured_values(one)
        assert {name: found[name] for name in found if name not in then_unknown} == {
            name: now[name] for name in now if name not in then_unknown
        }
        assert found["team"] == ("platform" if one.handed else None)
        assert found["recovered_at"] == (one.closed_at if now["recovered_at"] else None)
        assert bool(found["late_runs"]) == bool(now["late_runs"])
    assert len(filled) == MANY - 1


@st.composite
def some_occurrences(draw: st.DrawFn) -> list[Incident]:
    """Few instants and names, so that much falls together."""
    many = draw(st.integers(0, 25))
    found: list[Incident] = []
    spans = st.one_of(st.none(), st.integers(-2, 40))
    for number in range(many):
        recovered = draw(spans)
        one = occurrence(
            f"job{number if recovered is None else draw(st.integers(0, 3))}",
            NOW - draw(st.integers(0, 60)) * timedelta(hours=12),
            answered_after=draw(spans),
            recovered_after=recovered,
            told_after=draw(st.integers(-2, 3)),
            team=draw(st.sampled_from(TEAMS)),
            late_runs=draw(st.integers(0, 2)),
        )
        cause = draw(st.sampled_from(CAUSES))
        again = found and found[-1].job == one.job and draw(st.booleans())
        found.append(
            replace(
                one,
                number=found[-1].number + 1 if again else 1,
                failure=replace(one.failure, cause=cause),
                corrected_cause=draw(st.sampled_from([None, cause, "other.cause"])),
                outcome=None if one.outcome is None else draw(st.sampled_from(list(Outcome))),
            )
        )
    return found


SCOPES = st.builds(
    Scope,
    team=st.sampled_from([None, *TEAMS]),
    cause=st.sampled_from([None, "unknown"]),
    scheduler=st.sampled_from([None, "cron"]),
)
PERIODS = st.tuples(st.integers(0, 70), st.integers(-3, 70)).map(
    lambda hours: Period(
        since=NOW - timedelta(hours=12 * max(hours) + 1), until=NOW - timedelta(hours=12 * min(hours)), name="some"
    )
)


@pytest.fixture(scope="session")
def shared_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    url = f"sqlite:///{tmp_path_factory.mktemp('shared')}/ontrack.db"
    migrate(url)
    return url


@given(known=some_occurrences(), scope=SCOPES, period=PERIODS, away=st.booleans())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_report_is_the_fold_over_its_occurrences_sqlite(
    shared_url: str, known: list[Incident], scope: Scope, period: Period, away: bool
) -> None:
    folded(shared_url, known, scope, period, away)


@given(known=some_occurrences(), scope=SCOPES, period=PERIODS, away=st.booleans())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_report_is_the_fold_over_its_occurrences_postgresql(
    postgres_server: PostgresServer, known: list[Incident], scope: Scope, period: Period, away: bool
) -> None:
    url = postgres_server.new_database()
    folded(url, known, scope, period, away)
    postgres_server.drop(url)


def folded(url: str, known: list[Incident], scope: Scope, period: Period, away: bool) -> None:
    with closing(open_storage(url, instance="web")) as storage:
        empty(url)
        for began, ended in sorted(AWAY) if away else ():
            storage.be_there(now=began, longest=timedelta(days=400))
            storage.be_there(now=ended, longest=MINUTE)
        cases = tuple(Case(incident=one, reruns=()) for one in put(storage, known))
        found = storage.reads.picture(scope, period, by=RowsOf.JOB, now=NOW)
        report = HealthReports(reads=storage.reads, baselines=storage).report(
            Query(scope=scope, period=period), now=NOW
        )
    expected = by_hand.figures(cases, scope, period, now=NOW, away=AWAY if away else ())

    assert replace(found.health, repeating=()) == replace(expected, repeating=())
    assert dict(found.health.repeating) == dict(sorted(expected.repeating)) or len(expected.repeating) > 5
    assert sum(row.occurrences for row in found.rows) == expected.occurrences
    assert sum(row.unresolved for row in found.rows) == expected.unresolved.n
    assert sum(day.opened for day in report.days) == expected.occurrences
    assert sum(day.settled for day in report.days) == expected.completed


def empty(url: str) -> None:
    """Nothing is left of the example before."""
    engine = create_engine(parse_url(url))
    with engine.begin() as connection:
        for table in ("timers", "occurrences", "records", "jobs", "absences", "presence"):
            connection.execute(text(f"DELETE FROM {table}"))
    engine.dispose()
