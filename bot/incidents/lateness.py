"""The deadlines of a job: which run is expected to start or finish by when, and who said so. Pure; one timer of each kind a job.

`start_by` watches the next nominal time that has no run yet, `finish_by` the living run whose deadline comes first; where
starts are not watched also the next nominal time, so that a job of which only ends are told is watched as well.

Whose word counts: the policy's; where it leaves that to us, the scheduler's own target (of the run, else of the job); else
what was learned. Learned is half as long again as nine of ten of the last good runs took, from five runs on. A quantile,
because jobs often have two kinds of day (Mondays, ends of months) that a distance from the median would call outliers; and
one run that took much longer, or no time at all, moves it by one rank at most.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from bot.incidents.absence import Absence
from bot.incidents.calendar import first_local_after
from bot.incidents.keys import RunRef, Trigger
from bot.incidents.memory import JobMemory, LiveRun
from bot.incidents.model import Failure
from bot.incidents.policy import LatePolicy

START_BY = "start_by"
FINISH_BY = "finish_by"
NOT_STARTED = "late.not_started"
NOT_FINISHED = "late.not_finished"
LEARN_FROM = 5
LEARNED_QUANTILE = 0.9
LEARNED_FACTOR = 1.5
MOST_WATCHED = 20

NextAfter = Callable[[datetime], datetime | None]


class SetBy(StrEnum):
    """Who says until when: the policy's settings, the scheduler's target for the job or for that run, the last good runs."""

    START = "start"
    FINISH_WITHIN = "finish_within"
    FINISH_BY = "finish_by"
    TARGET_OF_RUN = "target_of_run"
    TARGET_WITHIN = "target_within"
    TARGET_BY = "target_by"
    LEARNED = "learned"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadline:
    """A run is late when `due_at` has come and it has not started (or finished).

    `nominal_time` names the run; of a living one that has none it is when it began. `run` None: it has not begun.
    """

    kind: str
    nominal_time: datetime
    due_at: datetime
    set_by: SetBy
    run: RunRef | None = None


def deadlines(memory: JobMemory, policy: LatePolicy, *, next_after: NextAfter) -> tuple[Deadline, ...]:
    """The deadlines that the job has now; `next_after` is its schedule. None while it is not watched."""
    expected = _expected(memory, next_after)
    starts = _to_start(policy, expected)
    finishes = [_to_finish(memory, policy, live) for live in _watched(memory)]
    if expected is not None and policy.start_within is None:
        finishes.append(_to_finish(memory, policy, expected))
    ends = min(filter(None, finishes), key=lambda one: one.due_at, default=None)
    return tuple(one for one in (starts, ends) if one is not None)


def missed(
    memory: JobMemory, policy: LatePolicy, kind: str, nominal_time: datetime, *, next_after: NextAfter
) -> Deadline | None:
    """The deadline of that run as it is now; None when nothing is expected of it any more."""
    expected = _expected(memory, next_after)
    waits = nominal_time if expected is not None and expected <= nominal_time else None
    if kind == START_BY:
        return _to_start(policy, waits)
    living = next((live for live in _watched(memory, most=None) if live.watched_as == nominal_time), None)
    if living is not None:
        return _to_finish(memory, policy, living)
    return _to_finish(memory, policy, waits) if waits is not None and policy.start_within is None else None


def late_failure(deadline: Deadline, at: datetime, title: str) -> Failure:
    """Lateness as a failure of the run: its cause is `late.*`, its fingerprint the cause; `title` says which deadline it was."""
    cause = NOT_STARTED if deadline.kind == START_BY else NOT_FINISHED
    nominal_time = deadline.nominal_time
    return Failure(
        run=deadline.run or RunRef(run_id=f"late__{nominal_time:%Y-%m-%dT%H:%M:%SZ}", nominal_time=nominal_time),
        at=at,
        fingerprint=cause,
        cause=cause,
        title=title,
        never_safe=True,
        due_at=deadline.due_at,
    )


def delay_of(failure: Failure, ended_at: datetime, usual: timedelta | None) -> timedelta | None:
    """How much later than it had to the late run ended; one that started late is given the time that it usually takes."""
    if not failure.late or failure.due_at is None:
        return None
    given = usual if failure.cause == NOT_STARTED and usual is not None else timedelta()
    return max(timedelta(), ended_at - failure.due_at - given)


def lost_in(absence: Absence, deadline: Deadline, memory: JobMemory) -> bool:
    """Whether what would have met the deadline may have been told while nobody was there to hear it.

    A start is told at its nominal time or soon after, an end when the run has taken as long as it usually does.
    """
    begins = deadline.nominal_time
    if deadline.kind == FINISH_BY and memory.usual_duration is not None:
        begins = min(begins + memory.usual_duration, deadline.due_at)
    elif deadline.kind == FINISH_BY:
        begins = deadline.due_at
    return begins < absence.ended_at and deadline.due_at >= absence.began_at


def learned(memory: JobMemory) -> timedelta | None:
    """Half as long again as nine of ten good runs took; nothing is learned from fewer than five."""
    durations = sorted(sample.duration for sample in memory.samples)
    if len(durations) < LEARN_FROM:
        return None
    return durations[int(LEARNED_QUANTILE * (len(durations) - 1))] * LEARNED_FACTOR


def _expected(memory: JobMemory, next_after: NextAfter) -> datetime | None:
    """The next nominal time of which no run has begun."""
    if memory.watched_from is None:
        return None
    return next_after(max(filter(None, (memory.watched_from, memory.latest_started))))


def _watched(memory: JobMemory, *, most: int | None = MOST_WATCHED) -> list[LiveRun]:
    """The living runs that have not been called late yet, the oldest first."""
    told = memory.told_late
    watched = [live for live in memory.live if live.watched_as not in told]
    return sorted(watched, key=lambda live: live.started_at)[:most]


def _to_start(policy: LatePolicy, expected: datetime | None) -> Deadline | None:
    if expected is None or policy.start_within is None:
        return None
    due_at = expected + policy.start_within + policy.grace
    return Deadline(kind=START_BY, nominal_time=expected, due_at=due_at, set_by=SetBy.START)


def _to_finish(memory: JobMemory, policy: LatePolicy, run: LiveRun | datetime) -> Deadline | None:
    """The finish deadline of a living run, or of the nominal time of one that has not begun."""
    live = run if isinstance(run, LiveRun) else None
    since = run.watched_as if isinstance(run, LiveRun) else run
    due = _set_by_somebody(memory, policy, since, live)
    if not due and policy.learned:
        due = _by_history(memory, policy, live)
    if not due:
        return None
    at, set_by = min(due)
    return Deadline(
        kind=FINISH_BY,
        nominal_time=since,
        due_at=at + policy.grace,
        set_by=set_by,
        run=live.run if live is not None else None,
    )


_Due = list[tuple[datetime, SetBy]]


def _set_by_somebody(memory: JobMemory, policy: LatePolicy, since: datetime, live: LiveRun | None) -> _Due:
    """The policy's deadlines, else the scheduler's. None of them was meant for a run that began after it had passed.

    A rerun or a backfill stands for a time that is long over: only what says how long a run may take holds for it.
    """
    again = live is not None and live.run.trigger is not Trigger.SCHEDULE
    if live is not None and again:
        since = live.started_at
    due = _by_policy(policy, since)
    if not due and policy.learned:
        due = _by_scheduler(memory, since, live)
    if again:
        due = [one for one in due if one[1] in (SetBy.FINISH_WITHIN, SetBy.TARGET_WITHIN)]
    return [one for one in due if live is None or one[0] + policy.grace > live.started_at]


def _by_policy(policy: LatePolicy, since: datetime) -> _Due:
    due: _Due = []
    if policy.finish_within is not None:
        due.append((since + policy.finish_within, SetBy.FINISH_WITHIN))
    if policy.finish_by is not None:
        due.append((first_local_after(policy.finish_by, since, policy.zone), SetBy.FINISH_BY))
    return due


def _by_scheduler(memory: JobMemory, since: datetime, live: LiveRun | None) -> _Due:
    """Its word on that run, else its target for all runs of the job."""
    promise = next((one.finish_by for one in memory.promised if one.nominal_time == since), None)
    of_run = live.finish_by if live is not None else promise
    if of_run is not None:
        return [(of_run, SetBy.TARGET_OF_RUN)]
    target = memory.target
    if target is not None and target.finish_within is not None:
        return [(since + target.finish_within, SetBy.TARGET_WITHIN)]
    if target is not None and target.finish_by is not None:
        return [(first_local_after(target.finish_by, since, target.zone), SetBy.TARGET_BY)]
    return []


def _by_history(memory: JobMemory, policy: LatePolicy, live: LiveRun | None) -> _Due:
    """Only of a run that has begun: what is learned counts from its start."""
    lasts = learned(memory) if live is not None else None
    if live is None or lasts is None:
        return []
    return [(live.started_at + max(lasts, policy.learned_floor), SetBy.LEARNED)]
