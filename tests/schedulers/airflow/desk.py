"""What a test does with the connector: polls, takes what is reported, asks. Its clock is Airflow's."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from bot.incidents.keys import Action, JobKey, RunRef
from bot.policies.specs import AirflowSpec
from bot.ports import SchedulerRequest
from bot.schedulers.airflow.polling import AirflowPoller
from bot.schedulers.airflow.scheduler import AirflowScheduler
from bot.sources import SourceEvent, SourceKind
from tests.schedulers.airflow.records import Run
from tests.schedulers.airflow.server import PASSWORD, USER, Airflow

NAME = "prod"
KEY = "prod/finance.daily@20261130T060000000000Z#1"
TRACEBACK: list[Any] = [
    {"timestamp": "2026-11-30T06:00:01Z", "level": "info", "event": "DAG bundles loaded"},
    {
        "timestamp": "2026-11-30T06:00:02Z",
        "level": "error",
        "event": "Task failed with exception",
        "error_detail": [
            {
                "exc_type": "ValueError",
                "exc_value": "no rows for 2026-11-29",
                "frames": [{"filename": "/dags/daily.py", "lineno": 12, "name": "extract"}],
            }
        ],
    },
]


class NotTaken(Exception):
    """Intake stored nothing."""


class Desk:
    def __init__(self, airflow: Airflow, path: Path, **spec: Any) -> None:
        self.airflow = airflow
        self.path = path
        given = spec or {"user": USER, "password": PASSWORD}
        self.scheduler = AirflowScheduler(AirflowSpec(name=NAME, url=airflow.url, **given), clock=self.clock)
        self.taken: list[SourceEvent] = []
        self.refuses = False
        self.poller = self.restarted()

    def clock(self) -> datetime:
        return self.airflow.records.now

    def restarted(self) -> AirflowPoller:
        self.poller = AirflowPoller(self.scheduler, state=self.path / NAME, report=self._take)
        return self.poller

    def polls(self, steps: int = 1) -> list[SourceEvent]:
        """Step so often, each time when it is due; returns what was reported about runs."""
        before = len(self.taken)
        for _ in range(steps):
            self.airflow.records.now = max(self.airflow.records.now, self.poller.step(self.clock()))
        return [event for event in self.taken[before:] if event.kind is not SourceKind.JOB_CHANGED]

    def changes(self) -> list[SourceEvent]:
        return [event for event in self.taken if event.kind is SourceKind.JOB_CHANGED]

    def fails(self, dag: str = "finance.daily", hour: int = 6, tasks: tuple[str, ...] = ("extract",)) -> Run:
        """A scheduled run that failed."""
        records = self.airflow.records
        due = records.now.replace(hour=hour, minute=0, second=0, microsecond=0)
        run = records.add_run(dag, f"scheduled__{due.isoformat()}", due=due, tasks=tasks)
        records.ends(run, "failed", log=TRACEBACK)
        return run

    def request(self, run: Run | None = None, action: Action = Action.RERUN, **more: Any) -> SchedulerRequest:
        dag = run.dag_id if run else more.pop("dag", "finance.daily")
        ref = RunRef(run_id=run.run_id, nominal_time=run.data_interval_end, generation=0) if run else None
        fields = {"key": KEY, "run": ref, "requested_by": "U0ANA", "reason": "the cause is marked safe", **more}
        return SchedulerRequest(action=action, job=JobKey(scheduler=NAME, name=dag), **fields)

    def moves(self, by: timedelta) -> None:
        self.airflow.records.now += by

    def _take(self, events: Sequence[SourceEvent]) -> None:
        if self.refuses:
            raise NotTaken
        self.taken.extend(events)
