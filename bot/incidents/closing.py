"""How an occurrence comes to an end: good runs that pay what is owed, verification, and runs that only tell something."""

from dataclasses import replace
from datetime import datetime

from bot.incidents import asking, chronic, downstream, planning, reruns
from bot.incidents.chase import reachable
from bot.incidents.draft import Draft
from bot.incidents.effects import ReplyKind
from bot.incidents.events import RunCancelled, RunSkipped, RunStarted, RunSucceeded
from bot.incidents.keys import RunRef, Trigger
from bot.incidents.late_words import span
from bot.incidents.lateness import NOT_STARTED, delay_of
from bot.incidents.model import Incident, Outcome, Owed, OwedPlan, Rerun, RerunPhase, Status
from bot.incidents.people import By
from bot.incidents.situation import Situation


def started(draft: Draft, event: RunStarted) -> None:
    """A run began: ours, or by a person's hand, or one that only tells that things move."""
    incident = draft.incident
    rerun = incident.rerun
    if rerun is not None and reruns.ours(incident, event):
        if rerun.phase is RerunPhase.RUNNING:
            draft.note("rerun_started", "our rerun runs already", key=rerun.key)
        else:
            reruns.begin(draft, rerun, "our rerun started")
        return
    owed = next((one for one in incident.owed if one.nominal_time == event.run.nominal_time), None)
    if event.rerun_key is not None:
        draft.note("run_started", "an earlier rerun of ours started", run=event.run.run_id)
    elif owed is not None and event.run.trigger in (Trigger.MANUAL, Trigger.RERUN):
        _by_hand(draft, event)
    elif owed is not None and owed.failure.cause == NOT_STARTED:
        draft.reply(ReplyKind.RUN, what="started", run=event.run, by=event.by, nominal_time=event.run.nominal_time)
        draft.note("run_started", "the late run has started", run=event.run.run_id)
        _await_end(draft)
    else:
        draft.note("run_started", "another run of the job started", run=event.run.run_id)
        if any(would_pay(event.run, event.at, one, incident) for one in incident.owed):
            _await_end(draft)


def succeeded(draft: Draft, event: RunSucceeded) -> None:
    """A good run pays what it pays; nothing owed and nothing to verify: resolved."""
    rerun = draft.incident.rerun
    mine = reruns.settle(draft, event)
    incident = draft.incident
    left = tuple(owed for owed in incident.owed if not pays(event, owed, incident))
    paid = len(left) < len(incident.owed)
    if paid:
        draft.note("paid", "a good run paid what was owed", run=event.run.run_id)
    draft.set(owed=left)
    if not left and (paid or _confirms(event, incident)):
        resolve(draft, outcome_of(event, incident, mine=mine), event=event)
        chronic.consider(draft)
        return
    _still_owed(draft, event, ended=rerun if mine else None)


def cancelled(draft: Draft, event: RunCancelled) -> None:
    """Someone stopped a run: nothing is paid, and a rerun of ours that was stopped is the owner's again."""
    before = draft.incident
    rerun = before.rerun
    mine = reruns.settle(draft, event)
    who = event.by or "somebody"
    draft.note("run_cancelled", f"{who} stopped a run", run=event.run.run_id)
    if mine and rerun is not None:
        reruns.tell(draft, rerun, "stopped", reason=f"stopped by {who}")
        if before.status is Status.RERUNNING:
            _stopped(draft, f"the rerun was stopped by {who}")
        return
    is_owed = event.run.nominal_time in {owed.nominal_time for owed in before.owed}
    if is_owed or before.status is Status.VERIFYING:
        draft.reply(ReplyKind.RUN, what="cancelled", run=event.run, by=event.by, nominal_time=event.run.nominal_time)
    if is_owed:
        draft.set(chase=replace(before.chase, quiet_until=None))
    if before.by_hand == event.run.run_id:
        draft.set(by_hand=None)
        _stopped(draft, f"the run started by hand was stopped by {who}")


def skipped(draft: Draft, event: RunSkipped) -> None:
    """The scheduler left a run out: it confirms nothing."""
    draft.note("run_skipped", event.reason or "its scheduler skipped a run", run=event.run.run_id)
    if draft.incident.status is Status.VERIFYING:
        draft.reply(
            ReplyKind.RUN, what="skipped", run=event.run, reason=event.reason, nominal_time=event.run.nominal_time
        )


def unconfirmed(draft: Draft) -> None:
    """No run has confirmed the fix in time: ask the owner, and wait for the run after."""
    missed, verify_by_now = draft.incident.verify_by, verify_by(draft.situation, draft.now)
    draft.set(unconfirmed=True, verify_by=verify_by_now, reason="no good run has confirmed it in time")
    draft.note("unconfirmed", "no good run has confirmed it in time")
    whom = asking.on_it(draft)
    draft.reply(
        ReplyKind.UNCONFIRMED,
        mention=whom.mentions,
        elsewhere=whom.alone,
        verify_by=missed,
        fix=draft.incident.fix,
    )


def pays(event: RunSucceeded, owed: Owed, incident: Incident) -> bool:
    """Whether this good run brings what `owed` stands for."""
    return would_pay(event.run, event.at, owed, incident)


def would_pay(run: RunRef, at: datetime, owed: Owed, incident: Incident) -> bool:
    """Whether `run`, when it is good, brings what `owed` stands for; `at` is when it was seen."""
    if run.nominal_time is not None and run.nominal_time == owed.nominal_time:
        return True
    match owed.plan:
        case OwedPlan.SAME_RUN:
            return False
        case OwedPlan.ANY_LATER_RUN:
            if run.nominal_time is None or owed.nominal_time is None:
                return at >= owed.since
            return run.nominal_time > owed.nominal_time
        case OwedPlan.NEXT_RUN:
            return after_word(run, at, incident)


def resolve(draft: Draft, outcome: Outcome, *, event: RunSucceeded | None = None, by: By | None = None) -> None:
    """Settle the occurrence; a rerun that was already asked for keeps its place, so that its result is booked."""
    reruns.withdraw(draft, "what it was for is settled")
    incident = draft.incident
    delay = delay_of(incident.failure, event.at, draft.situation.usual_duration) if event else None
    draft.set(
        status=Status.RESOLVED,
        outcome=outcome,
        closed_at=draft.now,
        closed_by_run=event.run.run_id if event else None,
        owed=(),
        by_hand=None,
        unconfirmed=False,
        verify_by=None,
        chronic_at=None,
        delay=delay,
        measured=replace(incident.measured, good_at=event.at if event else None),
    )
    late = f", {span(delay)} after its deadline" if delay else ""
    draft.note("resolved", f"{outcome}{late}", by=by, run=event.run.run_id if event else None)
    draft.reply(
        ReplyKind.RESOLVED,
        outcome=outcome,
        run=event.run if event else None,
        nominal_time=event.run.nominal_time if event else None,
        delay=delay,
        by=by,
        hand=event.by if event else None,
        fix=incident.fix,
        downstream=downstream.released(draft),
    )


def outcome_of(event: RunSucceeded, incident: Incident, *, mine: bool) -> Outcome:
    """Who or what brought the good run."""
    if incident.fix is not None:
        return Outcome.FIXED
    if mine or event.rerun_key is not None:
        return Outcome.RECOVERED
    if event.run.trigger in (Trigger.MANUAL, Trigger.RERUN, Trigger.BACKFILL):
        return Outcome.RECOVERED_BY_HAND
    return Outcome.RECOVERED_ALONE


def verify_by(situation: Situation, now: datetime) -> datetime:
    """When a fix that no run has confirmed is unconfirmed: the next run, its usual duration and grace."""
    if situation.next_run_at is None:
        return reachable(situation, now + situation.policy.limits.verify_without_schedule)
    usual = situation.usual_duration or situation.policy.late.learned_floor
    return reachable(situation, situation.next_run_at + usual + situation.policy.late.grace)


def _by_hand(draft: Draft, event: RunStarted) -> None:
    """Somebody runs what is owed by hand: a rerun or an approval that waits is taken back, and this run awaited."""
    incident = draft.incident
    rerun = incident.rerun
    waiting = incident.proposal is not None or (rerun is not None and rerun.phase in reruns.WAITING)
    who = event.by or "somebody"
    draft.note("run_by_hand", f"{who} started a run of what is owed", run=event.run.run_id)
    draft.reply(
        ReplyKind.RUN, what="by_hand", run=event.run, by=event.by, nominal_time=event.run.nominal_time, withdrew=waiting
    )
    if waiting:
        reruns.withdraw(draft, f"{who} started a run of it by hand")
        draft.set(by_hand=event.run.run_id)
    _await_end(draft)


def _await_end(draft: Draft) -> None:
    """A run that may pay is under way: nobody is asked before it is expected to have ended."""
    situation = draft.situation
    usual = situation.usual_duration or situation.policy.late.learned_floor
    quiet_until = draft.now + usual + situation.policy.rerun.result_grace
    draft.set(chase=replace(draft.incident.chase, quiet_until=quiet_until))


def _stopped(draft: Draft, reason: str) -> None:
    """What would have paid was stopped: the owner is asked, but a holder, who follows it, only reads it."""
    draft.set(status=Status.OPEN, reason=reason)
    if draft.incident.acknowledgement is None:
        asking.ask_owner(draft, reason)


def _confirms(event: RunSucceeded, incident: Incident) -> bool:
    """Nothing is owed; only a run after the owner's word, were it "fixed" or "not fixed", can settle it."""
    return not incident.owed and after_word(event.run, event.at, incident)


def after_word(run: RunRef, at: datetime, incident: Incident) -> bool:
    """Whether `run`, seen at `at`, tells anything about the owner's last word: it was due, or asked for, after it."""
    since = incident.verify_after
    if since is None or at <= since:
        return False
    return run.nominal_time is None or run.nominal_time > since or run.trigger in (Trigger.MANUAL, Trigger.RERUN)


def _still_owed(draft: Draft, event: RunSucceeded, *, ended: Rerun | None) -> None:
    """A good run that leaves something owed: go on with the rest, or say once that it is still owed."""
    incident = draft.incident
    if ended is not None and incident.status is Status.RERUNNING:
        draft.set(status=Status.OPEN)
        _tell_owed(draft, event, paid=True)
        planning.follow(draft, ended)
        return
    planning.refocus(draft, "what it was for has a good run")
    draft.note("good_run", "a good run that does not bring what is owed", run=event.run.run_id)
    if incident.noted == 0 and incident.owed:
        _tell_owed(draft, event)
    draft.set(noted=incident.noted + 1)


def _tell_owed(draft: Draft, event: RunSucceeded, *, paid: bool = False) -> None:
    """Say what is still owed; `paid`: the run brought its own part of it."""
    draft.reply(
        ReplyKind.OWED_REMAINS,
        ran=event.run.nominal_time,
        paid=paid,
        owed=tuple(owed.nominal_time for owed in draft.incident.owed),
    )
