"""CloudEvents as a well-behaved scheduler sends them."""

from typing import Any


def failed(*, id: str = "e1", scheduler: str = "airflow-prod", run: str = "scheduled__2026-11-30") -> dict[str, Any]:
    return {
        "specversion": "1.0",
        "id": id,
        "source": "/airflow",
        "type": "io.ontrack.run.failed",
        "time": "2026-11-30T06:09:01Z",
        "data": {
            "scheduler": scheduler,
            "job": "finance.daily_revenue",
            "run": {
                "id": run,
                "generation": 0,
                "attempt": 3,
                "nominal_time": "2026-11-30T06:00:00Z",
                "started_at": "2026-11-30T06:01:00Z",
                "ended_at": "2026-11-30T06:09:00Z",
                "rerun_key": None,
                "url": "https://airflow.example.com/runs/1",
                "trigger": "schedule",
                "will_retry": False,
            },
            "error": {
                "type": "psycopg.OperationalError",
                "message": "connection reset",
                "exit_code": 1,
                "signal": None,
                "log": "line\nlast line",
            },
            "facts": {"code": {"version": "4f2a9c1"}, "params": {}, "config": {}, "inputs": {}},
            "cost": {"amount": 3.2, "unit": "core_hours"},
        },
    }


def changed(**data: Any) -> dict[str, Any]:
    return {
        "specversion": "1.0",
        "id": "c1",
        "source": "/airflow",
        "type": "io.ontrack.job.changed",
        "time": "2026-11-30T06:09:01Z",
        "data": {"scheduler": "airflow-prod", "job": "finance.daily_revenue", **data},
    }
