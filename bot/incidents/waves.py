"""What the canary of a cause means for one incident: its rerun is held, goes with a wave, or comes to nothing.

The rule that all of them share is `canary`; whether a rerun is licensed at all is `licence`.
"""

from dataclasses import replace

from bot.incidents import asking, canary, reruns
from bot.incidents.canary import Stage
from bot.incidents.draft import Draft
from bot.incidents.effects import StageRerun, TellTeam
from bot.incidents.model import Rerun, RerunPhase, Status

STOPPED = "the rerun of another job with the same cause did not help"


def stage_of_next(draft: Draft, cause: str) -> Stage:
    """Whether a rerun under `cause` that is planned now may back off, or is held."""
    situation = draft.situation
    return canary.stage_of_next(situation.canary(cause), situation.policy.canary, draft.now)


def may_go(draft: Draft, rerun: Rerun) -> bool:
    """Whether the rerun, whose back-off is over, has a place in the wave."""
    return draft.situation.stage is Stage.LET or not draft.situation.canary(rerun.cause).full


def hold(draft: Draft, rerun: Rerun) -> None:
    """Others of its cause went first: it waits for them, though not for ever."""
    held = replace(rerun, phase=RerunPhase.HELD, due_at=draft.now + draft.situation.policy.canary.hold)
    draft.set(rerun=held)
    draft.add(StageRerun(key=rerun.key, cause=rerun.cause, stage=Stage.HELD))
    tell_held(draft, held)


def tell_held(draft: Draft, rerun: Rerun) -> None:
    reason = f"many jobs failed of {rerun.cause}, and one of them is rerun first"
    draft.note("rerun_held", reason, at=rerun.due_at, key=rerun.key)
    reruns.tell(draft, rerun, "held", at=rerun.due_at, reason=reason)


def come_to_nothing(draft: Draft, rerun: Rerun, reason: str) -> None:
    """A rerun that waited for others is not made: the owner's again, and of each team one job asks for all."""
    reruns.withdraw(draft, reason)
    draft.set(status=Status.OPEN, reason=reason)
    reruns.tell(draft, rerun, "cancelled", reason=reason)
    team = draft.situation.team
    if team is not None and team.name in draft.situation.canary(rerun.cause).told:
        asking.asked_already(draft, reason)
        return
    asking.ask_owner(draft, reason)
    draft.speaks_of = rerun.cause


def speak_for_all(draft: Draft) -> None:
    """What the owner was asked in this decision stands for all jobs of the team whose reruns the canary held."""
    if draft.speaks_of is not None and draft.incident.chase.asked_at == draft.now:
        draft.add(TellTeam(cause=draft.speaks_of))


def gave_up(rerun: Rerun) -> str:
    return f"no other job that failed of {rerun.cause} has run well in time"
