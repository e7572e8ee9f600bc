"""What dbt, Spark, Dagster and Flink send, after the public documents of each, becomes runs of jobs on both databases."""

from typing import Any

from bot.incidents.model import Incident
from bot.intake import Result
from tests.schedulers.openlineage.events import (
    MODEL,
    QUERY,
    ROOT,
    TASK,
    captured,
    dag_run,
    error,
    job_type,
    run_event,
    task,
)
from tests.schedulers.openlineage.road import OTHER, Road

DBT_ENGINE = {"processing_engine": {"name": "dbt", "version": "1.11.1", "openlineageAdapterVersion": "1.54.0"}}
SYNTAX = (
    "Traceback (most recent call last):\n"
    '  File "connections.py", line 93, in add_query\n'
    "    cursor.execute(sql, bindings)\n"
    'psycopg2.errors.SyntaxError: syntax error at or near "final"\n'
)


def dbt(
    word: str, at: str, name: str, *, run: str, parent: str | None = None, root: str | None = None, **more: Any
) -> dict[str, Any]:
    kind = "JOB" if name.startswith("dbt-run") else "SQL" if ".sql." in name else "MODEL"
    return run_event(
        word,
        at,
        run=run,
        job=name,
        namespace="jaffle",
        facets={**DBT_ENGINE, "dbt_run": {"invocation_id": "b0ed168e"}, **more},
        job_facets=job_type("DBT", kind),
        parent=parent,
        root=root,
    )


def dbt_run(*, parent: str | None = None, root: str | None = None) -> list[dict[str, Any]]:
    """A `dbt run` in which a statement of a model fails."""
    shop, model = "dbt-run-jaffle_shop", "model.jaffle_shop.orders"
    ended = error("Command `dbt run` failed at 06:00:09.771069 after 6.60 seconds")
    return [
        dbt("START", "06:00:03", shop, run=ROOT, parent=parent, root=root),
        dbt("START", "06:00:08", model, run=MODEL, parent=ROOT),
        dbt("START", "06:00:08.8", f"{model}.sql.2", run=QUERY, parent=MODEL),
        dbt(
            "FAIL",
            "06:00:08.9",
            f"{model}.sql.2",
            run=QUERY,
            parent=MODEL,
            **error('Database Error in model orders\n  syntax error at or near "final"', SYNTAX),
        ),
        dbt("FAIL", "06:00:09", model, run=MODEL, parent=ROOT),
        dbt("FAIL", "06:00:09.7", shop, run=ROOT, parent=parent, root=root, **ended),
    ]


def only(road: Road) -> Incident:
    (incident,) = road.unresolved()
    return incident


def test_a_dbt_run_fails_of_the_statement_of_its_model(road: Road) -> None:
    road.takes(*dbt_run(), source=OTHER)

    incident = only(road)
    assert str(incident.job) == "dbt/jaffle:dbt-run-jaffle_shop"
    assert incident.failure.run.nominal_time is None
    assert 'syntax error at or near "final"' in incident.failure.message
    evidence = road.storage.reads.evidence(key=incident.failure.evidence)
    assert evidence is not None
    assert evidence.facts["failed_part"]["name"] == "jaffle:model.jaffle_shop.orders.sql.2"
    assert evidence.facts["env"]["dbt"] == "1.11.1"


def test_a_dbt_run_event_by_event_and_a_good_one_after_it(road: Road) -> None:
    for event in dbt_run():
        road.takes(event, source=OTHER)
    assert only(road).count == 1

    shop = "dbt-run-jaffle_shop"
    road.takes(dbt("START", "07:00:00", shop, run=TASK), dbt("COMPLETE", "07:00:09", shop, run=TASK), source=OTHER)
    assert road.unresolved() == ()


def test_what_dbt_really_sent_of_a_failed_run_and_of_a_good_one(road: Road) -> None:
    for event in captured("dbt-failed"):
        road.takes(event, source="dbt-prod")

    incident = only(road)
    assert str(incident.job) == "dbt-prod/jaffle_shop_nightly"
    assert 'Referenced column "amuont" not found' in incident.failure.message
    for event in captured("dbt-good"):
        road.takes(event, source="dbt-prod")
    assert road.unresolved() == ()
    assert [state for *_, state, _ in sorted(road.runs())] == ["failed", "succeeded"]


def test_what_dbt_really_sent_after_the_end_of_a_run_names_the_model_at_least(road: Road) -> None:
    for event in captured("dbt-failed-artifacts"):
        road.takes(event, source="dbt-prod")
    road.waits()

    assert only(road).failure.message == "j.main.jaffle.orders failed; its error was not told"


def test_dbt_within_a_task_of_a_dag_is_a_part_of_the_dag_run(road: Road) -> None:
    top = "01905000-0000-7000-8000-000000000000"
    dag: dict[str, Any] = {"run": top, "job": "finance.daily", "namespace": "airflow"}
    of_task: dict[str, Any] = {
        "run": TASK,
        "job": "finance.daily.dbt",
        "namespace": "airflow",
        "parent": top,
        "root": top,
    }
    road.takes(
        run_event("START", "06:00:00", facets=dag_run(), **dag),
        run_event("START", "06:00:01", facets=task("dbt"), **of_task),
        *dbt_run(parent=TASK, root=top),
        run_event("FAIL", "06:00:10", facets={**task("dbt"), **error("dbt ended with exit code 1")}, **of_task),
        run_event("FAIL", "06:00:11", facets={**dag_run(), **error("task_failure")}, **dag),
    )

    incident = only(road)
    assert incident.job.name == "finance.daily"
    assert "syntax error" in incident.failure.message
    assert {job for job, *_ in road.runs()} == {"finance.daily"}


def test_a_run_whose_parent_is_not_known_to_its_source_stands_for_itself(road: Road) -> None:
    taken = road.takes(*dbt_run(parent=TASK, root=TASK), source=OTHER)
    assert taken[-1].reason == "waits up to 10 s for the run that it is a part of"
    assert road.unresolved() == ()

    road.waits()

    incident = only(road)
    assert str(incident.job) == "dbt/jaffle:dbt-run-jaffle_shop"
    assert "syntax error" in incident.failure.message
    road.takes(dbt("COMPLETE", "07:00:00", "dbt-run-jaffle_shop", run="r2", parent="t2", root="t2"), source=OTHER)
    road.waits()
    assert road.unresolved() == ()


def spark(word: str, at: str, *, run: str = ROOT, name: str = "etl", parent: str | None = None, **more: Any) -> Any:
    kind = ("SPARK", "APPLICATION", "NONE") if name == "etl" else ("SPARK", "SQL_JOB", "BATCH")
    engine = {"processing_engine": {"name": "spark", "version": "3.5.1", "openlineageAdapterVersion": "1.54.0"}}
    return run_event(
        word,
        at,
        run=run,
        job=name,
        namespace="spark_prod",
        facets={**engine, "spark_properties": {"properties": {"spark.master": "yarn"}}, **more},
        job_facets=job_type(*kind),
        parent=parent,
        root=parent,
    )


def test_a_spark_application_that_ends_with_a_failed_action_has_failed_although_it_says_complete(road: Road) -> None:
    """The listener of Spark tells START and COMPLETE of an application, never FAIL."""
    road.takes(
        spark("START", "06:00:00"),
        spark("START", "06:01:00", run=MODEL, name="etl.read", parent=ROOT),
        spark("COMPLETE", "06:02:00", run=MODEL, name="etl.read", parent=ROOT),
        spark("START", "06:02:01", run=QUERY, name="etl.write", parent=ROOT),
        spark(
            "FAIL", "06:03:00", run=QUERY, name="etl.write", parent=ROOT, **error("Job aborted due to stage failure")
        ),
        spark("COMPLETE", "06:03:01"),
    )

    incident = only(road)
    assert str(incident.job) == "airflow-prod/spark_prod:etl"
    assert "Job aborted" in incident.failure.message


def test_a_spark_application_that_went_on_after_a_failed_action_went_well(road: Road) -> None:
    road.takes(
        spark("START", "06:00:00"),
        spark("FAIL", "06:01:00", run=MODEL, name="etl.read", parent=ROOT, **error("no such table")),
        spark("COMPLETE", "06:02:00", run=QUERY, name="etl.write", parent=ROOT),
        spark("COMPLETE", "06:03:01"),
    )

    assert road.unresolved() == ()
    assert {state for *_, state, _ in road.runs()} == {"succeeded"}


def test_parts_of_parts_that_come_before_what_they_are_a_part_of_find_their_run(road: Road) -> None:
    """A Spark application in a task of a DAG that another DAG started, everything the wrong way round."""
    top, dag = "01906000-0000-7000-8000-000000000000", "01907000-0000-7000-8000-000000000000"
    of_task: dict[str, Any] = {"run": TASK, "job": "board.pack.etl", "parent": dag, "root": top}
    run: dict[str, Any] = {"run": dag, "job": "board.pack", "parent": "trigger", "root": top}
    query = spark("FAIL", "06:03:00", run=QUERY, name="etl.write", parent=MODEL, **error("Job aborted"))
    query["run"]["facets"]["parent"]["root"]["run"]["runId"] = top
    application = spark("COMPLETE", "06:03:01", run=MODEL, parent=TASK)
    application["run"]["facets"]["parent"]["root"]["run"]["runId"] = top
    for event in (
        query,
        application,
        run_event("FAIL", "06:03:02", facets={**task("etl", dag="board.pack"), **error("exit code 1")}, **of_task),
        run_event("FAIL", "06:03:03", facets={**dag_run(dag="board.pack"), **error("task_failure")}, **run),
    ):
        road.takes(event)

    incident = only(road)
    assert incident.job.name == "board.pack"
    assert incident.failure.message == "Job aborted"


def dagster(word: str, at: str, *, run: str = ROOT, job: str = "ingest", parent: str | None = None, **more: Any) -> Any:
    return run_event(word, at, run=run, job=job, namespace="shop_repository", parent=parent, facets=more)


def test_dagster_tells_no_error_of_a_step_and_the_run_fails_by_its_name(road: Road) -> None:
    road.takes(
        dagster("START", "06:00:00"),
        dagster("START", "06:00:01", run=TASK, job="ingest.fetch", parent=ROOT),
        dagster("FAIL", "06:00:02", run=TASK, job="ingest.fetch", parent=ROOT),
        dagster("FAIL", "06:00:03"),
    )
    assert road.unresolved() == ()
    road.waits()

    assert only(road).failure.message.startswith("shop_repository:ingest.fetch failed")


def test_a_run_without_parts_that_tells_its_error_does_not_wait(road: Road) -> None:
    (started, failed) = road.takes(dagster("START", "06:00:00"), dagster("FAIL", "06:00:03", **error("no space left")))

    assert (started.result, failed.result) == (Result.ACCEPTED, Result.ACCEPTED)
    assert only(road).failure.message == "no space left"


def flink(word: str, at: str, **more: Any) -> Any:
    engine = {"processing_engine": {"name": "flink", "version": "1.20.0", "openlineageAdapterVersion": "1.54.0"}}
    return run_event(
        word,
        at,
        job="orders_stream",
        namespace="flink_prod",
        facets={**engine, **more},
        job_facets=job_type("FLINK", "JOB", "STREAMING"),
    )


def test_a_streaming_job_that_runs_on_starts_no_run_again(road: Road) -> None:
    road.takes(flink("START", "06:00:00"))
    checkpoint = {"checkpoints": {"completed": 4, "failed": 0, "in_progress": 0, "restored": 0, "total": 4}}
    for minute in range(1, 9):
        (taken,) = road.takes(flink("RUNNING", f"06:0{minute}:00", **checkpoint))
        assert (taken.result, taken.reason) == (Result.ACCEPTED, "facts only")
    assert {(run, state) for _, run, _, state, _ in road.runs()} == {(ROOT, "started")}

    road.takes(flink("FAIL", "06:09:00", **error("Application Status: FAILED")))
    assert road.unresolved() == ()
    road.waits()
    assert only(road).failure.message == "Application Status: FAILED"


def test_running_without_a_start_begins_a_batch_run(road: Road) -> None:
    events = [run_event(None, "05:59:00"), run_event("running", "06:00:00"), run_event("Running", "06:01:00")]
    reasons = [road.takes(event)[0].reason for event in events]

    assert reasons == ["facts only", None, "facts only"]
    assert {(run, state) for _, run, _, state, _ in road.runs()} == {(ROOT, "started")}


def test_an_aborted_run_is_a_person_who_stopped_it(road: Road) -> None:
    road.takes(run_event("START", "06:00:00"), run_event("ABORT", "06:01:00"))

    assert road.unresolved() == ()
    assert {state for *_, state, _ in road.runs()} == {"cancelled"}
