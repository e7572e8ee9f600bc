"""A failure that reruns mend again and again: it is rerun still, and its owner asked once to mend it for good. Pure.

It must not wake anybody: the ask waits for working hours.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, time, timedelta

from bot.incidents import calendar, reach
from bot.incidents.draft import Draft
from bot.incidents.effects import ReplyKind
from bot.incidents.model import Outcome
from bot.incidents.policy import Audience, Hours
from bot.incidents.situation import Situation
from bot.incidents.storm import aside

WITHIN = timedelta(days=7)
TIMES = 3
LOOK_BACK = 2 * WITHIN
OFFICE_DAYS, OFFICE_STARTS, OFFICE_ENDS = (0, 1, 2, 3, 4), time(9), time(17)


def times(recovered: Sequence[datetime], at: datetime) -> int:
    """How many of these recoveries by rerun lie within the days before `at`."""
    return sum(at - WITHIN < one <= at for one in recovered)


def becomes_chronic(recovered: Sequence[datetime], now: datetime) -> bool:
    """Whether a recovery now makes a failure chronic that was not at the one before; `recovered` are those before it."""
    before = max(recovered, default=None)
    was = before is not None and times(recovered, before) >= TIMES
    return times(recovered, now) + 1 >= TIMES and not was


def consider(draft: Draft) -> None:
    """The occurrence has just recovered by a rerun: when that is chronic, its owner is asked in working hours."""
    incident, situation = draft.incident, draft.situation
    if incident.outcome is not Outcome.RECOVERED or aside(incident.storm):
        return
    if becomes_chronic(situation.recovered, draft.now):
        at = calendar.next_within(_hours(situation), draft.now)
        draft.set(chronic_at=at)
        draft.note("chronic", f"a rerun has mended it {TIMES} times within {WITHIN.days} days", at=at)


def ask(draft: Draft) -> None:
    """Working hours have come: the owner is asked, once, to mend it for good."""
    draft.set(chronic_at=None)
    known = (*draft.situation.recovered, *(at for at in (draft.incident.closed_at,) if at is not None))
    latest = draft.incident.closed_at or draft.now
    whom = reach.audience(draft.incident, draft.situation, Audience.ONCALL)
    draft.reply(
        ReplyKind.CHRONIC,
        mention=whom.mentions,
        elsewhere=whom.alone,
        times=times(tuple(dict.fromkeys(known)), latest),
        days=WITHIN.days,
    )
    draft.note("asked", "reruns mend it again and again: asked once to mend it for good")


def _hours(situation: Situation) -> Hours:
    team = situation.team
    if team is not None and team.hours is not None:
        return team.hours
    zone = situation.policy.late.zone
    return replace(_OFFICE, zone=zone)


_OFFICE = Hours(days=OFFICE_DAYS, starts=OFFICE_STARTS, ends=OFFICE_ENDS, zone="UTC")
