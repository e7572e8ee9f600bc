"""The rerun rule: whether a failure may be rerun automatically, waits for an owner's yes, or is the owner's to look at.

The worst error is a wrong "licensed". Each refusal comes before the licence, each with its reason; nothing here acts.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.incidents import canary, strategy
from bot.incidents.keys import Capability, Trigger
from bot.incidents.model import Incident, Owed, OwedPlan, ProposalReason
from bot.incidents.policy import JobPolicy, Mode, SafeMark
from bot.incidents.situation import Situation

UNKNOWN = "unknown"


class Licence(StrEnum):
    """What the rule says."""

    GRANTED = "granted"
    PROPOSE = "propose"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The rule's word and its reason; `propose` says what an owner's yes would be for."""

    licence: Licence
    reason: str
    propose: ProposalReason | None = None


def verdict(
    owed: Owed, situation: Situation, now: datetime, *, incident: Incident | None, planned: bool = False
) -> Verdict:
    """Judge an automatic rerun of `owed`; `incident` is None when the failure opens a new one.

    `planned`: it is booked and its back-off is over, so that an acknowledgement given meanwhile does not take it back.
    """
    begins_at = now if planned else now + situation.policy.rerun.backoff
    refusal = (
        _cause_refuses(owed, situation)
        or _canary_refuses(owed, situation, now)
        or (None if planned else _held_refuses(incident))
        or _history_refuses(owed, situation, incident)
        or _scheduler_refuses(owed, situation, begins_at)
        or _mode_refuses(situation)
    )
    if refusal:
        return Verdict(licence=Licence.REFUSED, reason=refusal)
    return _within_budget(owed, situation)


def live_mark(cause: str, situation: Situation) -> SafeMark | None:
    """The owning team's mark on `cause` that counts now, or None."""
    return next((mark for mark in situation.marks if mark.cause == cause and _counts(mark, situation)), None)


def still_licensed(cause: str, policy: JobPolicy, marks: Iterable[SafeMark]) -> bool:
    """Whether an automatic rerun that was decided earlier may still go out: the mode allows it and a mark still counts."""
    team = policy.team
    if policy.mode is not Mode.ACT or team is None:
        return False
    return any(mark.cause == cause and mark.team == team.name and mark.void is None for mark in marks)


def markable(cause: str, *, never_safe: bool) -> str | None:
    """Why a cause can never be marked safe, or None when it can."""
    if cause == UNKNOWN:
        return "an unknown cause can never be marked safe"
    if cause.startswith("late."):
        return "lateness can never be marked safe: a late run may still live"
    return "the rule of this cause says that it is never safe" if never_safe else None


def _counts(mark: SafeMark, situation: Situation) -> bool:
    team = situation.policy.team
    return mark.void is None and team is not None and mark.team == team.name


def _cause_refuses(owed: Owed, situation: Situation) -> str | None:
    failure = owed.failure
    if failure.cause == UNKNOWN:
        return "the cause is unknown"
    if failure.late:
        return "a late run is never rerun by itself: it may still live"
    never = markable(failure.cause, never_safe=failure.never_safe)
    if never:
        return never
    if failure.ruled_out_by:
        return f"{failure.cause} is not sure: {', '.join(failure.ruled_out_by)} was seen as well"
    if live_mark(failure.cause, situation) is None:
        void = next((mark.void for mark in situation.marks if mark.cause == failure.cause and mark.void), None)
        return (
            f"the safe mark on {failure.cause} does not count: {void}" if void else _unmarked(failure.cause, situation)
        )
    unsafe = [cause for cause in failure.also if not _safe_beside(cause, situation)]
    if unsafe:
        return f"{failure.cause} is marked safe, but {', '.join(unsafe)} matched as well and is not"
    if failure.cause in situation.suspended:
        return f"the safe mark on {failure.cause} is suspended: the last three automatic reruns failed"
    return None


def _safe_beside(cause: str, situation: Situation) -> bool:
    """Whether a cause that matched as well is safe in its own right."""
    marked = live_mark(cause, situation) is not None and cause not in situation.suspended
    return marked and markable(cause, never_safe=False) is None


def _canary_refuses(owed: Owed, situation: Situation, now: datetime) -> str | None:
    cause = owed.failure.cause
    return canary.refusal(situation.canary(cause), situation.policy.canary, now)


def _unmarked(cause: str, situation: Situation) -> str:
    foreign = next((mark.team for mark in situation.marks if mark.cause == cause), None)
    if foreign is not None:
        return f"{cause} was marked safe by {foreign}, which does not own this job"
    return f"the owning team has not marked {cause} safe"


def _held_refuses(incident: Incident | None) -> str | None:
    held = incident is not None and incident.acknowledgement is not None
    return "somebody is working on it" if held else None


def _history_refuses(owed: Owed, situation: Situation, incident: Incident | None) -> str | None:
    if situation.retired:
        return "the job is retired"
    if owed.failure.run.trigger in (Trigger.BACKFILL, Trigger.MANUAL):
        return f"a {owed.failure.run.trigger} run is never rerun automatically"
    used = dict(incident.licensed).get(owed.nominal_time) if incident is not None else None
    if used is not None and used != owed.failure.cause:
        return f"its licence was for {used}: another cause gets no second one"
    if situation.reruns_of(owed.nominal_time) >= situation.policy.rerun.max:
        return f"it was rerun {situation.reruns_of(owed.nominal_time)} times already"
    if owed.nominal_time in situation.paid:
        return "it has a good run by now"
    if owed.plan is OwedPlan.ANY_LATER_RUN and _newer_started(owed, situation):
        return "a newer run has begun, which brings it as well"
    return None


def _newer_started(owed: Owed, situation: Situation) -> bool:
    latest = situation.latest_started
    return latest is not None and owed.nominal_time is not None and latest > owed.nominal_time


def _scheduler_refuses(owed: Owed, situation: Situation, begins_at: datetime) -> str | None:
    if Capability.RERUN not in situation.can:
        return "its scheduler cannot be asked for reruns"
    if owed.nominal_time in situation.live:
        return "a run of it lives"
    at_cost = strategy.refusal(situation.run_strategy, live=situation.live, nominal_time=owed.nominal_time)
    if at_cost:
        return at_cost
    if situation.policy.rerun.forbid_overlap:
        return _would_overlap(situation, begins_at)
    return None


def _would_overlap(situation: Situation, begins_at: datetime) -> str | None:
    if situation.live:
        return "another run of the job lives and they must not overlap"
    next_run, usual = situation.next_run_at, situation.usual_duration
    if next_run is None:
        return None
    if usual is None and next_run <= begins_at + situation.policy.rerun.result_grace:
        return "the next run is near and how long a rerun takes is not known"
    if usual is not None and begins_at + usual > next_run:
        return "it would not be done before the next run and they must not overlap"
    return None


def _mode_refuses(situation: Situation) -> str | None:
    mode = situation.policy.mode
    return None if mode is Mode.ACT else f"the mode is {mode}: it would be rerun in mode act"


def _within_budget(owed: Owed, situation: Situation) -> Verdict:
    if situation.estimate is None:
        reason = "what a rerun costs is not known: the job has no good run to judge by"
        return Verdict(licence=Licence.PROPOSE, reason=reason, propose=ProposalReason.UNKNOWN_COST)
    if situation.allowance is not None and situation.estimate.unit != situation.allowance.unit:
        reason = (
            f"what a rerun costs is known in {situation.estimate.unit}, the budget is in {situation.allowance.unit}"
        )
        return Verdict(licence=Licence.PROPOSE, reason=reason, propose=ProposalReason.UNKNOWN_COST)
    left = situation.allowance.left if situation.allowance else None
    if left is None or situation.estimate.amount > left:
        reason = "the automatic budget does not cover it" if left is not None else "the job has no automatic budget"
        return Verdict(licence=Licence.PROPOSE, reason=reason, propose=ProposalReason.OVER_BUDGET)
    return Verdict(licence=Licence.GRANTED, reason=f"{owed.failure.cause} is marked safe and the budget covers it")
