"""What a job did only because an upstream occurrence is unresolved: it hangs under that one instead of opening its own.

It decides for the downstream job alone; the occurrence above is told afterwards, by an event of its own.
"""

from datetime import datetime

from bot.incidents.events import Event, RunFailed, RunLate, RunSkipped
from bot.incidents.keys import RunRef, Trigger
from bot.incidents.lateness import NOT_FINISHED, NOT_STARTED
from bot.incidents.model import Failure, Incident
from bot.incidents.waits import Hung
from bot.intake.inbound import DownstreamStuck, Outcome, Result
from bot.intake.surroundings import Read
from bot.store import RunState, UnitOfWork
from bot.store.waits import WaitRow

BECAUSE_OF_UPSTREAM = frozenset({"upstream.failed", "upstream.late"})


class Hanging:
    """The looks of one transaction at what its jobs wait for."""

    def __init__(self, uow: UnitOfWork, now: datetime) -> None:
        self._uow = uow
        self._now = now

    def waits_of(self, read: Read, target: Incident | None, event: Event) -> tuple[WaitRow, ...]:
        """For which occurrences the run waits that failed or is late, where that may open one of its own."""
        if target is not None or not isinstance(event, RunFailed | RunLate | RunSkipped):
            return ()
        if isinstance(event, RunFailed) and event.will_retry:
            return ()
        if event.run.trigger not in (Trigger.SCHEDULE, Trigger.RERUN):
            return ()
        time = event.run.nominal_time
        known = self._uow.waits_of(job=read.key)
        return tuple(one for one in known if one.nominal_time == time and _matters(one))

    def hang(self, waits: tuple[WaitRow, ...], event: Event) -> Outcome | None:
        """Hang the run under what it waits for, unless it has trouble of its own: None then."""
        what = _because(event)
        if what is None or not waits:
            return None
        first = waits[0]
        self._uow.hang_wait(first, what=what, at=self._now)
        return Outcome(
            result=Result.ACCEPTED,
            reason=f"it hangs under {upstream_of(first)}",
            occurrence=(first.record, first.number),
            status=first.status,
        )


def upstream_of(wait: WaitRow) -> str:
    """The occurrence that is waited for, as people read it."""
    return f"{wait.upstream} ({wait.record}.{wait.number})"


def stuck(read: Read, event: DownstreamStuck, now: datetime) -> RunFailed | RunLate | None:
    """The trouble of a run that hung and is still not done although nothing that it needs is owed; None: it is done."""
    rows = read.runs.get(event.nominal_time, ())
    if any(row.state is RunState.SUCCEEDED for row in rows):
        return None
    live = next((one for one in read.memory.live if one.run.nominal_time == event.nominal_time), None)
    failed = next((row for row in reversed(rows) if row.state is RunState.FAILED), None)
    still = f"Still not done, although {event.upstream} is settled"
    if failed is not None and live is None:
        cause, fingerprint = failed.cause or "upstream.failed", failed.fingerprint or "upstream.failed"
        failure = Failure(run=failed.run, at=now, fingerprint=fingerprint, cause=cause, title=still)
        return RunFailed(failure=failure, at=now)
    cause = NOT_STARTED if live is None else NOT_FINISHED
    run = live.run if live is not None else _missing(event)
    failure = Failure(run=run, at=now, fingerprint=cause, cause=cause, title=still, never_safe=True)
    return RunLate(failure=failure, at=now, deadline_at=now)


def _missing(event: DownstreamStuck) -> RunRef:
    time = event.nominal_time
    return RunRef(run_id=f"late__{time:%Y-%m-%dT%H:%M:%SZ}" if time else "late__downstream", nominal_time=time)


def _matters(wait: WaitRow) -> bool:
    """What is owed above is still to be brought, or is there since a moment ago; else nobody will bring it."""
    return wait.status.unresolved or wait.cleared_at is not None


def _because(event: Event) -> Hung | None:
    match event:
        case RunLate():
            return Hung.LATE
        case RunSkipped():
            return Hung.SKIPPED
        case RunFailed() if event.failure.cause in BECAUSE_OF_UPSTREAM and not event.failure.ruled_out_by:
            return Hung.FAILED
    return None
