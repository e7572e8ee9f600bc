"""What the owner says about an occurrence: it is theirs, fixed, not needed, approved, to be paused, retired or left.

Who may say it is checked in `decide` before anything here runs.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from bot.incidents import asking, closing, licence, opening, planning, rerun_words, reruns, unblocking
from bot.incidents.draft import Draft
from bot.incidents.effects import MarkCause, ReplyKind, ToldKind
from bot.incidents.events import (
    Acknowledged,
    CauseCorrected,
    CauseMarked,
    FixDeclared,
    NotFixed,
    NotNeeded,
    OwedChoice,
    Released,
    StillNeeded,
    WaitWanted,
)
from bot.incidents.model import (
    Acknowledgement,
    Fix,
    Outcome,
    Owed,
    OwedPlan,
    Status,
)
from bot.incidents.people import Standing

NOW = frozenset({OwedChoice.RERUN_NOW, OwedChoice.FRESH_START})
WRONG_CAUSE = "wrong_cause"


def acknowledged(draft: Draft, event: Acknowledged) -> None:
    """The first word wins; the holder may change how long it lasts."""
    held = draft.incident.acknowledgement
    if _absurd(draft, event):
        return
    if held is not None and held.until <= draft.now:
        held = None
    if held is not None and held.by.person.id != event.by.person.id:
        draft.tell(ToldKind.TAKEN, "somebody has it already", by=held.by.person, until=held.until)
        draft.note("also_acknowledged", f"{event.by.person} came second", by=event.by)
        return
    until = draft.now + (event.lasts or draft.situation.policy.chase.acknowledgement)
    first = held is None
    if held is not None and event.lasts is None:
        draft.tell(ToldKind.TAKEN, "you have it already", by=held.by.person, until=held.until)
        return
    noted_at = held.noted_at if held else None
    _hold(draft, Acknowledgement(by=held.by if held else event.by, until=until, noted_at=noted_at))
    draft.note("acknowledged", "taken" if first else "held for another time", by=event.by, until=until)
    draft.reply(ReplyKind.ACKNOWLEDGED, by=event.by, until=until, changed=not first)
    draft.tell(ToldKind.DONE, "it is yours", until=until)


def taken_over(draft: Draft, event: Acknowledged) -> None:
    """Another of the team takes it from its holder."""
    if _absurd(draft, event):
        return
    until = draft.now + (event.lasts or draft.situation.policy.chase.acknowledgement)
    before = draft.incident.acknowledgement
    _hold(draft, Acknowledgement(by=event.by, until=until))
    draft.note("taken_over", f"from {before.by.person}" if before else "taken", by=event.by, until=until)
    draft.reply(ReplyKind.ACKNOWLEDGED, by=event.by, until=until, taken_from=before.by.person if before else None)
    draft.tell(ToldKind.DONE, "it is yours", until=until)


def _absurd(draft: Draft, event: Acknowledged) -> bool:
    """An acknowledgement lasts some time, but not for ever."""
    longest = draft.situation.policy.limits.leave
    if event.lasts is None or timedelta() < event.lasts <= longest:
        return False
    draft.tell(ToldKind.INVALID, f"choose a time of at most {longest.days} days", about="lasts")
    return True


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
    draft.set(acknowledgement=None, chase=replace(chase, step=0, asked_at=draft.now, laddered_at=draft.now))
    draft.note("released", f"{held.by.person} no longer holds it", by=event.by)
    draft.reply(ReplyKind.RELEASED, by=event.by, held_by=held.by.person)
    draft.tell(ToldKind.DONE, "released")


def fixed(draft: Draft, event: FixDeclared) -> None:
    """Fixed completes nothing: what is owed is rerun, awaited or waived as chosen, and a good run confirms it."""
    incident = draft.incident
    choices = dict(event.choices)
    fix = Fix(by=event.by, what=event.what, cause=event.cause, link=event.link)
    waived = tuple(one for one in incident.owed if choices.get(one.nominal_time) is OwedChoice.NOT_NEEDED)
    kept = tuple(_planned(one, choices) for one in incident.owed if one not in waived)
    now_wanted = tuple(one for one in kept if choices.get(one.nominal_time) in NOW)
    afresh = tuple(time for time, choice in choices.items() if choice is OwedChoice.FRESH_START)
    refusal = rerun_words.cannot_rerun(draft, now_wanted) if now_wanted else None
    now_wanted = () if refusal else planning.worth_rerunning(now_wanted)
    reruns.withdraw(draft, f"{event.by.person} says that it is fixed")
    asking.acknowledge(draft, event.by)
    draft.set(
        fix=fix, owed=kept, waived=(*incident.waived, *waived), by_hand=None, verify_after=draft.now, unconfirmed=False
    )
    draft.note("fixed", event.what or "said to be fixed", by=event.by, cause=event.cause, link=event.link)
    unblocking.let_go(draft, (*waived, *(one for one in kept if one.plan is OwedPlan.NEXT_RUN)), event.by)
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
    draft.tell(ToldKind.DONE, f"recorded, but not rerun: {refusal}" if refusal else "recorded: a good run confirms it")
    if incident.failure.cause == opening.RETIRED_RAN and not kept:
        closing.resolve(draft, Outcome.FIXED, by=event.by)
    elif now_wanted:
        planning.request(draft, owed=now_wanted, by=event.by, reason="to confirm the fix", afresh=afresh)
    elif not rerun_words.running(draft):
        draft.set(status=Status.VERIFYING, verify_by=by, reason="waits for a good run to confirm the fix")


def not_fixed(draft: Draft, event: NotFixed) -> None:
    """The owner takes "fixed" back: it is open again, and theirs."""
    asking.acknowledge(draft, event.by)
    policy = draft.situation.policy
    owed = tuple(replace(one, plan=opening.plan_of(policy, one.nominal_time)) for one in draft.incident.owed)
    draft.set(
        status=Status.OPEN,
        owed=owed,
        fix=None,
        verify_by=None,
        unconfirmed=False,
        reason=f"{event.by.person}: not fixed",
    )
    draft.note("not_fixed", "taken back", by=event.by)
    draft.reply(ReplyKind.DECISION, decision="fixed", by=event.by, state="undone")
    draft.tell(ToldKind.DONE, "open again")


def fix_withdrawn(draft: Draft, event: NotFixed) -> None:
    """The fix is taken back while the rerun that should confirm it is under way: that one goes on."""
    draft.set(fix=None)
    draft.note("not_fixed", "taken back; the rerun goes on", by=event.by)
    draft.reply(ReplyKind.DECISION, decision="fixed", by=event.by, state="undone")
    draft.tell(ToldKind.DONE, "taken back; the rerun that is under way goes on")


def not_needed(draft: Draft, event: NotNeeded) -> None:
    """A person's word takes owed times away; with nothing left and no fix to confirm, it is settled."""
    incident = draft.incident
    times = set(event.nominal_times) if event.nominal_times else {one.nominal_time for one in incident.owed}
    given_up = tuple(one for one in incident.owed if one.nominal_time in times)
    waived = tuple(one.nominal_time for one in given_up)
    left = tuple(one for one in incident.owed if one.nominal_time not in times)
    if not waived and (incident.owed or incident.status is Status.VERIFYING):
        draft.tell(ToldKind.INVALID, "none of these times is owed", about="nominal_times")
        return
    asking.acknowledge(draft, event.by)
    draft.set(owed=left, waived=(*incident.waived, *given_up))
    draft.note("not_needed", event.reason or "not needed", by=event.by, nominal_times=waived)
    unblocking.let_go(draft, given_up, event.by)
    draft.reply(ReplyKind.NOT_NEEDED, by=event.by, nominal_times=waived, reason=event.reason)
    draft.tell(ToldKind.DONE, "recorded")
    if left:
        planning.refocus(draft, f"{event.by.person} says that it is not needed")
    elif draft.incident.status is not Status.VERIFYING:
        closing.resolve(draft, Outcome.NOT_NEEDED, by=event.by)


def still_needed(draft: Draft, event: StillNeeded) -> None:
    """ "Not needed" is taken back: what no good run has brought meanwhile is owed again."""
    incident, paid = draft.incident, draft.situation.paid
    times = set(event.nominal_times) if event.nominal_times else {one.nominal_time for one in incident.waived}
    back = tuple(one for one in incident.waived if one.nominal_time in times)
    owed = tuple(one for one in back if one.nominal_time is None or one.nominal_time not in paid)
    if not owed:
        draft.tell(ToldKind.INVALID, "a good run has brought it, or it is owed already", about="nominal_times")
        return
    asking.acknowledge(draft, event.by)
    waived = tuple(one for one in incident.waived if one not in back)
    draft.set(owed=opening.ordered((*incident.owed, *owed)), waived=waived)
    again = tuple(one.nominal_time for one in owed)
    draft.note("still_needed", "needed after all", by=event.by, nominal_times=again)
    draft.reply(ReplyKind.NOT_NEEDED, by=event.by, nominal_times=again, reason="", back=True)
    draft.tell(ToldKind.DONE, "owed again")


def wait(draft: Draft, event: WaitWanted) -> None:
    """The owner of a late run waits: an acknowledgement that ends when they said."""
    if not draft.incident.failure.late:
        draft.tell(ToldKind.OTHER_STATE, "no run of it is late", status=draft.incident.status)
        return
    if not draft.now < event.until <= draft.now + draft.situation.policy.limits.leave:
        draft.tell(ToldKind.INVALID, "choose an instant that is still to come, and not too far away", about="until")
        return
    _hold(draft, Acknowledgement(by=event.by, until=event.until))
    draft.note("waiting", "the owner waits for the late run", by=event.by, until=event.until)
    draft.reply(ReplyKind.ACKNOWLEDGED, by=event.by, until=event.until, waits=True)
    draft.tell(ToldKind.DONE, "nobody is asked until then", until=event.until)


def correct_cause(draft: Draft, event: CauseCorrected) -> None:
    """The owner names the true cause, or takes an earlier word on it back; it changes no licence by itself."""
    if not event.cause.strip():
        draft.tell(ToldKind.INVALID, "name the cause", about="cause")
        return
    ruled, earlier = draft.incident.failure.cause, draft.incident.corrected_cause
    back = event.cause == ruled and earlier not in (None, ruled)
    was = earlier if back and earlier else ruled
    draft.set(corrected_cause=None if back or event.cause == licence.UNKNOWN else event.cause)
    if draft.incident.status.unresolved:
        asking.acknowledge(draft, event.by)
    facts = {} if back or event.cause == ruled else {"correction": WRONG_CAUSE}
    draft.note("cause_corrected", event.note or event.cause, by=event.by, cause=event.cause, was=was, **facts)
    draft.reply(ReplyKind.CAUSE, by=event.by, cause=event.cause, note=event.note, was=was, back=back)
    draft.tell(ToldKind.DONE, "recorded")


def mark_cause(draft: Draft, event: CauseMarked) -> None:
    """The owning team's safe mark, or its revocation; it holds from the next failure on.

    Only a member marks, though whoever may decide may revoke: a wrong "safe" is the worst error.
    """
    failure = draft.incident.failure
    if event.safe and draft.situation.directory.standing(event.by.person, draft.now) is not Standing.OWNER:
        draft.tell(ToldKind.NOT_YOURS, "only a member of the owning team can mark a cause safe")
        return
    if event.safe:
        if draft.situation.handed is not None:
            draft.tell(ToldKind.CANNOT, "it was handed over: only the job's own team marks its causes safe")
            return
        never = licence.markable(event.cause, never_safe=failure.never_safe and failure.cause == event.cause)
        if never or draft.situation.policy.team is None:
            draft.tell(ToldKind.CANNOT, never or "the job has no owning team in policies.yaml")
            return
    draft.add(MarkCause(cause=event.cause, by=event.by, safe=event.safe))
    if draft.incident.status.unresolved:
        draft.set(first_word_at=draft.incident.first_word_at or event.by.at)
    draft.note("cause_marked" if event.safe else "mark_revoked", event.cause, by=event.by)
    draft.reply(ReplyKind.CAUSE, by=event.by, cause=event.cause, marked=event.safe, revoked=not event.safe)
    done = (
        "recorded: it holds from the next failure on" if event.safe else "revoked: it is not rerun by itself any more"
    )
    draft.tell(ToldKind.DONE, done)


def _hold(draft: Draft, held: Acknowledgement) -> None:
    draft.set(
        acknowledgement=held,
        first_word_at=draft.incident.first_word_at or held.by.at,
        chase=replace(draft.incident.chase, reason=""),
    )


def _planned(owed: Owed, choices: dict[datetime | None, OwedChoice]) -> Owed:
    if choices.get(owed.nominal_time) is OwedChoice.NEXT_RUN:
        return replace(owed, plan=OwedPlan.NEXT_RUN)
    return owed
