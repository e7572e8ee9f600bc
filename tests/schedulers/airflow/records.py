"""What the stand-in for Airflow 3 keeps, and what its API does to it, by the rules of Airflow 3.3.2's own routes."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

ENDED = ("success", "failed")
CLEARED = ("failed", "upstream_failed")
LONGEST_NOTE = 1000


class No(Exception):
    """An answer that is a refusal."""

    def __init__(self, status: int, detail: Any) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail


@dataclass(slots=True)
class Task:
    task_id: str
    state: str | None = "success"
    try_number: int = 1
    max_tries: int = 1
    start_date: datetime | None = None
    end_date: datetime | None = None
    log: list[Any] = field(default_factory=list)
    earlier: list["Task"] = field(default_factory=list)


@dataclass(slots=True)
class Run:
    """A row of `dag_run`; `clear_number` is there, and no answer shows it."""

    id: int
    dag_id: str
    run_id: str
    state: str
    queued_at: datetime
    updated_at: datetime
    run_type: str = "scheduled"
    logical_date: datetime | None = None
    data_interval_end: datetime | None = None
    start_date: datetime | None = None
    end_date: datetime | None = None
    user: str | None = None
    note: str | None = None
    conf: dict[str, Any] = field(default_factory=dict)
    tasks: list[Task] = field(default_factory=list)
    clear_number: int = 0
    cleared_by: list[str] = field(default_factory=list)

    def shown(self) -> dict[str, Any]:
        return {
            "dag_run_id": self.run_id,
            "dag_id": self.dag_id,
            "logical_date": written(self.logical_date),
            "queued_at": written(self.queued_at),
            "start_date": written(self.start_date),
            "end_date": written(self.end_date),
            "duration": None,
            "data_interval_start": written(self.logical_date),
            "data_interval_end": written(self.data_interval_end),
            "run_after": written(self.data_interval_end or self.queued_at),
            "last_scheduling_decision": None,
            "run_type": self.run_type,
            "state": self.state,
            "triggered_by": "timetable",
            "triggering_user_name": self.user,
            "conf": self.conf,
            "note": self.note,
            "dag_versions": [{"id": "0", "version_number": 3, "dag_id": self.dag_id, "bundle_name": "main"}],
            "bundle_version": "4f2a9c1",
            "dag_display_name": self.dag_id,
            "partition_key": None,
            "partition_date": None,
        }


@dataclass(slots=True)
class Records:
    """`now` is Airflow's own clock, which the test moves; nothing happens twice at one instant."""

    now: datetime
    runs: list[Run] = field(default_factory=list)
    dags: dict[str, dict[str, Any]] = field(default_factory=dict)
    audit: list[dict[str, Any]] = field(default_factory=list)
    assets: list[dict[str, Any]] = field(default_factory=list)

    def tick(self) -> datetime:
        self.now += timedelta(milliseconds=1)
        return self.now

    def add_dag(
        self, name: str, *, owner: str = "finance", next_run: datetime | None = None, tags: Sequence[str] = ()
    ) -> None:
        """`next_run` is the end of the next run's hour of data."""
        begins = next_run - timedelta(hours=1) if next_run is not None else None
        self.dags[name] = {
            "dag_id": name,
            "is_paused": False,
            "is_stale": False,
            "timetable_summary": "0 * * * *",
            "next_dagrun_logical_date": written(begins),
            "next_dagrun_data_interval_start": written(begins),
            "next_dagrun_data_interval_end": written(next_run),
            "next_dagrun_run_after": written(next_run),
            "owners": [owner],
            "tags": [{"name": tag, "dag_id": name, "dag_display_name": name} for tag in sorted(tags)],
        }

    def add_asset(self, uri: str, *, written_by: str = "", starts: str = "", read_by: str = "") -> None:
        """An asset as `/assets` shows it, with the DAGs that speak of it."""
        at = written(self.now)
        self.assets.append(
            {
                "id": len(self.assets) + 1,
                "name": uri,
                "uri": uri,
                "group": "asset",
                "extra": {},
                "created_at": at,
                "updated_at": at,
                "scheduled_dags": [{"dag_id": starts, "created_at": at, "updated_at": at}] if starts else [],
                "producing_tasks": [_place(written_by, at)] if written_by else [],
                "consuming_tasks": [_place(read_by, at)] if read_by else [],
                "aliases": [],
                "watchers": [],
                "last_asset_event": {"id": None, "timestamp": None},
            }
        )

    def add_run(self, dag: str, run_id: str, *, due: datetime | None, tasks: tuple[str, ...] = ("extract",)) -> Run:
        """The schedule (or, without `due`, a person) starts a run."""
        at = self.tick()
        if dag not in self.dags:
            self.add_dag(dag)
        run = Run(
            id=len(self.runs) + 1,
            dag_id=dag,
            run_id=run_id,
            state="running",
            queued_at=at,
            updated_at=at,
            run_type="scheduled" if due else "manual",
            logical_date=due - timedelta(hours=1) if due else None,
            data_interval_end=due,
            start_date=self.tick(),
            user=None if due else "maria",
            tasks=[Task(task_id=task, state="running") for task in tasks],
        )
        self.runs.append(run)
        return run

    def trigger(self, dag: str, body: dict[str, Any], *, user: str) -> Run:
        """As `trigger_dag_run`: the id and the logical date are unique in their DAG; the log has no run id."""
        self.log_action("trigger_dag_run", user, {"dag_id": dag}, body)
        run_id, logical, ends = body["dag_run_id"], _read(body["logical_date"]), _read(body.get("data_interval_end"))
        if any(run.dag_id == dag and (run.run_id == run_id or run.logical_date == logical) for run in self.runs):
            raise No(409, {"reason": "Unique constraint violation"})
        at = self.tick()
        run = Run(
            id=len(self.runs) + 1,
            dag_id=dag,
            run_id=run_id,
            state="queued",
            queued_at=at,
            updated_at=at,
            run_type="manual",
            logical_date=logical,
            data_interval_end=ends or logical,
            user=user,
            note=body.get("note"),
            tasks=[Task(task_id="extract", state=None)],
        )
        self.runs.append(run)
        return run

    def run(self, dag: str, run_id: str) -> Run:
        for run in self.runs:
            if (run.dag_id, run.run_id) == (dag, run_id):
                return run
        raise No(404, f"The DagRun with dag_id: `{dag}` and run_id: `{run_id}` was not found")

    def ends(self, run: Run, state: str, *, log: list[Any] | None = None) -> None:
        """The scheduler ends it: its last task failed, or all went well."""
        run.end_date = run.updated_at = self.tick()
        run.state = state
        for task in run.tasks:
            if task.state not in ENDED:
                task.state, task.start_date, task.end_date = state, task.start_date or run.start_date, self.tick()
                task.log = log if log is not None else task.log

    def begins(self, run: Run) -> None:
        """The scheduler takes up what was queued."""
        run.state, run.start_date, run.end_date = "running", run.start_date or self.tick(), None
        run.updated_at = self.tick()

    def log_action(self, event: str, user: str, path: dict[str, str], body: dict[str, Any]) -> None:
        extra = {**body, "method": "POST"}
        self.audit.append(
            {
                "event_log_id": len(self.audit) + 1,
                "when": written(self.tick()),
                "dag_id": path.get("dag_id"),
                "run_id": path.get("dag_run_id"),
                "event": event,
                "owner": user,
                "extra": json.dumps(extra),
            }
        )

    def clear(self, run: Run, *, user: str, only_failed: bool, note: str | None) -> None:
        """As `perform_clear_dag_run`: where no task is concerned only the note is put."""
        body: dict[str, Any] = {"dry_run": False, "only_failed": only_failed}
        body |= {"note": note} if note is not None else {}
        self.log_action("clear_dag_run", user, {"dag_id": run.dag_id, "dag_run_id": run.run_id}, body)
        tasks = self.concerned(run, only_failed=only_failed)
        for task in tasks:
            task.earlier.append(replace(task, earlier=[]))
            task.state, task.max_tries, task.try_number = None, task.try_number + 1, task.try_number + 1
            task.start_date, task.end_date, task.log = None, None, []
        if tasks:
            run.clear_number += 1
            run.queued_at = self.tick()
            run.cleared_by.append(user)
            if run.state in ENDED:
                run.state, run.start_date = "queued", None
        run.note = note if note is not None else run.note
        run.updated_at = self.tick()

    def concerned(self, run: Run, *, only_failed: bool) -> list[Task]:
        return [task for task in run.tasks if not only_failed or task.state in CLEARED]

    def patch(self, run: Run, body: dict[str, Any], *, user: str) -> None:
        self.log_action("patch_dag_run", user, {"dag_id": run.dag_id, "dag_run_id": run.run_id}, body)
        if "note" in body:
            run.note = body["note"]
        state = body.get("state")
        if state == "queued":
            run.queued_at, run.start_date, run.end_date = self.tick(), None, None
        elif state is not None and run.state not in ENDED:
            run.end_date = self.tick()
        run.state = state or run.state
        run.updated_at = self.tick()


def _place(dag: str, at: str | None) -> dict[str, Any]:
    return {"dag_id": dag, "task_id": "extract", "created_at": at, "updated_at": at}


def _read(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text is not None else None


def written(at: datetime | None) -> str | None:
    return at.isoformat().replace("+00:00", "Z") if at is not None else None
