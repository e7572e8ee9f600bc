"""OpenLineage events as producers send them, built by hand after the public documents of each, and what Airflow 3 really sent."""

import json
from functools import cache
from pathlib import Path
from typing import Any

CAPTURES = Path(__file__).parent / "captures"
SPEC = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
ROOT, TASK, MODEL, QUERY = (f"0190{digit}000-0000-7000-8000-000000000000" for digit in "1234")


@cache
def _captured(name: str) -> str:
    return (CAPTURES / f"{name}.jsonl").read_text(encoding="utf-8")


def captured(name: str = "airflow-3") -> list[dict[str, Any]]:
    """Every event that a producer really sent. `airflow-3`: a DAG that fails, is cleared and goes well; another one that
    goes well. `dbt-failed`, `dbt-good`: runs of dbt 1.11 whose log is followed; `dbt-failed-artifacts`: one that is told
    after its end, without any error."""
    return [json.loads(line) for line in _captured(name).splitlines()]


def failing_dag() -> list[dict[str, Any]]:
    return captured()[:4]


def cleared_dag() -> list[dict[str, Any]]:
    return captured()[4:10]


def run_event(
    word: str | None,
    at: str,
    *,
    run: str = ROOT,
    job: str = "load",
    namespace: str = "default",
    facets: dict[str, Any] | None = None,
    job_facets: dict[str, Any] | None = None,
    parent: str | None = None,
    root: str | None = None,
    inputs: list[Any] | None = None,
    outputs: list[Any] | None = None,
) -> dict[str, Any]:
    """A run event; `at` is a time of 30 November 2026, such as `06:01:02`."""
    run_facets = {**(facets or {})}
    if parent is not None:
        named = {"run": {"runId": parent}, "job": {"namespace": namespace, "name": "above"}}
        rooted = {"root": {"run": {"runId": root}, "job": {"namespace": namespace, "name": "top"}}} if root else {}
        run_facets["parent"] = {**named, **rooted}
    event: dict[str, Any] = {
        "eventTime": f"2026-11-30T{at}Z",
        "run": {"runId": run, "facets": run_facets},
        "job": {"namespace": namespace, "name": job, "facets": job_facets or {}},
        "inputs": inputs or [],
        "outputs": outputs or [],
        "producer": "https://example.com/producer",
        "schemaURL": SPEC,
    }
    return event if word is None else {"eventType": word, **event}


def error(message: str | None, trace: str | None = None) -> dict[str, Any]:
    return {"errorMessage": {"message": message, "programmingLanguage": "python", "stackTrace": trace}}


def job_type(integration: str, kind: str, processing: str = "BATCH") -> dict[str, Any]:
    return {"jobType": {"processingType": processing, "integration": integration, "jobType": kind}}


def dataset(
    name: str,
    *,
    namespace: str = "s3://lake",
    columns: tuple[str, ...] = (),
    rows: int | None = None,
    size: int | None = None,
    written: bool = False,
    facets: dict[str, Any] | None = None,
) -> dict[str, Any]:
    schema = {"schema": {"fields": [{"name": column, "type": "string"} for column in columns]}} if columns else {}
    side, kind = ("outputFacets", "outputStatistics") if written else ("inputFacets", "inputStatistics")
    counted = {kind: {"rowCount": rows, "size": size}} if rows is not None or size is not None else {}
    return {"namespace": namespace, "name": name, "facets": {**schema, **(facets or {})}, side: counted}


def dag_run(
    *,
    dag: str = "finance.daily",
    run_id: str = "scheduled__2026-11-30T06:00:00+00:00",
    generation: int = 0,
    **more: Any,
) -> dict[str, Any]:
    """The facet of a scheduled DAG run of Airflow."""
    return {
        "airflowDagRun": {
            "dag": {"dag_id": dag, "owner": "finance", "fileloc": "/dags/finance.py", "timetable_summary": "0 6 * * *"},
            "dagRun": {
                "dag_id": dag,
                "run_id": run_id,
                "run_type": "scheduled",
                "clear_number": generation,
                "conf": {},
                "data_interval_start": "2026-11-29T06:00:00+00:00",
                "data_interval_end": "2026-11-30T06:00:00+00:00",
                "logical_date": "2026-11-29T06:00:00+00:00",
                "start_date": "2026-11-30T06:00:01+00:00",
                "dag_version_number": 7,
                **more,
            },
        }
    }


def task(name: str, *, attempt: int = 1, retries: int = 0, dag: str = "finance.daily") -> dict[str, Any]:
    """The facet of a task of that DAG run."""
    return {
        "airflow": {
            "dag": {"dag_id": dag},
            "dagRun": {"dag_id": dag, "run_id": "scheduled__2026-11-30T06:00:00+00:00", "run_type": "scheduled"},
            "task": {"task_id": name, "retries": retries},
            "taskInstance": {"try_number": attempt, "log_url": f"https://airflow.example.com/{name}/{attempt}"},
        }
    }
