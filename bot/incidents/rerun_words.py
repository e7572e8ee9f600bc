"""What people say about reruns: asked for, approved, declined, stopped, started.

Who may say it is checked in `decide` before anything here runs.
"""

from dataclasses import replace

from bot.incidents import asking, licence, planning, reruns, strategy
from bot.incidents.draft import Draft
from bot.incidents.effects import AskScheduler, ReplyKind, ToldKind
from bot.incidents.events import Approved, Declined, RerunWanted, StartWanted, StopRerunWanted
from bot.incidents.keys import Action, Capability
from bot.incidents.lateness import NOT_STARTED
from bot.incidents.model import Owed, ProposalReason, RerunPhase, Status


def rerun(draft: Draft, event: RerunWanted) -> None:
    """An owner's own rerun needs no approval; where the cause is unknown it needs their confirmation."""
    wanted = _chosen(draft, event)
    refusal = cannot_rerun(draft, wanted)
    if refusal:
        draft.tell(ToldKind.CANNOT, refusal)
        return
    if not event.confirmed and any(owed.failure.cause == licence.UNKNOWN for owed in wanted):
        draft.tell(ToldKind.CONFIRM_UNKNOWN, "the cause is unknown", estimate=draft.situation.estimate)
        return
    reruns.withdraw(draft, f"{event.by.person} asked for a rerun")
    asking.acknowledge(draft, event.by)
    reason = event.reason or f"{event.by.person} asked for it"
    afresh = tuple(one.nominal_time for one in wanted) if event.fresh else ()
    planning.request(draft, owed=wanted, by=event.by, reason=reason, afresh=afresh)
    draft.tell(ToldKind.DONE, "the rerun is on its way")


def outsider_rerun(draft: Draft, event: RerunWanted) -> None:
    """Somebody who may not decide asks for a rerun: it becomes a proposal for the owner."""
    wanted = _chosen(draft, event)
    refusal = cannot_rerun(draft, wanted)
    if refusal or draft.incident.status is not Status.OPEN:
        draft.tell(
            ToldKind.CANNOT, refusal or "this occurrence does not wait for a rerun", status=draft.incident.status
        )
        return
    planning.propose(draft, ProposalReason.ASKED_BY_OUTSIDER, f"{event.by.person} asks for a rerun", by=event.by)
    draft.tell(ToldKind.NOT_YOURS, "proposed to the owning team", noted=True)


def stop_rerun(draft: Draft, event: StopRerunWanted) -> None:
    """Only a rerun of ours can be stopped; one that was not requested yet is simply taken back."""
    rerun = draft.incident.rerun
    if rerun is None:
        draft.tell(ToldKind.OTHER_STATE, "no rerun of ours is under way", status=draft.incident.status)
        return
    asking.acknowledge(draft, event.by)
    if rerun.phase in (RerunPhase.BACKING_OFF, RerunPhase.HELD):
        reruns.withdraw(draft, f"{event.by.person} stopped it before it was requested")
        reruns.tell(draft, rerun, "cancelled", reason=f"{event.by.person} stopped it")
        draft.tell(ToldKind.DONE, "the rerun was taken back before it was requested")
        return
    if Capability.STOP not in draft.situation.can:
        draft.tell(ToldKind.CANNOT, "its scheduler cannot be asked to stop a run")
        return
    draft.add(
        AskScheduler(
            action=Action.STOP,
            key=reruns.stop_key(rerun),
            run=rerun.run,
            nominal_times=rerun.waiting[:1],
            by=event.by,
            reason=f"{event.by.person} stopped it",
        )
    )
    draft.note("stop_requested", "asked its scheduler to stop our rerun", by=event.by)
    draft.tell(ToldKind.DONE, "asked its scheduler to stop the rerun")


def approved(draft: Draft, event: Approved) -> None:
    """Yes to the proposal that waits and has not expired; any other is stale."""
    proposal = draft.incident.proposal
    if proposal is None or proposal.number != event.proposal or draft.now >= proposal.expires_at:
        draft.tell(ToldKind.EXPIRED, "that proposal is no longer open", status=draft.incident.status)
        draft.note("stale_approval", "the proposal it answers is no longer open", by=event.by)
        return
    owed = tuple(one for one in draft.incident.owed if one.nominal_time in proposal.nominal_times)
    refusal = cannot_rerun(draft, owed)
    if refusal:
        draft.tell(ToldKind.CANNOT, refusal)
        return
    if not event.confirmed and any(one.failure.cause == licence.UNKNOWN for one in owed):
        draft.tell(ToldKind.CONFIRM_UNKNOWN, "the cause is unknown", estimate=proposal.estimate)
        return
    asking.acknowledge(draft, event.by)
    draft.note("approved", "an owner said yes", by=event.by, number=proposal.number)
    planning.request(draft, owed=owed, by=event.by, reason=f"{event.by.person} approved it")
    draft.tell(ToldKind.DONE, "approved: the rerun is on its way")


def declined(draft: Draft, event: Declined) -> None:
    """No: back to the owner with the ladder from the start, held by who said it."""
    proposal = draft.incident.proposal
    if proposal is None or proposal.number != event.proposal:
        draft.tell(ToldKind.EXPIRED, "that proposal is no longer open", status=draft.incident.status)
        return
    asking.acknowledge(draft, event.by)
    draft.set(status=Status.OPEN, proposal=None, reason=f"{event.by.person} declined the rerun")
    draft.set(chase=replace(draft.incident.chase, step=0, asked_at=draft.now, laddered_at=draft.now))
    draft.note("declined", "an owner said no", by=event.by, number=proposal.number)
    draft.reply(ReplyKind.DECISION, decision="declined", by=event.by, state="recorded")
    draft.tell(ToldKind.DONE, "declined")


def approval_expired(draft: Draft) -> None:
    """No answer means no."""
    reason = "nobody said yes in time: the rerun is not made"
    draft.set(status=Status.OPEN, proposal=None, reason=reason)
    draft.note("expired", reason)
    asking.ask_owner(draft, reason)


def start(draft: Draft, event: StartWanted) -> None:
    """Start a run that did not start; one that lives is left alone."""
    incident, situation = draft.incident, draft.situation
    owed = next((one for one in incident.owed if one.failure.cause == NOT_STARTED), None)
    if owed is None or owed.nominal_time in situation.live:
        draft.tell(ToldKind.CANNOT, "no run of it is waiting to be started")
        return
    if Capability.START not in situation.can:
        draft.tell(ToldKind.CANNOT, "its scheduler cannot be asked to start a run")
        return
    given_up = strategy.gives_up(situation.run_strategy, live=situation.live)
    if running(draft) or given_up:
        draft.tell(ToldKind.CANNOT, given_up or "a run that we asked for is under way")
        return
    asking.acknowledge(draft, event.by)
    planning.request(draft, owed=(owed,), by=event.by, reason=f"{event.by.person} started it")
    draft.tell(ToldKind.DONE, "asked its scheduler to start it")


def cannot_rerun(draft: Draft, wanted: tuple[Owed, ...]) -> str | None:
    """Why these owed times cannot be rerun now, or None when they can."""
    situation = draft.situation
    if not wanted:
        return "nothing is owed that could be rerun"
    for one in wanted:
        if planning.action_for(one) is Action.RERUN and Capability.RERUN not in situation.can:
            return "its scheduler cannot be asked for reruns"
        if planning.action_for(one) is Action.START and Capability.START not in situation.can:
            return "it has not run yet, and its scheduler cannot be asked to start it"
    if running(draft):
        return "a rerun of it is under way"
    living = [one.nominal_time for one in wanted if one.nominal_time in situation.live]
    if living:
        return "a run of it lives"
    return strategy.gives_up(situation.run_strategy, live=situation.live)


def running(draft: Draft) -> bool:
    """Whether a rerun that was asked for is under way."""
    rerun = draft.incident.rerun
    return rerun is not None and rerun.phase in (RerunPhase.REQUESTED, RerunPhase.RUNNING)


def _chosen(draft: Draft, event: RerunWanted) -> tuple[Owed, ...]:
    """The owed times asked for, oldest first; when none is named, all that need a rerun of their own."""
    if not event.nominal_times:
        return planning.worth_rerunning(draft.incident.owed)
    return tuple(one for one in draft.incident.owed if one.nominal_time in event.nominal_times)
