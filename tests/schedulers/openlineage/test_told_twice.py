"""A rerun is told by OpenLineage and by the poll of its scheduler: by whom it was begun is not lost, whichever comes first."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from bot.incidents.keys import JobKey, RunRef, Trigger
from bot.incidents.model import Incident, Outcome, Status
from bot.intake import Inbound, Result
from bot.sources import SourceEvent, SourceKind
from bot.store import Which
from storage import tables
from tests.handlers.doubles import Clock
from tests.schedulers.openlineage.events import MODEL, TASK, dag_run, dataset, error, run_event, task
from tests.schedulers.openlineage.road import SOURCE, Road, lineage_road

JOB, RUN = "finance.daily", "scheduled__2026-11-30T06:00:00+00:00"
FIRST, AGAIN = ("0190a000-0000-7000-8000-000000000000", "0190b000-0000-7000-8000-000000000000")
KEY = "airflow-prod/finance.daily@20261130T060400000000Z.0a1b2c3d#1"
POLLED = timedelta(seconds=45)


@pytest.fixture
def polled(database_url: str, clock: Clock) -> Iterator[Road]:
    """A source that is polled beside the door; its only run has failed, which the door has told."""
    with lineage_road(database_url, clock, polled=lambda source: POLLED if source == SOURCE else None) as road:
        fails(road)
        yield road


def fails(road: Road) -> None:
    road.takes(
        of_dag("START", "06:00:01", FIRST),
        run_event(
            "FAIL",
            "06:03:58",
            run=TASK,
            job=f"{JOB}.extract",
            namespace="airflow",
            facets={**task("extract"), **error("disk full")},
            parent=FIRST,
            root=FIRST,
        ),
        of_dag("FAIL", "06:04:00", FIRST),
    )


def of_dag(word: str, at: str, run: str, *, generation: int = 0) -> dict[str, Any]:
    return run_event(word, at, run=run, job=JOB, namespace="airflow", facets=dag_run(generation=generation))


def told(kind: SourceKind, at: str, *, by: str | None = None, key: str | None = None) -> SourceEvent:
    """What the poll tells of the rerun."""
    instant = datetime.fromisoformat(f"2026-11-30T{at}").replace(tzinfo=UTC)
    return SourceEvent(
        id=f"{RUN}|1|{kind}",
        kind=kind,
        at=instant,
        job=JobKey(scheduler=SOURCE, name=JOB),
        run=RunRef(run_id=RUN, nominal_time=datetime(2026, 11, 30, 6, tzinfo=UTC), generation=1, trigger=Trigger.RERUN),
        started_at=datetime(2026, 11, 30, 6, 30, tzinfo=UTC),
        ended_at=instant if kind is not SourceKind.RUN_STARTED else None,
        by=by,
        rerun_key=key,
    )


def polls(road: Road, *events: SourceEvent) -> list[Result]:
    return [one.result for one in road.intake.take_in([Inbound(key=event.key, event=event) for event in events])]


def incident(road: Road) -> Incident:
    (found,) = road.storage.reads.incidents(which=Which.ALL, limit=9)
    return found


def rerun(road: Road) -> tuple[str, str | None, str | None]:
    """State, starter and our key of the second generation as its row has them."""
    row = tables.runs.c
    with road.storage.database.read() as connection:
        return tuple(connection.execute(select(row.state, row.by, row.rerun_key).where(row.generation == 1)).one())


def timeline(road: Road) -> list[str]:
    row = tables.timeline.c
    with road.storage.database.read() as connection:
        return list(connection.execute(select(row.kind).order_by(row.id)).scalars())


def test_a_failure_of_the_schedules_own_run_is_told_at_once(polled: Road) -> None:
    assert incident(polled).status is Status.OPEN


def test_of_a_rerun_by_hand_the_poll_tells_who_began_it_although_the_door_heard_of_it_first(polled: Road) -> None:
    first = polled.takes(
        of_dag("START", "06:30:00", AGAIN, generation=1), of_dag("COMPLETE", "06:31:00", AGAIN, generation=1)
    )

    assert [one.result for one in first] == [Result.ACCEPTED, Result.ACCEPTED]
    assert all(one.reason is not None and "the poll" in one.reason for one in first)
    assert incident(polled).status is Status.OPEN

    polls(
        polled,
        told(SourceKind.RUN_STARTED, "06:30:00", by="maria"),
        told(SourceKind.RUN_SUCCEEDED, "06:31:00", by="maria"),
    )

    assert (incident(polled).status, incident(polled).outcome) == (Status.RESOLVED, Outcome.RECOVERED_BY_HAND)
    assert rerun(polled) == ("succeeded", "maria", None)


def test_what_the_door_held_back_changes_nothing_when_the_poll_has_told_it(polled: Road) -> None:
    polled.takes(of_dag("START", "06:30:00", AGAIN, generation=1), of_dag("COMPLETE", "06:31:00", AGAIN, generation=1))
    polls(
        polled,
        told(SourceKind.RUN_STARTED, "06:30:00", by="maria"),
        told(SourceKind.RUN_SUCCEEDED, "06:31:00", by="maria"),
    )
    before = timeline(polled)
    polled.waits(60)

    assert timeline(polled) == before
    assert polled.storage.next_lineage_at() is None
    assert rerun(polled) == ("succeeded", "maria", None)


def test_a_rerun_of_which_the_poll_says_nothing_is_told_by_the_door_in_the_end(polled: Road) -> None:
    polled.takes(of_dag("START", "06:30:00", AGAIN, generation=1), of_dag("COMPLETE", "06:31:00", AGAIN, generation=1))
    polled.waits(44)
    assert incident(polled).status is Status.OPEN

    polled.waits(2)
    assert (incident(polled).status, incident(polled).outcome) == (Status.RESOLVED, Outcome.RECOVERED_BY_HAND)


def test_a_rerun_that_fails_waits_for_the_poll_also_when_its_part_is_known(polled: Road) -> None:
    part = run_event(
        "FAIL",
        "06:30:58",
        run=MODEL,
        job=f"{JOB}.extract",
        namespace="airflow",
        facets={**task("extract"), **error("disk full")},
        parent=AGAIN,
        root=AGAIN,
    )
    polled.takes(
        of_dag("START", "06:30:00", AGAIN, generation=1), part, of_dag("FAIL", "06:31:00", AGAIN, generation=1)
    )
    assert incident(polled).count == 1

    polled.waits(60)
    assert incident(polled).count == 2
    assert rerun(polled) == ("failed", None, None)


def test_what_the_second_telling_knows_more_is_kept_with_the_run(road: Road) -> None:
    fails(road)
    road.takes(of_dag("START", "06:30:00", AGAIN, generation=1), of_dag("COMPLETE", "06:31:00", AGAIN, generation=1))
    assert incident(road).status is Status.RESOLVED
    before = timeline(road)
    started = told(SourceKind.RUN_STARTED, "06:30:00", by="maria")
    ended = told(SourceKind.RUN_SUCCEEDED, "06:31:00", by="somebody else", key=KEY)

    assert polls(road, started, ended) == [Result.DUPLICATE, Result.DUPLICATE]
    assert rerun(road) == ("succeeded", "maria", KEY)
    assert timeline(road) == before


def test_what_a_rerun_read_is_known_although_only_the_door_tells_it(polled: Road) -> None:
    orders = dataset("raw/orders", columns=("id", "amount"), rows=120)
    polls(
        polled,
        told(SourceKind.RUN_STARTED, "06:30:00", by="maria"),
        told(SourceKind.RUN_SUCCEEDED, "06:31:00", by="maria"),
    )
    polled.takes(
        of_dag("START", "06:30:00", AGAIN, generation=1),
        {**of_dag("COMPLETE", "06:31:00", AGAIN, generation=1), "inputs": [orders]},
    )
    polled.waits(60)
    good = polled.storage.reads.good_runs(JobKey(scheduler=SOURCE, name=JOB))

    assert "s3://lake/raw/orders" in str(good[0].facts["inputs"])
    assert rerun(polled) == ("succeeded", "maria", None)


def test_a_second_telling_that_knows_less_takes_nothing_away(road: Road) -> None:
    fails(road)
    polls(
        road,
        told(SourceKind.RUN_STARTED, "06:30:00", by="maria"),
        told(SourceKind.RUN_SUCCEEDED, "06:31:00", by="maria"),
    )
    road.takes(of_dag("START", "06:30:00", AGAIN, generation=1), of_dag("COMPLETE", "06:31:00", AGAIN, generation=1))

    assert rerun(road) == ("succeeded", "maria", None)
