"""When the next ask is due and what kind it is: the ladder, the ask before the next run, the note to the holder, the lapse.

Pure arithmetic on the incident and its situation; it asks nobody.

    acknowledged          a quiet note before the next run (at most every 4 h), then the lapse
    rerunning             only the ask before the next run
    open, awaiting yes    the next ladder step, or the ask before the next run, whichever is first;
                          the ladder done: again after the fallback interval, or daily where a next run is known
    verifying             nothing: its own timer asks
"""

from datetime import datetime, timedelta

from bot.incidents import calendar
from bot.incidents.model import Acknowledgement, Ask, AskKind, Incident, Status
from bot.incidents.policy import Urgency
from bot.incidents.situation import Situation


def next_ask(incident: Incident, situation: Situation, now: datetime) -> Ask | None:
    """The ask that is due next, or None where the status has a timer of its own or is settled."""
    if not incident.status.unresolved or incident.status is Status.VERIFYING:
        return None
    if incident.acknowledgement is not None:
        return _while_acknowledged(incident, incident.acknowledgement, situation, now)
    floor = situation.policy.chase.floor
    before = _before_run(incident, situation, max(now, (incident.chase.asked_at or incident.opened_at) + floor))
    if incident.status is Status.RERUNNING:
        return before
    wanted = (_opening(incident, situation, now), _ladder(incident, situation), before, _again(incident, situation))
    return min((ask for ask in wanted if ask is not None), key=lambda ask: ask.at)


def reachable(situation: Situation, at: datetime) -> datetime:
    """`at`, or for low urgency the next instant within the team's hours."""
    hours = situation.team.hours if situation.team else None
    if situation.policy.urgency is Urgency.HIGH or hours is None:
        return at
    return calendar.next_within(hours, at)


def can_ask_now(situation: Situation, now: datetime) -> bool:
    """Whether an ask that becomes needed now may go out now: high urgency, within hours, or no hours known."""
    return reachable(situation, now) <= now


def _while_acknowledged(incident: Incident, held: Acknowledgement, situation: Situation, now: datetime) -> Ask:
    """The lapse (for low urgency within hours), a note to the holder before, or what could not be asked at night."""
    chase, policy = incident.chase, situation.policy.chase
    asks = [Ask(at=reachable(situation, held.until), kind=AskKind.LAPSED)]
    if chase.reason:
        asks.append(Ask(at=reachable(situation, now), kind=AskKind.OPENING))
    earliest = max(now, held.by.at + policy.floor, (chase.asked_at or held.by.at) + policy.floor)
    if held.noted_at is not None:
        earliest = max(earliest, held.noted_at + policy.holder_note_every)
    before = _before_run(incident, situation, earliest)
    if before is not None and before.kind is AskKind.BEFORE_RUN:
        asks.append(Ask(at=before.at, kind=AskKind.HOLDER_NOTE, run_at=before.run_at))
    return min(asks, key=lambda ask: ask.at)


def _opening(incident: Incident, situation: Situation, now: datetime) -> Ask | None:
    """Nobody has been asked yet: at once, or for low urgency when the team's hours begin."""
    if incident.chase.asked_at is not None:
        return None
    return Ask(at=reachable(situation, max(now, incident.chase.quiet_until or now)), kind=AskKind.OPENING)


def _ladder(incident: Incident, situation: Situation) -> Ask | None:
    ladder, chase = situation.policy.chase.ladder, incident.chase
    if chase.step >= len(ladder) or chase.asked_at is None:
        return None
    climbs_at = (chase.laddered_at or chase.asked_at) + ladder[chase.step].after
    at = max(climbs_at, chase.asked_at + situation.policy.chase.floor)
    return Ask(at=reachable(situation, max(at, chase.quiet_until or at)), kind=AskKind.LADDER, step=chase.step)


def _again(incident: Incident, situation: Situation) -> Ask | None:
    """The ladder is done: the fallback interval without a next run, else as long as an acknowledgement would have lasted."""
    policy, chase = situation.policy.chase, incident.chase
    if chase.asked_at is None or chase.step < len(policy.ladder):
        return None
    every = policy.every_without_schedule
    if situation.next_run_at is not None:
        every = max(every, policy.acknowledgement)
    at = chase.asked_at + max(every, policy.floor)
    return Ask(at=reachable(situation, max(at, chase.quiet_until or at)), kind=AskKind.AGAIN)


def _before_run(incident: Incident, situation: Situation, earliest: datetime) -> Ask | None:
    """The last ask before the next run that has not had one, not before `earliest`; None when no such run is known.

    For low urgency it moves into the team's hours; one that only fits after the run is an ordinary ask again.
    """
    asked = incident.chase.asked_before
    run_at = situation.next_run_at
    if run_at is not None and asked is not None and run_at <= asked:
        run_at = _first_run_after(situation, asked)
    if run_at is None:
        return None
    at = max(run_at - _lead(situation), earliest)
    if at >= run_at:
        run_at = _first_run_after(situation, at)
    if run_at is None:
        return None
    helpful = _helpful(situation, at, run_at, earliest)
    if helpful >= run_at:
        return Ask(at=helpful, kind=AskKind.AGAIN, run_at=run_at)
    return Ask(at=helpful, kind=AskKind.BEFORE_RUN, run_at=run_at)


def _first_run_after(situation: Situation, instant: datetime) -> datetime | None:
    """The first run strictly after `instant`: as the schedule says, beyond that by the usual distance between runs."""
    known = [run_at for run_at in (situation.next_run_at, situation.following_run_at) if run_at is not None]
    later = [run_at for run_at in known if run_at > instant]
    if later or not known or not situation.interval:
        return min(later, default=None)
    return max(known) + situation.interval * (1 + (instant - max(known)) // situation.interval)


def _lead(situation: Situation) -> timedelta:
    """How long before a run its ask comes: for frequent jobs half the distance between runs, but not under the floor."""
    policy = situation.policy.chase
    if situation.interval is None:
        return policy.before_next_run
    return min(policy.before_next_run, max(policy.floor, situation.interval / 2))


def _helpful(situation: Situation, at: datetime, run_at: datetime, earliest: datetime) -> datetime:
    """For low urgency the last instant within hours that still helps before `run_at`, else the first after."""
    hours = situation.team.hours if situation.team else None
    if situation.policy.urgency is Urgency.HIGH or hours is None or calendar.within(hours, at):
        return at
    last = calendar.last_within_before(hours, run_at, _lead(situation))
    return last if last is not None and last >= earliest else calendar.next_within(hours, at)
