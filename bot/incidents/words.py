"""What the owner says about an occurrence: it is theirs, fixed, not needed, approved, to be paused, retired or left.

Who may say it is checked in `decide` before anything here runs.
"""

from dataclasses import replace
from datetime import datetime

from bot.incidents import asking, closing, licence, reruns
from bot.incidents.draft import Draft
from bot.incidents.effects import AskScheduler, MarkCause, ReplyKind, ToldKind
from bot.incidents.events import (
    Acknowledged,
    Approved,
    CauseCorrected,
    CauseMarked,
    Declined,
    FixDeclared,
    NotFixed,
    NotNeeded,
    OwedChoice,
    Released,
    RerunWanted,
    StartWanted,
    StopRerunWanted,
    WaitWanted,
)
from bot.incidents.keys import Action, Capability
from bot.incidents.model import (
    Acknowledgement,
    Fix,
    Outcome,
    Owed,
    OwedPlan,
    ProposalReason,
    RerunPhase,
    Status,
)


def acknowledged(draft: Draft, event: Acknowledged) -> None:
    """The first word wins; the holder may change how long it lasts."""
    held = draft.incident.acknowledgement
    if held is not None and held.by.person.id != event.by.person.id:
        draft.tell(ToldKind.TAKEN, "somebody has it already", by=held.by.person, until=held.until)
        draft.note("also_acknowledged", f"{event.by.person} came second", by=event.by)
        return
    until = draft.now + (event.lasts or draft.situation.policy.chase.acknowledgement)
    first = held is None
    if held is not None and event.lasts is None:
        draft.tell(ToldKind.TAKEN, "you have it already", by=held.by.person, until=held.until)
        return
    _hold(draft, Acknowledgement(by=event.by if first or held is None else held.by, until=until))
    draft.note("acknowledged", "taken" if first else "held for another time", by=event.by, until=until)
    draft.reply(ReplyKind.ACKNOWLEDGED, by=event.by, until=until, changed=not first)
    draft.tell(ToldKind.DONE, "it is yours", until=until)


def taken_over(draft: Draft, event: Acknowledged) -> None:
    """Another of the team takes it from its holder."""
    until = draft.now + (event.lasts or draft.situation.policy.chase.acknowledgement)
    before = draft.incident.acknowledgement
    _hold(draft, Acknowledgement(by=event.by, until=until))
    draft.note("taken_over", f"from {before.by.person}" if before else "taken", by=event.by, until=until)
    draft.reply(ReplyKind.ACKNOWLEDGED, by=event.by, until=until, taken_from=before.by.person if before else None)
    draft.tell(ToldKind.DONE, "it is yours", until=until)


def watching(draft: Draft, event: Acknowledged) -> None:
    """An outsider's acknowledgement is noted and stops nothing."""
    person = event.by.person
    if person not in draft.incident.watchers:
        draft.set(watchers=(*draft.incident.watchers, person))
        draft.reply(ReplyKind.WATCHING, by=event.by)
    draft.note("watching", f"{person} is looking too", by=event.by)
    draft.tell(ToldKind.NOT_YOURS, "noted that you are looking; only the owning team can take it", noted=True)


def released(draft: Draft, event: Released) -> None:
    """The holder lets go: the ladder begins anew, after its first wait."""
    held = draft.incident.acknowledgement
    if held is None:
        draft.tell(ToldKind.OTHER_STATE, "nobody holds it", status=draft.incident.status)
        return
    chase = draft.incident.chase
    draft.set(acknowledgement=None, chase=replace(chase, step=0, asked_at=draft.now))
    draft.note("released", f"{held.by.person} no longer holds it", by=event.by)
    draft.reply(ReplyKind.RELEASED, by=event.by, held_by=held.by.person)
    draft.tell(ToldKind.DONE, "released")


def rerun(draft: Draft, event: RerunWanted) -> None:
    """An owner's own rerun needs no approval; where the cause is unknown it needs their confirmation."""
    wanted = _chosen(draft, event)
    refusal = _cannot_rerun(draft, wanted)
    if refusal:
        draft.tell(ToldKind.CANNOT, refusal)
        return
    if not event.confirmed and any(owed.failure.cause == licence.UNKNOWN for owed in wanted):
        draft.tell(ToldKind.CONFIRM_UNKNOWN, "the cause is unknown", estimate=draft.situation.estimate)
        return
    reruns.withdraw(draft, f"{event.by.person} asked for a rerun")
    asking.acknowledge(draft, event.by)
    reruns.request(draft, owed=wanted, by=event.by, reason=event.reason or f"{event.by.person} asked for it")
    draft.tell(ToldKind.DONE, "the rerun is on its way")


def outsider_rerun(draft: Draft, event: RerunWanted) -> None:
    """Somebody who may not decide asks for a rerun: it becomes a proposal for the owner."""
    wanted = _chosen(draft, event)
    refusal = _cannot_rerun(draft, wanted)
    if refusal or draft.incident.status is not Status.OPEN:
        draft.tell(
            ToldKind.CANNOT, refusal or "this occurrence does not wait for a rerun", status=draft.incident.status
        )
        return
    reruns.propose(draft, ProposalReason.ASKED_BY_OUTSIDER, f"{event.by.person} asks for a rerun", by=event.by)
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
        reruns.tell_ended(draft, rerun, "cancelled", reason=f"{event.by.person} stopped it")
        draft.tell(ToldKind.DONE, "the rerun was taken back before it was requested")
        return
    if Capability.STOP not in draft.situation.can:
        draft.tell(ToldKind.CANNOT, "its scheduler cannot be asked to stop a run")
        return
    draft.add(
        AskScheduler(
            action=Action.STOP,
            key=f"{rerun.key}:stop",
            run=rerun.run,
            nominal_times=rerun.waiting,
            by=event.by,
            reason=f"{event.by.person} stopped it",
        )
    )
    draft.note("stop_requested", "asked its scheduler to stop our rerun", by=event.by)
    draft.tell(ToldKind.DONE, "asked its scheduler to stop the rerun")


def approved(draft: Draft, event: Approved) -> None:
    """Yes to the proposal that waits; any other is stale."""
    proposal = draft.incident.proposal
    if proposal is None or proposal.number != event.proposal:
        draft.tell(ToldKind.EXPIRED, "that proposal is no longer open", status=draft.incident.status)
        draft.note("stale_approval", "the proposal it answers is no longer open", by=event.by)
        return
    owed = tuple(one for one in draft.incident.owed if one.nominal_time in proposal.nominal_times)
    refusal = _cannot_rerun(draft, owed)
    if refusal:
        draft.tell(ToldKind.CANNOT, refusal)
        return
    asking.acknowledge(draft, event.by)
    draft.note("approved", "an owner said yes", by=event.by, number=proposal.number)
    reruns.request(draft, owed=owed, by=event.by, reason=f"{event.by.person} approved it")
    draft.tell(ToldKind.DONE, "approved: the rerun is on its way")


def declined(draft: Draft, event: Declined) -> None:
    """No: back to the owner with the ladder from the start, held by who said it."""
    proposal = draft.incident.proposal
    if proposal is None or proposal.number != event.proposal:
        draft.tell(ToldKind.EXPIRED, "that proposal is no longer open", status=draft.incident.status)
        return
    asking.acknowledge(draft, event.by)
    draft.set(status=Status.OPEN, proposal=None, reason=f"{event.by.person} declined the rerun")
    draft.set(chase=replace(draft.incident.chase, step=0, asked_at=draft.now))
    draft.note("declined", "an owner said no", by=event.by, number=proposal.number)
    draft.reply(ReplyKind.DECISION, decision="declined", by=event.by, state="recorded")
    draft.tell(ToldKind.DONE, "declined")


def fixed(draft: Draft, event: FixDeclared) -> None:
    """Fixed completes nothing: what is owed is rerun, awaited or waived as chosen, and a good run confirms it."""
    incident = draft.incident
    choices = dict(event.choices)
    fix = Fix(by=event.by, what=event.what, cause=event.cause, link=event.link)
    waived = tuple(one for one in incident.owed if choices.get(one.nominal_time) is OwedChoice.NOT_NEEDED)
    kept = tuple(_planned(one, choices) for one in incident.owed if one not in waived)
    now_wanted = tuple(one for one in kept if choices.get(one.nominal_time) is OwedChoice.RERUN_NOW)
    refusal = _cannot_rerun(draft, now_wanted) if now_wanted else None
    if refusal:
        kept = tuple(replace(one, plan=OwedPlan.NEXT_RUN) if one in now_wanted else one for one in kept)
        now_wanted = ()
    reruns.withdraw(draft, f"{event.by.person} says that it is fixed")
    asking.acknowledge(draft, event.by)
    draft.set(fix=fix, owed=kept, verify_after=draft.now, unconfirmed=False)
    draft.note("fixed", event.what or "said to be fixed", by=event.by, cause=event.cause, link=event.link)
    by = closing.verify_by(draft.situation, draft.now)
    draft.reply(
        ReplyKind.FIXED,
        by=event.by,
        what=event.what,
        cause=event.cause,
        link=event.link,
        verify_by=by,
        owed=tuple(one.nominal_time for one in kept),
        not_needed=tuple(one.nominal_time for one in waived),
        rerun_now=tuple(one.nominal_time for one in now_wanted),
    )
    draft.tell(ToldKind.DONE, refusal or "recorded: a good run will confirm it")
    if now_wanted:
        reruns.request(draft, owed=now_wanted, by=event.by, reason="to confirm the fix")
    elif not _running(draft):
        draft.set(status=Status.VERIFYING, verify_by=by, reason="waits for a good run to confirm the fix")


def not_fixed(draft: Draft, event: NotFixed) -> None:
    """The owner takes "fixed" back: it is open again, and theirs."""
    asking.acknowledge(draft, event.by)
    draft.set(status=Status.OPEN, verify_by=None, unconfirmed=False, reason=f"{event.by.person}: not fixed")
    draft.note("not_fixed", "taken back", by=event.by)
    draft.reply(ReplyKind.DECISION, decision="fixed", by=event.by, state="undone")
    draft.tell(ToldKind.DONE, "open again")


def not_needed(draft: Draft, event: NotNeeded) -> None:
    """A person's word takes owed times away; with nothing left and no fix to confirm, it is settled."""
    incident = draft.incident
    times = set(event.nominal_times) if event.nominal_times else {one.nominal_time for one in incident.owed}
    waived = tuple(one.nominal_time for one in incident.owed if one.nominal_time in times)
    left = tuple(one for one in incident.owed if one.nominal_time not in times)
    if not waived and incident.owed:
        draft.tell(ToldKind.INVALID, "none of these times is owed", about="nominal_times")
        return
    asking.acknowledge(draft, event.by)
    draft.set(owed=left)
    draft.note("not_needed", event.reason or "not needed", by=event.by, nominal_times=waived)
    draft.reply(ReplyKind.NOT_NEEDED, by=event.by, nominal_times=waived, reason=event.reason)
    draft.tell(ToldKind.DONE, "recorded")
    if not left and draft.incident.status is not Status.VERIFYING:
        closing.resolve(draft, Outcome.NOT_NEEDED, by=event.by)


def wait(draft: Draft, event: WaitWanted) -> None:
    """The owner of a late run waits: an acknowledgement that ends when they said."""
    if not draft.incident.failure.late:
        draft.tell(ToldKind.OTHER_STATE, "no run of it is late", status=draft.incident.status)
        return
    if event.until <= draft.now:
        draft.tell(ToldKind.INVALID, "choose an instant that is still to come", about="until")
        return
    _hold(draft, Acknowledgement(by=event.by, until=event.until))
    draft.note("waiting", "the owner waits for the late run", by=event.by, until=event.until)
    draft.reply(ReplyKind.ACKNOWLEDGED, by=event.by, until=event.until, waits=True)
    draft.tell(ToldKind.DONE, "nobody is asked until then", until=event.until)


def start(draft: Draft, event: StartWanted) -> None:
    """Start a run that did not start; one that lives is left alone."""
    incident, situation = draft.incident, draft.situation
    owed = next((one for one in incident.owed if one.failure.cause == "late.not_started"), None)
    if owed is None or owed.nominal_time in situation.live:
        draft.tell(ToldKind.CANNOT, "no run of it is waiting to be started")
        return
    if Capability.START not in situation.can:
        draft.tell(ToldKind.CANNOT, "its scheduler cannot be asked to start a run")
        return
    if _running(draft):
        draft.tell(ToldKind.CANNOT, "a run that we asked for is under way")
        return
    asking.acknowledge(draft, event.by)
    reruns.request(draft, owed=(owed,), by=event.by, reason=f"{event.by.person} started it", action=Action.START)
    draft.tell(ToldKind.DONE, "asked its scheduler to start it")


def correct_cause(draft: Draft, event: CauseCorrected) -> None:
    """The owner names the true cause; it changes no licence by itself."""
    draft.set(corrected_cause=event.cause)
    if draft.incident.status.unresolved:
        asking.acknowledge(draft, event.by)
    draft.note("cause_corrected", event.note or event.cause, by=event.by, was=draft.incident.failure.cause)
    draft.reply(ReplyKind.CAUSE, by=event.by, cause=event.cause, note=event.note, was=draft.incident.failure.cause)
    draft.tell(ToldKind.DONE, "recorded")


def mark_cause(draft: Draft, event: CauseMarked) -> None:
    """The owning team's safe mark, or its revocation; it holds from the next failure on."""
    failure = draft.incident.failure
    if event.safe:
        never = licence.markable(event.cause, never_safe=failure.never_safe and failure.cause == event.cause)
        if never or draft.situation.policy.team is None:
            draft.tell(ToldKind.CANNOT, never or "the job has no owning team in policies.yaml")
            return
    draft.add(MarkCause(cause=event.cause, by=event.by, safe=event.safe))
    draft.note("cause_marked" if event.safe else "mark_revoked", event.cause, by=event.by)
    draft.reply(ReplyKind.CAUSE, by=event.by, cause=event.cause, marked=event.safe, revoked=not event.safe)
    draft.tell(ToldKind.DONE, "recorded: it holds from the next failure on")


def _hold(draft: Draft, held: Acknowledgement) -> None:
    draft.set(acknowledgement=held, first_word_at=draft.incident.first_word_at or held.by.at)


def _chosen(draft: Draft, event: RerunWanted) -> tuple[Owed, ...]:
    """The owed times asked for, oldest first; all of them when none is named."""
    if not event.nominal_times:
        return draft.incident.owed
    return tuple(one for one in draft.incident.owed if one.nominal_time in event.nominal_times)


def _cannot_rerun(draft: Draft, wanted: tuple[Owed, ...]) -> str | None:
    situation = draft.situation
    if not wanted:
        return "nothing is owed that could be rerun"
    if Capability.RERUN not in situation.can:
        return "its scheduler cannot be asked for reruns"
    if _running(draft):
        return "a rerun of it is under way"
    living = [one.nominal_time for one in wanted if one.nominal_time in situation.live]
    if living:
        return "a run of it lives"
    return None


def _running(draft: Draft) -> bool:
    rerun = draft.incident.rerun
    return rerun is not None and rerun.phase in (RerunPhase.REQUESTED, RerunPhase.RUNNING)


def _planned(owed: Owed, choices: dict[datetime | None, OwedChoice]) -> Owed:
    if choices.get(owed.nominal_time) is OwedChoice.NEXT_RUN:
        return replace(owed, plan=OwedPlan.NEXT_RUN)
    return owed
