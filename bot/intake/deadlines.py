"""What becomes of a job's deadlines: those that it has now, and what one that has passed means. It writes nothing.

Nobody is told of a lateness that nobody can know of: while a source is silent its deadlines are put off, and what a source
that only pushes may have told while ontrack was not there is not asked for again.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot import cron
from bot.incidents import lateness
from bot.incidents import memory as past
from bot.incidents.absence import NotObserved
from bot.incidents.events import RunLate
from bot.incidents.late_words import late_title
from bot.incidents.memory import JobMemory
from bot.incidents.model import Status
from bot.intake.inbound import DeadlinePassed
from bot.intake.surroundings import Read, World
from bot.store import JobTimer, RunState
from bot.store.watch import Watched

HELD = frozenset({Status.PAUSED, Status.RETIRED})
KINDS = (lateness.START_BY, lateness.FINISH_BY)
LOOK_AGAIN = timedelta(minutes=10)
CATCHES_UP = timedelta(minutes=10)
RECORDS_READ = timedelta(minutes=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """The job's memory after a deadline passed, and what happened; `held_until`: it is looked at again then."""

    memory: JobMemory
    event: RunLate | NotObserved | None = None
    reason: str = ""
    held_until: datetime | None = None


def timers_of(read: Read, world: World, *, held_until: datetime | None = None) -> tuple[JobTimer, ...]:
    """The job's deadlines, none of them before `held_until`; none while it is paused or retired in force."""
    memory = read.memory
    if memory.deleted or _put_aside(read):
        return ()
    found = lateness.deadlines(memory, world.policy.late, next_after=_next_after(memory, world))
    return tuple(
        JobTimer(
            kind=one.kind,
            nominal_time=one.nominal_time,
            due_at=one.due_at if held_until is None else max(one.due_at, held_until),
        )
        for one in found
    )


def passed(read: Read, world: World, event: DeadlinePassed, watched: Watched, now: datetime) -> Passed:
    """Late when the run is not there, or not done, by now, and somebody can know that."""
    memory, late = read.memory, world.policy.late
    missed = lateness.missed(memory, late, event.kind, event.nominal_time, next_after=_next_after(memory, world))
    if missed is None or missed.due_at > now:
        return Passed(memory=memory, reason="nothing is expected of that run by now")
    told = past.told_late(
        memory, missed.nominal_time, living=missed.kind == lateness.FINISH_BY, expected=missed.run is None
    )
    if missed.run is None and _known(read, missed.nominal_time):
        return Passed(memory=told, reason="that run is known")
    if _put_aside(read):
        return Passed(memory=told, reason="it is paused or retired")
    held_until = _held_until(watched, read.key.scheduler, now)
    if held_until is not None:
        return Passed(memory=memory, reason="its source is silent", held_until=held_until)
    absence = watched.absence
    if absence is not None and lateness.lost_in(absence, missed, memory):
        if world.pushes:
            unseen = past.not_observed(memory, absence, missed.nominal_time)
            return Passed(memory=unseen, event=NotObserved(absence=absence, at=now), reason=f"not observed {absence}")
        if now < absence.ended_at + RECORDS_READ:
            held_until = absence.ended_at + RECORDS_READ
            return Passed(memory=memory, reason="its records are being read", held_until=held_until)
    title = late_title(missed, memory, late, scheduler=read.key.scheduler, zone=_zone(memory, world))
    failure = lateness.late_failure(missed, now, title)
    return Passed(memory=told, event=RunLate(failure=failure, at=now, deadline_at=missed.due_at))


def _known(read: Read, nominal_time: datetime) -> bool:
    """Whether a run of that time has been told of, were it only its end."""
    return any(row.state is not RunState.RETRYING for row in read.runs.get(nominal_time, ()))


def _put_aside(read: Read) -> bool:
    return any(held.status in HELD for held in read.incidents.in_force)


def _held_until(watched: Watched, source: str, now: datetime) -> datetime | None:
    """When to look again at a deadline whose source says nothing, or began to speak just now and has much to tell."""
    if source in watched.silent:
        return now + LOOK_AGAIN
    spoke_at = watched.spoke_at.get(source)
    caught_up_at = spoke_at + CATCHES_UP if spoke_at is not None else None
    return caught_up_at if caught_up_at is not None and now < caught_up_at else None


def _next_after(memory: JobMemory, world: World) -> lateness.NextAfter:
    schedule = world.schedule or memory.schedule
    return lambda after: cron.next_after(schedule, after) if schedule is not None else None


def _zone(memory: JobMemory, world: World) -> str:
    schedule = world.schedule or memory.schedule
    return schedule.zone if schedule is not None else world.policy.late.zone
