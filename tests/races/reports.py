"""What the scheduler of the races reports. Values only."""

from datetime import UTC, datetime, timedelta
from typing import Any

from bot.evidence.types import ErrorReport
from bot.incidents.keys import JobKey, RunRef, Trigger
from bot.ports import SchedulerRequest
from bot.sources import SourceEvent, SourceKind
from tests.world.people import RESET

SCHEDULER = "shop"
REVENUE, ORDERS = (JobKey(scheduler=SCHEDULER, name=name) for name in ("revenue", "orders"))
NOMINAL = datetime(2026, 11, 30, 3, tzinfo=UTC)
BROKE_AT = NOMINAL + timedelta(minutes=12)


def failed(job: JobKey = REVENUE, *, log: str = RESET, nominal: datetime = NOMINAL, **more: Any) -> SourceEvent:
    error = ErrorReport(log=log, exit_code=1)
    return _ended(SourceKind.RUN_FAILED, job, nominal, took=timedelta(minutes=12), error=error, **more)


def succeeded(
    job: JobKey = REVENUE, *, nominal: datetime = NOMINAL, took: timedelta = timedelta(minutes=12), **more: Any
) -> SourceEvent:
    return _ended(SourceKind.RUN_SUCCEEDED, job, nominal, took=took, **more)


def rerun_ended(kind: SourceKind, request: SchedulerRequest, at: datetime, **more: Any) -> SourceEvent:
    """The scheduler's report on a rerun that it took."""
    assert request.run is not None
    run = RunRef(
        run_id=request.run.run_id,
        nominal_time=request.nominal_times[0],
        generation=request.run.generation + 1,
        trigger=Trigger.RERUN,
    )
    return SourceEvent(id="rerun", kind=kind, at=at, job=request.job, run=run, rerun_key=request.key, **more)


def _ended(
    kind: SourceKind,
    job: JobKey,
    nominal: datetime,
    *,
    took: timedelta,
    run_id: str = "",
    trigger: Trigger = Trigger.SCHEDULE,
    generation: int = 0,
    **more: Any,
) -> SourceEvent:
    run = RunRef(
        run_id=run_id or f"{trigger}__{nominal.isoformat()}",
        nominal_time=nominal,
        trigger=trigger,
        generation=generation,
    )
    ended_at = nominal + took
    known: dict[str, Any] = {"id": f"{run.run_id}-{kind}", "at": ended_at, "started_at": nominal, "ended_at": ended_at}
    return SourceEvent(kind=kind, job=job, run=run, **(known | more))
