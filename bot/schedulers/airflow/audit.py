"""What Airflow's audit log tells of a run: who cleared it, who marked it. Pure; it must not ask for anything."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec

from bot.schedulers.airflow.notes import holds, marks_in
from bot.schedulers.airflow.shapes import Audited

CLEAR_RUN, CLEAR_RUNS, CLEAR_TASKS, PATCH_RUN = (
    "clear_dag_run",
    "clear_dag_runs",
    "post_clear_task_instances",
    "patch_dag_run",
)
OF_RUNS = (CLEAR_RUN, CLEAR_RUNS, CLEAR_TASKS, PATCH_RUN)

RunName = tuple[str, str]
"""DAG id and run id."""


class Deed(StrEnum):
    """What was done to a run; the last three by setting its state."""

    CLEARED = "cleared"
    SUCCESS = "success"
    FAILED = "failed"
    QUEUED = "queued"


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """One thing done to a run; `note` is what came with it."""

    id: int
    at: datetime
    deed: Deed
    by: str | None = None
    note: str | None = None

    @property
    def ours(self) -> bool:
        return bool(marks_in(self.note))


def deeds_of(row: Audited) -> tuple[tuple[RunName, Done], ...]:
    """What a row of the log tells of runs; nothing where it is of a trial, or of a note alone."""
    extra = _extra(row)
    deed = _deed(row.event, extra)
    if deed is None:
        return ()
    note = extra.get("note")
    done = Done(id=row.event_log_id, at=row.when, deed=deed, by=row.owner, note=note if isinstance(note, str) else None)
    return tuple((name, done) for name in _runs(row, extra))


def asked_under(rows: Iterable[Audited], key: str) -> bool:
    """Whether one of these rows is of our request under that key, whatever became of the run's note since."""
    return any(holds(done.note, key) for row in rows for _, done in deeds_of(row))


def _deed(event: str, extra: dict[str, Any]) -> Deed | None:
    if event == PATCH_RUN:
        state = extra.get("state")
        return Deed(state) if state in (Deed.SUCCESS, Deed.FAILED, Deed.QUEUED) else None
    if extra.get("dry_run", True) or extra.get("reset_dag_runs") is False:
        return None
    return Deed.CLEARED


def _runs(row: Audited, extra: dict[str, Any]) -> list[RunName]:
    if row.dag_id and row.run_id:
        return [(row.dag_id, row.run_id)]
    told = extra.get("dag_runs")
    found: list[RunName] = []
    for one in told if isinstance(told, list) else ():
        dag, run = (one.get("dag_id") or row.dag_id, one.get("dag_run_id")) if isinstance(one, dict) else (None, None)
        if isinstance(dag, str) and isinstance(run, str):
            found.append((dag, run))
    return found


def _extra(row: Audited) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(row.extra or "{}")
    except (msgspec.DecodeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
