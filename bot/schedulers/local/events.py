"""Turns what a run directory says into the events that intake takes.

Pure: it reads no file and no clock.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from bot.evidence.types import ErrorReport
from bot.incidents.keys import Cost, JobKey
from bot.schedulers.local.records import RunRecord
from bot.schedulers.local.shim_watch import STOPPED
from bot.sources import SourceEvent, SourceKind

WORKER_LOST = "ontrack.WorkerLost"
OVERLAP = "ontrack.Overlap"
LOST_WORDS = "the run's guard process died before it could tell how the run ended"


def started(record: RunRecord, *, scheduler: str) -> SourceEvent:
    """The run has begun, at its true start."""
    return SourceEvent(
        id=f"{record.claim}.started",
        kind=SourceKind.RUN_STARTED,
        at=record.started_at,
        job=JobKey(scheduler=scheduler, name=record.job),
        run=record.run,
        started_at=record.started_at,
        rerun_key=record.request_key,
        facts=record.facts,
        by=record.by,
    )


def ended(
    record: RunRecord,
    result: Mapping[str, Any] | None,
    *,
    scheduler: str,
    log: str,
    stopped_by: str | None,
    now: datetime,
) -> SourceEvent:
    """The run's final event; `result` None: its guard was lost, which we learned `now`."""
    took = timedelta(seconds=result["duration_seconds"]) if result is not None else None
    ended_at = record.started_at + took if took is not None else now
    kind = _kind(result, stopped_by)
    return SourceEvent(
        id=f"{record.claim}.ended",
        kind=kind,
        at=ended_at,
        job=JobKey(scheduler=scheduler, name=record.job),
        run=record.run,
        started_at=record.started_at if kind is not SourceKind.RUN_SKIPPED else None,
        ended_at=ended_at,
        rerun_key=record.request_key,
        error=_error(result, log) if kind is not SourceKind.RUN_SUCCEEDED else None,
        facts=_with_use(record.facts, result),
        cost=Cost(amount=took / timedelta(hours=1)) if took is not None else None,
        by=stopped_by if kind is SourceKind.RUN_CANCELLED else record.by,
    )


def _kind(result: Mapping[str, Any] | None, stopped_by: str | None) -> SourceKind:
    if result is None:
        return SourceKind.RUN_FAILED
    if result["saw"] == OVERLAP:
        return SourceKind.RUN_SKIPPED
    if result["saw"] == STOPPED and stopped_by is not None:
        return SourceKind.RUN_CANCELLED
    if result["saw"] is None and result.get("exit_code") == 0:
        return SourceKind.RUN_SUCCEEDED
    return SourceKind.RUN_FAILED


def _error(result: Mapping[str, Any] | None, log: str) -> ErrorReport:
    if result is None:
        return ErrorReport(type=WORKER_LOST, message=LOST_WORDS, log=log)
    return ErrorReport(
        type=result["saw"],
        message=result["message"],
        exit_code=result.get("exit_code"),
        signal=result.get("signal"),
        log=log,
    )


def _with_use(facts: Mapping[str, Any], result: Mapping[str, Any] | None) -> Mapping[str, Any]:
    if result is None:
        return facts
    used = {name: result[name] for name in ("cpu_seconds", "max_rss_bytes") if name in result}
    timing = {"duration_seconds": round(result["duration_seconds"], 3)}
    return {
        **facts,
        "resources": {**facts.get("resources", {}), **used},
        "timing": {**facts.get("timing", {}), **timing},
    }
