"""Pause, retire, leave, and taking them back: recorded when said, in force when the scheduler confirms, over at their end."""

from dataclasses import replace
from datetime import datetime

from bot.incidents import asking, closing, opening, reach, reruns
from bot.incidents.draft import Draft
from bot.incidents.effects import AskScheduler, ReplyKind, ToldKind
from bot.incidents.events import (
    AnswerKind,
    LeaveWanted,
    PauseWanted,
    RetireWanted,
    RunFailed,
    RunLate,
    RunStarted,
    RunSucceeded,
    SchedulerAnswered,
    UndoWanted,
)
from bot.incidents.keys import Action, Capability, Trigger
from bot.incidents.model import (
    AtEnd,
    Chase,
    DecisionKind,
    Outcome,
    Owed,
    OwedPlan,
    OwnerDecision,
    Status,
)
from bot.incidents.people import By
from bot.incidents.reach import Reach

BY_HAND = "its schedule is still stopped: its scheduler must be told by hand, for it cannot be asked to resume it"
HELD = {DecisionKind.PAUSED: Status.PAUSED, DecisionKind.RETIRED: Status.RETIRED, DecisionKind.LEFT: Status.LEFT}


def pause(draft: Draft, event: PauseWanted) -> None:
    """Pause the schedule until an instant; on a paused occurrence it changes that instant."""
    if event.until <= draft.now:
        draft.tell(ToldKind.INVALID, "choose an instant that is still to come", about="until")
        return
    before = draft.incident.decision
    waits = before is not None and before.pending and before.kind is DecisionKind.PAUSED
    if before is not None and (waits or draft.incident.status is Status.PAUSED):
        draft.set(decision=replace(before, until=event.until, at_end=event.at_end))
        draft.note("pause_changed", event.reason or "another end", by=event.by, until=event.until)
        _tell(draft, "changed")
        draft.tell(ToldKind.DONE, "changed", until=event.until)
        return
    decision = OwnerDecision(
        kind=DecisionKind.PAUSED, by=event.by, reason=event.reason, until=event.until, at_end=event.at_end
    )
    _record(draft, decision, Action.PAUSE, Capability.PAUSE)


def retire(draft: Draft, event: RetireWanted) -> None:
    """The job shall run no more."""
    decision = OwnerDecision(kind=DecisionKind.RETIRED, by=event.by, reason=event.reason)
    _record(draft, decision, Action.RETIRE, Capability.RETIRE)


def leave(draft: Draft, event: LeaveWanted) -> None:
    """Known and left as it is until an instant, at most the policy's limit away; nothing is asked of the scheduler."""
    limit = draft.now + draft.situation.policy.limits.leave
    if _refuses_while_pending(draft):
        return
    before = draft.incident.decision
    if before is not None and before.holds_schedule:
        draft.tell(ToldKind.OTHER_STATE, "its schedule is still stopped: resume it first", status=draft.incident.status)
        return
    if event.until <= draft.now or event.until > limit:
        days = draft.situation.policy.limits.leave.days
        draft.tell(ToldKind.INVALID, f"choose an instant that is to come, at most {days} days away", about="until")
        return
    decision = OwnerDecision(
        kind=DecisionKind.LEFT,
        by=event.by,
        reason=event.reason,
        until=event.until,
        recorded_at=draft.now,
        in_force_at=draft.now,
        false_alarm=event.false_alarm,
    )
    _begin(draft, decision)
    _hold(draft, decision)
    draft.tell(ToldKind.DONE, "left until then", until=event.until)


def answered(draft: Draft, event: SchedulerAnswered) -> None:
    """The scheduler's word on a pause, retirement or resumption that was asked for."""
    decision = draft.incident.decision
    if decision is None or event.key != decision.key:
        draft.note("stale_answer", f"an answer to {event.key}, which nothing waits for")
        return
    if event.action is Action.RESUME:
        _resume_answered(draft, decision, event)
    elif decision.in_force_at is not None:
        draft.note("answered", "it was in force already", key=event.key)
    elif event.answer in (AnswerKind.TAKEN, AnswerKind.STARTED):
        _hold(draft, replace(decision, in_force_at=draft.now, refused=None))
    else:
        _not_in_force(draft, decision, event)


def ended(draft: Draft) -> None:
    """`until` has come: a pause is resumed or its owner asked; what only was silent is settled if it was good since."""
    incident, situation = draft.incident, draft.situation
    decision = incident.decision
    if decision is None:
        return
    over = f"the time for which it was {decision.kind} is over"
    by_itself = decision.holds_schedule and decision.at_end is AtEnd.RESUME
    if by_itself and Capability.RESUME in situation.can:
        _resume(draft, decision, None)
    elif situation.unresolved is not None:
        draft.note("ended", f"it goes on in record {situation.unresolved}")
        closing.resolve(draft, Outcome.NOT_NEEDED)
    elif decision.holds_schedule:
        _ask_again(draft, f"{over}: shall it be resumed?" if not by_itself else f"{over}; {BY_HAND}")
    elif situation.last_good_at is not None and situation.last_good_at > decision.by.at:
        closing.resolve(draft, Outcome.RECOVERED_ALONE)
    else:
        _ask_again(draft, over)


def undo(draft: Draft, event: UndoWanted) -> None:
    """Take a settled word back, unless the job has another unresolved occurrence; a schedule that we hold is resumed."""
    incident, situation = draft.incident, draft.situation
    decision = incident.decision
    holds = decision is not None and decision.holds_schedule
    if situation.unresolved is not None and not (holds and Capability.RESUME in situation.can):
        draft.tell(ToldKind.SETTLED, "another occurrence of the job is unresolved", record=situation.unresolved)
        return
    word = decision.kind if decision is not None and holds else incident.status
    draft.note("undone", event.reason or f"{word} was taken back", by=event.by)
    if decision is not None and holds and Capability.RESUME in situation.can:
        _resume(draft, decision, event.by)
        draft.tell(ToldKind.DONE, "asked its scheduler to resume it")
        return
    draft.reply(ReplyKind.DECISION, decision=word, by=event.by, state="undone", reason=event.reason)
    if not incident.status.unresolved:
        _reopen(draft, f"{event.by.person} reopened it")
    asking.acknowledge(draft, event.by)
    draft.tell(ToldKind.DONE, f"open again, and yours; {BY_HAND}" if holds else "open again, and yours")


def failed_while_held(draft: Draft, event: RunFailed | RunLate) -> None:
    """A failure while paused, silenced or left is noted; nobody is asked."""
    draft.set(noted=draft.incident.noted + 1, failure=event.failure)
    draft.note("noted", f"failed while {draft.incident.status}", cause=event.failure.cause, run=event.run.run_id)


def ran_while_held(draft: Draft, event: RunStarted | RunSucceeded) -> None:
    """A scheduled run while paused: somebody resumed it by hand, and that counts."""
    decision = draft.incident.decision
    draft.note("ran", f"a run while {draft.incident.status}", run=event.run.run_id)
    if isinstance(event, RunSucceeded):
        owed = tuple(one for one in draft.incident.owed if not closing.pays(event, one, draft.incident))
        draft.set(owed=owed)
    since, nominal_time = decision.in_force_at if decision else None, event.run.nominal_time
    scheduled = event.run.trigger is Trigger.SCHEDULE and event.rerun_key is None
    if decision is None or not decision.holds_schedule or since is None or nominal_time is None or not scheduled:
        return
    if draft.incident.status is not Status.PAUSED or nominal_time <= since or draft.situation.unresolved is not None:
        return
    _verify(draft, "its schedule was resumed by hand", since=since)
    draft.set(decision=replace(decision, resumed_at=draft.now))
    draft.reply(ReplyKind.RESUMED, by=None, by_hand=True, verify_by=draft.incident.verify_by)
    if isinstance(event, RunSucceeded):
        closing.succeeded(draft, event)


def _record(draft: Draft, decision: OwnerDecision, action: Action, needs: Capability) -> None:
    """Write the decision down and ask the scheduler; what it cannot do only silences, and says so."""
    if _refuses_while_pending(draft):
        return
    decision = replace(decision, recorded_at=draft.now)
    _begin(draft, decision)
    if needs not in draft.situation.can:
        _hold(draft, replace(decision, in_force_at=draft.now, silences_only=True))
        draft.tell(ToldKind.DONE, "only silenced: its scheduler cannot be asked")
        return
    key = f"{draft.incident.job}@{draft.incident.opened_at:%Y%m%dT%H%M%S%fZ}:{action}:{draft.incident.version + 1}"
    draft.set(decision=replace(decision, key=key))
    draft.add(AskScheduler(action=action, key=key, by=decision.by, reason=decision.reason))
    _tell(draft, "recorded")
    draft.tell(ToldKind.DONE, "recorded; in force when its scheduler confirms")


def _refuses_while_pending(draft: Draft) -> bool:
    """One request at a time: what the scheduler has not answered yet may still come into force."""
    decision = draft.incident.decision
    if decision is None or not decision.pending:
        return False
    reason = f"{decision.by.person} decided that it is {decision.kind}, and its scheduler has not answered yet"
    draft.tell(ToldKind.OTHER_STATE, reason, status=draft.incident.status)
    return True


def _begin(draft: Draft, decision: OwnerDecision) -> None:
    reruns.withdraw(draft, f"{decision.by.person} decided: {decision.kind}")
    asking.acknowledge(draft, decision.by)
    draft.set(decision=decision)
    draft.note("decided", decision.reason or str(decision.kind), by=decision.by, until=decision.until)


def _hold(draft: Draft, decision: OwnerDecision) -> None:
    """The decision is in force: the occurrence is settled by it."""
    draft.set(
        status=HELD[decision.kind],
        decision=decision,
        closed_at=draft.now,
        closed_by_run=None,
        outcome=None,
        proposal=None,
        by_hand=None,
        verify_by=None,
        noted=0,
        reason=decision.reason,
    )
    draft.note("in_force", "silences only" if decision.silences_only else "in force", by=decision.by)
    _tell(draft, "silences_only" if decision.silences_only else "in_force")


def _not_in_force(draft: Draft, decision: OwnerDecision, event: SchedulerAnswered) -> None:
    """Refused, or nobody can tell: who decided is told, and the chase goes on."""
    message = event.message or "its scheduler did not confirm it"
    draft.set(decision=replace(decision, refused=message))
    draft.note("not_in_force", message, by=decision.by)
    _tell(draft, "refused", message=message)
    if not draft.incident.status.unresolved:
        return
    draft.set(acknowledgement=None)
    asking.ask_owner(draft, f"{decision.kind} is not in force: {message}", also=(decision.by.person,))


def _resume(draft: Draft, decision: OwnerDecision, by: By | None) -> None:
    """Ask the scheduler to resume what we paused, and wait for the next good run, unless the job's trouble is elsewhere."""
    key = f"{draft.incident.job}@{draft.incident.opened_at:%Y%m%dT%H%M%S%fZ}:resume:{draft.incident.version + 1}"
    draft.add(AskScheduler(action=Action.RESUME, key=key, by=by, reason="the pause is over"))
    draft.set(decision=replace(decision, key=key, resumed_at=draft.now))
    if draft.situation.unresolved is not None:
        draft.note("ended", f"it goes on in record {draft.situation.unresolved}", by=by)
        closing.resolve(draft, Outcome.NOT_NEEDED, by=by)
        return
    _verify(draft, "resumed: waits for a good run", since=draft.now)
    if by is not None:
        asking.acknowledge(draft, by)
    draft.reply(ReplyKind.RESUMED, by=by, was=decision.kind, verify_by=draft.incident.verify_by)


def _resume_answered(draft: Draft, decision: OwnerDecision, event: SchedulerAnswered) -> None:
    if event.answer in (AnswerKind.TAKEN, AnswerKind.STARTED):
        draft.note("resumed", "its scheduler resumed it", key=event.key)
        return
    message = event.message or "its scheduler did not confirm it"
    draft.set(decision=replace(decision, resumed_at=None))
    draft.note("not_resumed", message, key=event.key)
    unresolved = draft.incident.status.unresolved
    who = Reach() if unresolved else reach.person_alone(draft.incident, draft.situation, decision.by.person)
    draft.reply(
        ReplyKind.RESUMED, mention=who.mentions, elsewhere=who.alone, by=decision.by, refused=True, message=message
    )
    if draft.incident.status is Status.VERIFYING:
        draft.set(status=Status.OPEN, verify_by=None)
    if unresolved:
        draft.set(acknowledgement=None, reason=f"not resumed: {message}")
        asking.ask_owner(draft, f"it could not be resumed: {message}", also=(decision.by.person,))


def _verify(draft: Draft, reason: str, *, since: datetime) -> None:
    """Unresolved again, waiting for the next good run; what was owed at the decision is paid by it (the owner's word)."""
    owed = tuple(replace(one, plan=OwedPlan.NEXT_RUN) for one in draft.incident.owed)
    draft.set(
        status=Status.VERIFYING,
        owed=owed,
        verify_after=since,
        verify_by=closing.verify_by(draft.situation, draft.now),
        closed_at=None,
        acknowledgement=None,
        unconfirmed=False,
        reason=reason,
    )
    draft.note("verifying", reason)


def _ask_again(draft: Draft, reason: str) -> None:
    _reopen(draft, reason)
    asking.ask_owner(draft, reason)


def _reopen(draft: Draft, reason: str) -> None:
    """Open again with what is owed, or what a word took away; what a good run has paid is confirmed by the next one."""
    incident, situation = draft.incident, draft.situation
    known = {one.nominal_time: one for one in (*incident.waived, *incident.owed)}
    owed = tuple(one for time, one in known.items() if time is None or time not in situation.paid)
    if not owed and incident.failure.cause != opening.RETIRED_RAN:
        failure = incident.failure
        time = failure.run.nominal_time
        plan = OwedPlan.NEXT_RUN if time in situation.paid or time is None else OwedPlan.SAME_RUN
        owed = (Owed(nominal_time=time, since=failure.at, failure=failure, plan=plan),)
    draft.set(
        status=Status.OPEN,
        owed=opening.ordered(owed),
        waived=(),
        outcome=None,
        fix=None if incident.outcome is Outcome.FIXED else incident.fix,
        closed_at=None,
        closed_by_run=None,
        acknowledgement=None,
        chase=Chase(count=incident.chase.count, asked_before=incident.chase.asked_before),
        verify_after=draft.now,
        reason=reason,
    )
    draft.note("reopened", reason)


def _tell(draft: Draft, state: str, *, message: str = "") -> None:
    decision = draft.incident.decision
    if decision is None:
        return
    draft.reply(
        ReplyKind.DECISION,
        decision=decision.kind,
        by=decision.by,
        until=decision.until,
        reason=decision.reason,
        at_end=decision.at_end,
        false_alarm=decision.false_alarm,
        state=state,
        message=message,
    )
