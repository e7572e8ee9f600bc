"""The deadlines of a job: which run is expected to start or finish by when. Pure; one timer of each kind a job.

`start_by` watches the next nominal time that has no run yet, `finish_by` the oldest living run.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.incidents.calendar import first_local_after
from bot.incidents.keys import RunRef
from bot.incidents.memory import JobMemory
from bot.incidents.model import Failure
from bot.incidents.policy import LatePolicy

START_BY = "start_by"
FINISH_BY = "finish_by"
NOT_STARTED = "late.not_started"
NOT_FINISHED = "late.not_finished"
LEARN_FROM = 5
LEARNED_QUANTILE = 0.9
LEARNED_FACTOR = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadline:
    """A run of `nominal_time` is late when `due_at` has come and it has not started (or finished)."""

    kind: str
    nominal_time: datetime
    due_at: datetime


def deadlines(
    memory: JobMemory, policy: LatePolicy, *, next_after: Callable[[datetime], datetime | None]
) -> tuple[Deadline, ...]:
    """The deadlines that the job has now; `next_after` is its schedule. None while it is not watched."""
    found = [_start_by(memory, policy, next_after), _finish_by(memory, policy)]
    return tuple(deadline for deadline in found if deadline is not None)


def late_failure(kind: str, nominal_time: datetime, at: datetime, run: RunRef | None) -> Failure:
    """Lateness as a failure of the run: its cause is `late.*`, its fingerprint the cause."""
    cause = NOT_STARTED if kind == START_BY else NOT_FINISHED
    title = "Not started by its deadline" if kind == START_BY else "Not finished by its deadline"
    return Failure(
        run=run or RunRef(run_id=f"late__{nominal_time:%Y-%m-%dT%H:%M:%SZ}", nominal_time=nominal_time),
        at=at,
        fingerprint=cause,
        cause=cause,
        title=title,
        never_safe=True,
    )


def _start_by(
    memory: JobMemory, policy: LatePolicy, next_after: Callable[[datetime], datetime | None]
) -> Deadline | None:
    if policy.start_within is None or memory.watched_from is None:
        return None
    seen = max(filter(None, (memory.watched_from, memory.latest_started)))
    nominal_time = next_after(seen)
    if nominal_time is None:
        return None
    return Deadline(kind=START_BY, nominal_time=nominal_time, due_at=nominal_time + policy.start_within + policy.grace)


def _finish_by(memory: JobMemory, policy: LatePolicy) -> Deadline | None:
    """The deadline of the oldest living run that has not been called late yet."""
    told = memory.told_late
    living = [live for live in memory.live if live.run.nominal_time is not None and live.run.nominal_time not in told]
    if not living:
        return None
    oldest = min(living, key=lambda live: live.started_at)
    nominal_time = oldest.run.nominal_time
    if nominal_time is None:
        return None
    due = _finish_times(policy, nominal_time, oldest.started_at, memory)
    return Deadline(kind=FINISH_BY, nominal_time=nominal_time, due_at=min(due) + policy.grace) if due else None


def _finish_times(
    policy: LatePolicy, nominal_time: datetime, started_at: datetime, memory: JobMemory
) -> list[datetime]:
    """Every finish deadline that the policy sets; a learned one only where no other is set."""
    due = []
    if policy.finish_within is not None:
        due.append(nominal_time + policy.finish_within)
    if policy.finish_by is not None:
        due.append(first_local_after(policy.finish_by, nominal_time, policy.zone))
    learned = _learned(memory) if policy.learned and not due else None
    if learned is not None:
        due.append(started_at + max(learned, policy.learned_floor))
    return due


def _learned(memory: JobMemory) -> timedelta | None:
    """Half as long again as nine of ten good runs took; nothing is learned from fewer than five."""
    durations = sorted(sample.duration for sample in memory.samples)
    if len(durations) < LEARN_FROM:
        return None
    return durations[int(LEARNED_QUANTILE * (len(durations) - 1))] * LEARNED_FACTOR
