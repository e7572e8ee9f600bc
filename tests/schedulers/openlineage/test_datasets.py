"""Datasets become what a run read, and edges between jobs; both are found by index, however many there are."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from sqlalchemy import Engine, event

from bot.incidents.keys import JobKey
from bot.store.lineage import DatasetUse, JobEdge
from tests.schedulers.openlineage.events import (
    MODEL,
    QUERY,
    ROOT,
    TASK,
    dag_run,
    dataset,
    error,
    run_event,
    task,
)
from tests.schedulers.openlineage.road import OTHER, SOURCE, LineageStorage, Road

EXPLAIN = {"sqlite": "EXPLAIN QUERY PLAN ", "postgresql": "EXPLAIN "}


def job(name: str, scheduler: str = SOURCE) -> JobKey:
    return JobKey(scheduler=scheduler, name=name)


def names(edges: tuple[JobEdge, ...], side: str = "downstream") -> list[str]:
    return [str(getattr(edge, side)) for edge in edges]


def ran(word: str, at: str, *, run: str = ROOT, name: str = "load", **more: Any) -> dict[str, Any]:
    return run_event(word, at, run=run, job=name, **more)


def test_who_reads_what_a_job_writes_waits_for_it_whatever_its_scheduler(road: Road) -> None:
    road.takes(ran("COMPLETE", "06:00:00", outputs=[dataset("orders", written=True)]))
    road.takes(
        ran("COMPLETE", "07:00:00", run=TASK, name="report", inputs=[dataset("orders")], outputs=[dataset("board")]),
        ran("COMPLETE", "08:00:00", run=MODEL, name="draw", inputs=[dataset("board"), dataset("other")]),
        source=OTHER,
    )
    now = road.clock()

    assert names(road.storage.downstream_of(job=job("load"), now=now)) == ["dbt/report"]
    assert names(road.storage.downstream_of(job=job("report", OTHER), now=now)) == ["dbt/draw"]
    assert names(road.storage.upstream_of(job=job("report", OTHER), now=now), "upstream") == ["airflow-prod/load"]
    assert names(road.storage.upstream_of(job=job("load"), now=now), "upstream") == []
    assert [(str(edge.upstream), str(edge.downstream), edge.dataset) for edge in road.storage.job_edges(now=now)] == [
        ("airflow-prod/load", "dbt/report", "s3://lake/orders"),
        ("dbt/report", "dbt/draw", "s3://lake/board"),
    ]


def test_edges_of_parts_are_those_of_the_run_in_whatever_order_they_come(road: Road) -> None:
    of_task = ran(
        "COMPLETE", "06:00:02", run=TASK, name="d.t", parent=ROOT, root=ROOT, inputs=[dataset("raw")], facets=task("t")
    )
    late = ran(
        "COMPLETE",
        "06:00:04",
        run=QUERY,
        name="d.u",
        parent=ROOT,
        root=ROOT,
        outputs=[dataset("mart")],
        facets=task("u"),
    )
    road.takes(ran("COMPLETE", "05:00:00", run=MODEL, name="ingest", outputs=[dataset("raw")]))
    road.takes(of_task)
    assert road.storage.downstream_of(job=job("ingest"), now=road.clock()) == ()

    road.takes(ran("COMPLETE", "06:00:03", name="finance.daily", facets=dag_run()))
    road.takes(late)
    road.takes(ran("COMPLETE", "07:00:00", run="r9", name="board", inputs=[dataset("mart")]))

    assert names(road.storage.downstream_of(job=job("ingest"), now=road.clock())) == ["airflow-prod/finance.daily"]
    assert names(road.storage.downstream_of(job=job("finance.daily"), now=road.clock())) == ["airflow-prod/board"]


def test_another_name_of_a_dataset_and_the_columns_it_was_made_of_make_edges_too(road: Road) -> None:
    table = {"symlinks": {"identifiers": [{"namespace": "hive://meta", "name": "db.orders", "type": "TABLE"}]}}
    made = {
        "columnLineage": {
            "fields": {"amount": {"inputFields": [{"namespace": "s3://lake", "name": "raw", "field": "a"}]}}
        }
    }
    road.takes(
        ran("COMPLETE", "05:00:00", run=MODEL, name="ingest", outputs=[dataset("raw")]),
        ran("COMPLETE", "06:00:00", outputs=[dataset("orders", facets={**table, **made})]),
        ran("COMPLETE", "07:00:00", run=TASK, name="report", inputs=[dataset("db.orders", namespace="hive://meta")]),
    )

    assert names(road.storage.downstream_of(job=job("ingest"), now=road.clock())) == ["airflow-prod/load"]
    assert names(road.storage.downstream_of(job=job("load"), now=road.clock())) == ["airflow-prod/report"]


def test_a_dag_that_assets_started_waits_for_the_dags_that_made_them(road: Road) -> None:
    upstream = {
        "jobDependencies": {"upstream": [{"job": {"namespace": "airflow", "name": "ingest"}}], "downstream": []}
    }
    road.takes(ran("START", "06:00:00", name="finance.daily", namespace="airflow", facets={**dag_run(), **upstream}))

    assert names(road.storage.downstream_of(job=job("ingest"), now=road.clock())) == ["airflow-prod/finance.daily"]


def test_an_edge_that_was_not_seen_for_long_is_not_believed_and_goes_at_last(road: Road) -> None:
    road.takes(ran("COMPLETE", "06:00:00", outputs=[dataset("orders")]))
    road.clock.move(timedelta(days=20))
    road.takes(ran("COMPLETE", "07:00:00", run=TASK, name="report", inputs=[dataset("orders")]))
    assert names(road.storage.downstream_of(job=job("load"), now=road.clock())) == ["airflow-prod/report"]

    road.clock.move(timedelta(days=11))
    assert road.storage.downstream_of(job=job("load"), now=road.clock()) == ()
    road.takes(ran("COMPLETE", "08:00:00", run=MODEL, outputs=[dataset("orders")]))
    assert names(road.storage.downstream_of(job=job("load"), now=road.clock())) == ["airflow-prod/report"]

    road.clock.move(timedelta(days=61))
    assert road.storage.prune_lineage(now=road.clock(), limit=100) == 5, "three runs and both uses"
    assert road.storage.prune_lineage(now=road.clock(), limit=100) == 0


def test_parts_go_after_a_week_and_runs_after_a_month(road: Road) -> None:
    road.takes(
        ran("START", "06:00:00"),
        ran("COMPLETE", "06:00:01", run=TASK, name="load.t", parent=ROOT),
        ran("COMPLETE", "06:00:02"),
    )
    week, month = timedelta(days=7, minutes=1), timedelta(days=30, minutes=1)

    assert road.storage.prune_lineage(now=road.clock() + timedelta(days=6), limit=9) == 0
    assert road.storage.prune_lineage(now=road.clock() + week, limit=9) == 1
    assert road.storage.prune_lineage(now=road.clock() + month, limit=9) == 1


def test_what_changed_of_an_input_is_told_with_columns_and_amounts(road: Road) -> None:
    raw: dict[str, Any] = {"columns": ("id", "amount"), "rows": 1000, "size": 80_000}
    road.takes(
        ran("COMPLETE", "05:00:00", run=MODEL, name="ingest", outputs=[dataset("raw", columns=("id", "amount"))])
    )
    road.takes(ran("START", "06:00:00"), ran("COMPLETE", "06:01:00", inputs=[dataset("raw", **raw), dataset("rates")]))
    road.takes(
        ran(
            "START", "07:00:00", run=TASK, inputs=[dataset("raw", columns=("id",), rows=10, size=800), dataset("rates")]
        ),
        ran("FAIL", "07:01:00", run=TASK, facets=error('column "amount" does not exist')),
    )

    (incident,) = road.unresolved()
    evidence = road.storage.reads.evidence(key=incident.failure.evidence)
    assert evidence is not None
    said = [change.says for change in evidence.changes or ()]
    assert any("lost column `amount`" in one for one in said), said
    assert any("rows of raw" in one for one in said), said


def test_columns_that_a_reader_does_not_tell_are_those_that_the_writer_or_a_dataset_event_told(road: Road) -> None:
    told = {**dataset("rates"), "facets": {"schema": {"fields": [{"name": "rate", "type": "float"}]}}}
    road.takes(
        ran("COMPLETE", "05:00:00", run=MODEL, name="ingest", outputs=[dataset("raw", columns=("id",))]),
        {"eventTime": "2026-11-30T05:30:00Z", "dataset": told, "producer": "p", "schemaURL": "s"},
        ran("FAIL", "06:01:00", inputs=[dataset("raw", rows=7), dataset("rates")], facets=error("no")),
    )

    (incident,) = road.unresolved()
    evidence = road.storage.reads.evidence(key=incident.failure.evidence)
    assert evidence is not None
    assert evidence.facts["inputs"] == {
        "s3://lake/raw": {"schema": [{"name": "id", "type": "string"}], "rows": 7},
        "s3://lake/rates": {"schema": [{"name": "rate", "type": "float"}]},
    }


def test_a_job_event_tells_edges_and_the_owner(road: Road) -> None:
    owned = {"ownership": {"owners": [{"name": "team:finance"}, {"name": "user:ana"}]}}
    designed = {"namespace": "default", "name": "plan", "facets": owned}
    (taken,) = road.takes(
        {"eventTime": "2026-11-30T05:30:00Z", "job": designed, "inputs": [dataset("orders")], "outputs": []}
    )
    road.takes(ran("COMPLETE", "06:00:00", outputs=[dataset("orders")]))

    assert taken.id == "plan"
    assert names(road.storage.downstream_of(job=job("load"), now=road.clock())) == ["airflow-prod/plan"]
    row = road.storage.reads.job(key=job("plan"))
    assert row is not None
    assert row.memory.owner == "team:finance, user:ana"


@contextmanager
def plans() -> Iterator[list[str]]:
    """How the database goes about the looks at edges inside."""
    seen: list[str] = []

    def explain(connection: Any, cursor: Any, statement: str, parameters: Any, *_rest: Any) -> None:
        if statement.startswith("SELECT writer"):
            cursor.execute(EXPLAIN[connection.dialect.name] + statement, parameters)
            seen.extend(" ".join(map(str, row)) for row in cursor.fetchall())

    event.listen(Engine, "before_cursor_execute", explain)
    try:
        yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", explain)


def fill(storage: LineageStorage, *, count: int, road: Road) -> None:
    """So many edges: each job writes a dataset that the next ones read, round in a circle."""
    uses = [
        DatasetUse(job=job(f"j{number}"), writes=writes, dataset=f"d{(number + step) % count}")
        for number in range(count)
        for writes, step in ((True, 0), (False, 1), (False, 2))
    ]
    with storage.lineage() as unit:
        unit.note_uses(uses, now=road.clock())
        unit.commit()
    with storage.database.write() as connection:
        connection.exec_driver_sql("ANALYZE")
        connection.commit()


def test_up_and_down_stream_are_found_by_index(road: Road) -> None:
    fill(road.storage, count=5000, road=road)
    with plans() as seen:
        down = road.storage.downstream_of(job=job("j7"), now=road.clock())
        up = road.storage.upstream_of(job=job("j7"), now=road.clock())

    assert names(down) == ["airflow-prod/j5", "airflow-prod/j6"]
    assert names(up, "upstream") == ["airflow-prod/j8", "airflow-prod/j9"]
    assert len(road.storage.job_edges(now=road.clock())) == 10_000
    looks = seen[: len(seen)]
    assert looks
    assert not [line for line in looks if "Seq Scan" in line or ("SCAN" in line and "USING" not in line)], looks
