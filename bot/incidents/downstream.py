"""Downstream of an occurrence: who waits for what it owes, who hangs under it, and how late that made them. Pure.

The graph comes from policies and sources; nothing here decides about a downstream job's own occurrence.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from bot.incidents import asking, waits
from bot.incidents.downstream_events import DownstreamAlone, DownstreamEvent, DownstreamHung, DownstreamRan
from bot.incidents.draft import Draft
from bot.incidents.effects import ReplyKind
from bot.incidents.events import Event, RunSucceeded
from bot.incidents.keys import Trigger
from bot.incidents.memory import JobMemory
from bot.incidents.model import Failure, Incident, Status
from bot.incidents.reach import Reach
from bot.incidents.situation import Waiting
from bot.incidents.waits import Hung, Wait

TOLD_HUNG = 3
MOST_DEPENDENTS = 50
BLOCKED = {Hung.LATE: "late", Hung.FAILED: "failed", Hung.SKIPPED: "skipped"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Downstream:
    """A downstream job as known now: `due_at` is its first nominal time that needs the owed run (None: no schedule)."""

    job: str
    memory: JobMemory | None
    due_at: datetime | None
    next_run_at: datetime | None
    depth: int = 1
    later: bool = False


def waiting(jobs: Iterable[Downstream], owed_since: datetime | None, now: datetime) -> tuple[Waiting, ...]:
    """The downstream jobs, each with whether it waits for a run that is owed since that nominal time (None: nothing is).

    A job waits when its own nominal time has come and no good run of it has; without a schedule it runs when the upstream
    is there, so that it waits from the start. `since` is also told of one whose time is still to come.
    """
    return tuple(_waiting(one, owed_since, now) for one in jobs)


def begin(draft: Draft, failure: Failure) -> None:
    """Whoever needs the run that is owed now waits for it; what a backfill fills in has been done without long ago."""
    known = draft.situation.downstream
    if failure.run.trigger is not Trigger.BACKFILL:
        new = (_wait_of(one) for one in known)
        kept, beyond = waits.joined(draft.incident.waits, (one for one in new if one is not None))
        beyond += draft.situation.downstream_beyond
        draft.set(waits=kept, waits_beyond=max(draft.incident.waits_beyond, beyond))
    needing = {one.job for one in draft.incident.waits}
    others = tuple(one.job for one in known if one.depth == 1 and one.job not in needing)
    draft.set(dependents=tuple(dict.fromkeys((*draft.incident.dependents, *others)))[:MOST_DEPENDENTS])


def told(draft: Draft, event: DownstreamEvent) -> None:
    """A downstream job's word, whatever the status: it changes nothing but the wait."""
    wait = next((one for one in draft.incident.waits if _is(one, event)), None)
    if wait is None or not wait.open:
        draft.note("stale", f"{event.job} does not wait for it any more")
        return
    match event:
        case DownstreamHung():
            _hung(draft, wait, event)
        case DownstreamRan():
            _ran(draft, wait, event)
        case DownstreamAlone():
            _set(draft, replace(wait, alone=True))
            draft.note("downstream_alone", f"{event.job} is still not done: it has an incident of its own now")


def cleared(incident: Incident, event: Event, now: datetime) -> Incident:
    """The incident with its waits as what it owes leaves them: since the good run's own end, which we may hear of late."""
    if not incident.waits:
        return incident
    at = min(now, event.at) if isinstance(event, RunSucceeded) else now
    owed = [one.nominal_time for one in incident.owed]
    over = not incident.status.unresolved
    return replace(incident, waits=waits.cleared(incident.waits, owed, over=over, at=at))


def shown(incident: Incident, now: datetime) -> tuple[Waiting, ...]:
    """Who waits for the incident, or has waited, and who else is downstream, for a reader: a line for each job."""
    lines: dict[str, Waiting] = {}
    for one in sorted(incident.waits, key=lambda wait: (not wait.open, wait.depth, wait.since)):
        lines.setdefault(one.job, _line(one, now))
    others = (Waiting(job=job, waits=False) for job in incident.dependents if job not in lines)
    return (*lines.values(), *others)


def released(draft: Draft) -> tuple[Waiting, ...]:
    """Who can go on now, for the message that settles the occurrence."""
    return tuple(one for one in shown(draft.incident, draft.now) if one.waits)


def _line(one: Wait, now: datetime) -> Waiting:
    return Waiting(
        job=one.job,
        waits=one.open and one.since <= now,
        since=one.since,
        nominal_time=one.nominal_time,
        depth=one.depth,
        hung=one.hung,
        alone=one.alone,
        ended_at=one.ended_at,
        without=one.without,
        delay=one.delay,
    )


def _waiting(one: Downstream, owed_since: datetime | None, now: datetime) -> Waiting:
    plain = Waiting(job=one.job, waits=False, next_run_at=one.next_run_at, depth=one.depth)
    if owed_since is None:
        return plain
    since = one.due_at if one.next_run_at is not None or one.due_at is not None else owed_since
    good = one.memory.last_good if one.memory else None
    good_at = (good.run.nominal_time or good.ended_at) if good else None
    if since is None or (good_at is not None and good_at >= since):
        return plain
    return replace(plain, waits=since <= now, since=since, nominal_time=one.due_at, later=one.later)


def _wait_of(one: Waiting) -> Wait | None:
    if one.since is None:
        return None
    return Wait(job=one.job, nominal_time=one.nominal_time, since=one.since, depth=one.depth, later=one.later)


def _is(wait: Wait, event: DownstreamEvent) -> bool:
    return (wait.job, wait.nominal_time) == (event.job, event.nominal_time)


def _set(draft: Draft, wait: Wait) -> None:
    same = (wait.job, wait.nominal_time)
    draft.set(waits=tuple(wait if (one.job, one.nominal_time) == same else one for one in draft.incident.waits))


def _hung(draft: Draft, wait: Wait, event: DownstreamHung) -> None:
    """It is told here; the first one to be blocked is told to who is on it, unless it may heal by itself."""
    if wait.hung is not None:
        draft.note("downstream_hung", f"{event.job} hangs under it already")
        return
    before = sum(one.hung is not None for one in draft.incident.waits)
    _set(draft, replace(wait, hung=event.what))
    draft.note("downstream_hung", f"{event.job} is {BLOCKED[event.what]} because of this", job=event.job)
    if before >= TOLD_HUNG or not draft.incident.status.unresolved:
        return
    waits_for_person = draft.incident.status in (Status.OPEN, Status.AWAITING_APPROVAL)
    whom = asking.on_it(draft) if before == 0 and waits_for_person else Reach()
    draft.reply(
        ReplyKind.DOWNSTREAM,
        mention=whom.mentions,
        elsewhere=whom.alone,
        what="hung",
        job=event.job,
        hung=event.what,
        since=wait.since,
        jobs=(),
        delay=None,
    )


def _ran(draft: Draft, wait: Wait, event: DownstreamRan) -> None:
    done = waits.ended(wait, event.at, lag=event.lag, learned_from=event.learned_from)
    _set(draft, done)
    how = "ran without it" if done.without else "is done"
    draft.note("downstream_ran", f"{event.job} {how}", job=event.job, delay=done.delay, learned_from=done.learned_from)
    known = draft.incident.waits
    finished = [one for one in known if not one.without]
    if draft.incident.status.unresolved or any(one.open for one in known) or not finished:
        return
    draft.reply(
        ReplyKind.DOWNSTREAM,
        what="done",
        job="",
        hung=None,
        since=None,
        jobs=tuple(_line(one, draft.now) for one in finished),
        delay=waits.total(finished),
    )
