"""What Airflow sends becomes runs of DAGs: a task's failure is the run's evidence, and opens nothing by itself."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.incidents.keys import JobKey, Trigger
from bot.incidents.model import Incident, Status
from bot.intake import Result
from bot.schedulers.openlineage.decoding import decode
from bot.schedulers.openlineage.heard import RunHeard
from bot.store import Which
from tests.schedulers.openlineage.events import (
    MODEL,
    QUERY,
    ROOT,
    TASK,
    captured,
    dag_run,
    error,
    failing_dag,
    run_event,
    task,
)
from tests.schedulers.openlineage.road import SOURCE, Road

LOST_COLUMN = 'column "amount" does not exist in raw.orders'
JOB = "finance.daily"
SIX = datetime(2026, 11, 30, 6, tzinfo=UTC)


def of_dag(word: str, at: str, **more: Any) -> dict[str, Any]:
    return run_event(word, at, run=ROOT, job=JOB, namespace="airflow", facets={**dag_run(), **more})


def of_task(
    word: str, at: str, name: str = "extract", *, run: str = TASK, attempt: int = 1, retries: int = 0, **more: Any
) -> dict[str, Any]:
    facets = {**task(name, attempt=attempt, retries=retries), **more}
    return run_event(word, at, run=run, job=f"{JOB}.{name}", namespace="airflow", facets=facets, parent=ROOT, root=ROOT)


def message_of(incident: Incident) -> str:
    return incident.failure.message


def only(road: Road) -> Incident:
    (incident,) = road.unresolved()
    return incident


def test_a_failing_dag_as_airflow_sent_it_is_one_incident_with_the_error_of_its_task(road: Road) -> None:
    taken = road.takes(*failing_dag())

    assert [one.result for one in taken] == [Result.ACCEPTED] * 4
    incident = only(road)
    assert str(incident.job) == "airflow-prod/failing_dag"
    assert incident.failure.run.run_id == "r1"
    assert incident.failure.run.trigger is Trigger.MANUAL
    assert LOST_COLUMN in message_of(incident)
    assert incident.failure.run.url == (
        "http://airflow.example.com/dags/failing_dag/runs/r1/tasks/extract?try_number=1"
    )
    evidence = road.storage.reads.evidence(key=incident.failure.evidence)
    assert evidence is not None
    assert evidence.root.type == "ValueError"
    assert evidence.facts["failed_part"]["name"] == "extract"
    assert evidence.facts["params"] == {"x": 1}
    assert evidence.facts["code"]["version"] == "1"
    assert evidence.facts["env"]["airflow"] == "3.3.2"
    assert evidence.facts["job"] == {"owner": "airflow", "tags": ["t"]}


def test_the_cleared_run_that_goes_well_closes_it(road: Road) -> None:
    for event in captured():
        road.takes(event)

    assert road.unresolved() == ()
    (settled,) = road.storage.reads.incidents(which=Which.ALL, limit=9)
    assert settled.status is Status.RESOLVED
    assert {(job, run, generation, state) for job, run, generation, state, _ in road.runs()} == {
        ("failing_dag", "r1", 0, "failed"),
        ("failing_dag", "r1", 1, "succeeded"),
        ("late_dag", "d1", 0, "succeeded"),
    }


def test_a_task_that_will_be_tried_again_opens_nothing(road: Road) -> None:
    road.takes(
        of_dag("START", "06:00:01"),
        of_task("START", "06:00:02", retries=2),
        of_task("FAIL", "06:00:03", retries=2, **error("connection reset")),
        of_task("START", "06:05:02", run=MODEL, attempt=2, retries=2),
        of_task("COMPLETE", "06:05:03", run=MODEL, attempt=2, retries=2),
    )
    road.waits()
    assert road.unresolved() == ()

    road.takes(of_dag("COMPLETE", "06:05:04"))
    assert road.unresolved() == ()
    assert road.runs() == {(JOB, "scheduled__2026-11-30T06:00:00+00:00", 0, "succeeded", "")}


def test_a_failure_that_a_later_try_undid_is_not_the_error(road: Road) -> None:
    road.takes(
        of_task("FAIL", "06:00:03", "extract", retries=1, **error("connection reset")),
        of_task("COMPLETE", "06:01:03", "extract", run=MODEL, attempt=2, retries=1),
        of_task("FAIL", "06:02:03", "load", run=QUERY, **error("disk full")),
        of_dag("FAIL", "06:02:04", **error("task_failure")),
    )

    incident = only(road)
    assert "disk full" in message_of(incident)
    assert incident.failure.run.nominal_time == SIX


def test_of_several_failed_tasks_the_first_in_time_is_the_error(road: Road) -> None:
    road.takes(
        of_task("FAIL", "06:03:03", "load", run=QUERY, **error("second")),
        of_task("FAIL", "06:02:03", "extract", **error("first")),
        of_dag("FAIL", "06:03:04", **error("task_failure")),
    )

    incident = only(road)
    assert message_of(incident) == "first"
    evidence = road.storage.reads.evidence(key=incident.failure.evidence)
    assert evidence is not None
    assert evidence.facts["failed_part"]["others"] == ["load"]


def test_a_dag_that_failed_before_its_task_is_told_waits_for_it(road: Road) -> None:
    (first,) = road.takes(of_dag("FAIL", "06:02:04", **error("task_failure")))
    assert first.reason == "waits up to 10 s for the failure of its part"
    assert road.unresolved() == ()
    (again,) = road.takes(of_dag("FAIL", "06:02:04", **error("task_failure")))
    assert again.result is Result.DUPLICATE
    road.waits(5)
    assert road.unresolved() == ()

    road.takes(of_task("FAIL", "06:02:03", **error("disk full")))

    assert "disk full" in message_of(only(road))
    road.waits()
    assert only(road).count == 1


def test_it_waits_for_every_task_that_airflow_calls_failed(road: Road) -> None:
    states = {"airflowState": {"tasksState": {"extract": "failed", "load": "failed", "tell": "upstream_failed"}}}
    road.takes(
        of_task("FAIL", "06:02:03", "load", run=QUERY, **error("second")),
        of_dag("FAIL", "06:02:04", **error("task_failure"), **states),
    )
    assert road.unresolved() == ()

    road.takes(of_task("FAIL", "06:01:03", "extract", **error("first")))

    assert message_of(only(road)) == "first"


def test_what_never_comes_is_not_waited_for_long_and_no_crash_loses_the_end(road: Road) -> None:
    road.takes(of_dag("FAIL", "06:02:04", **error("task_failure")))
    assert road.lineage.step(road.clock()) is not None
    assert road.unresolved() == ()

    road.waits()

    assert only(road).failure.run.nominal_time == SIX
    assert road.storage.next_lineage_at() is None


def test_a_dag_that_another_one_started_is_a_run_of_its_own_and_its_tasks_are_its_parts(road: Road) -> None:
    inner = {"airflowDagRun": dag_run(dag="board.pack", run_id="triggered__1")["airflowDagRun"]}
    road.takes(
        of_dag("START", "06:00:01"),
        run_event("START", "06:01:00", run=MODEL, job="board.pack", facets=inner, parent=TASK, root=ROOT),
        run_event(
            "FAIL",
            "06:01:30",
            run=QUERY,
            job="board.pack.draw",
            facets={**task("draw", dag="board.pack"), **error("no font")},
            parent=MODEL,
            root=ROOT,
        ),
        of_dag("COMPLETE", "06:01:40"),
        run_event(
            "FAIL",
            "06:02:00",
            run=MODEL,
            job="board.pack",
            facets={**inner, **error("task_failure")},
            parent=TASK,
            root=ROOT,
        ),
    )

    incident = only(road)
    assert incident.job == JobKey(scheduler=SOURCE, name="board.pack")
    assert message_of(incident) == "no font"


@pytest.mark.parametrize(
    ("run_type", "trigger"),
    [
        ("scheduled", Trigger.SCHEDULE),
        ("asset_triggered", Trigger.SCHEDULE),
        ("manual", Trigger.MANUAL),
        ("backfill", Trigger.BACKFILL),
        ("backfill_job", Trigger.BACKFILL),
    ],
)
def test_what_started_a_dag_run(run_type: str, trigger: Trigger) -> None:
    assert heard(run_event("START", "06:00:01", facets=dag_run(run_type=run_type))).known.trigger is trigger


@pytest.mark.parametrize(
    ("run_type", "trigger"), [("scheduled", Trigger.RERUN), ("manual", Trigger.MANUAL), ("backfill", Trigger.BACKFILL)]
)
def test_a_run_that_was_cleared_runs_again(run_type: str, trigger: Trigger) -> None:
    known = heard(run_event("START", "06:20:00", facets=dag_run(run_type=run_type, generation=1))).known

    assert (known.trigger, known.generation) == (trigger, 1)


@pytest.mark.parametrize(
    ("dag", "nominal", "expected"),
    [
        ({}, {}, SIX),
        ({"data_interval_end": None}, {"nominalEndTime": "2026-11-30T05:00:00Z"}, SIX.replace(hour=5)),
        ({"data_interval_end": None}, {}, SIX.replace(day=29)),
        ({"data_interval_end": None, "logical_date": None}, {}, None),
        (
            {"data_interval_end": None, "logical_date": None},
            {"nominalStartTime": "2026-11-30T04:00:00Z"},
            SIX.replace(hour=4),
        ),
    ],
)
def test_when_a_dag_run_was_due(dag: dict[str, Any], nominal: dict[str, str], expected: datetime | None) -> None:
    facets = {
        **dag_run(**dag),
        **({"nominalTime": {"nominalStartTime": "2026-11-29T06:00:00Z", **nominal}} if nominal else {}),
    }

    assert heard(run_event("START", "06:00:01", facets=facets)).known.nominal_time == expected


def heard(event: dict[str, Any]) -> RunHeard:
    (one,) = decode(json.dumps(event).encode(), "application/json", source=SOURCE)

    assert isinstance(one, RunHeard), one

    return one
