"""The incident's state machine: what becomes of an occurrence when something happens. Pure and total; no clock, no I/O.

Rules that hold for every decision (each has a property test):

- An unknown, unmarked or doubtful cause never leads to an automatic rerun; neither does a used-up budget.
- What is owed disappears only by a good run or by a person's word.
- Every unresolved occurrence has a live timer: timers are a projection of the incident (`model.timers_of`).
- Only owners, the on-call and admins decide; a refusal is an answer and leaves a note.
- A status changes only along the edges below.

    (none)             -> open, rerunning, awaiting_approval          a failure or late run opens an occurrence
    open               -> rerunning, awaiting_approval, verifying, resolved, paused, retired, left
    rerunning          -> open, awaiting_approval, verifying, resolved, paused, retired, left
    awaiting_approval  -> open, rerunning, verifying, resolved, paused, retired, left
    verifying          -> open, rerunning, resolved, paused, retired, left
    paused             -> open, verifying, resolved                   its end, a resumption, Reopen
    retired            -> open, verifying                             Un-retire
    left               -> open, resolved                              its end, Not left
    resolved           -> open                                        Reopen (a failure opens a new occurrence instead)
"""

from dataclasses import replace
from datetime import datetime

from bot.incidents import asking, closing, holding, opening, reruns, words
from bot.incidents.chase import next_ask
from bot.incidents.draft import Draft
from bot.incidents.effects import ReplyKind, ToldKind
from bot.incidents.events import (
    Acknowledged,
    Approved,
    CauseCorrected,
    CauseMarked,
    Declined,
    DeliveryBuried,
    Event,
    FixDeclared,
    LeaveWanted,
    NotFixed,
    NotNeeded,
    PauseWanted,
    PersonEvent,
    Released,
    RerunWanted,
    RetireWanted,
    RunCancelled,
    RunFailed,
    RunLate,
    RunSkipped,
    RunStarted,
    RunSucceeded,
    ScheduleChanged,
    SchedulerAnswered,
    StartWanted,
    StopRerunWanted,
    TimerDue,
    UndoWanted,
    WaitWanted,
)
from bot.incidents.keys import Action
from bot.incidents.model import (
    UNRESOLVED,
    Incident,
    Status,
    TimerKind,
    timers_of,
)
from bot.incidents.people import Standing
from bot.incidents.situation import Decision, Situation

S = Status
EDGES: dict[Status | None, frozenset[Status]] = {
    None: frozenset({S.OPEN, S.RERUNNING, S.AWAITING_APPROVAL}),
    S.OPEN: frozenset({S.RERUNNING, S.AWAITING_APPROVAL, S.VERIFYING, S.RESOLVED, S.PAUSED, S.RETIRED, S.LEFT}),
    S.RERUNNING: frozenset({S.OPEN, S.AWAITING_APPROVAL, S.VERIFYING, S.RESOLVED, S.PAUSED, S.RETIRED, S.LEFT}),
    S.AWAITING_APPROVAL: frozenset({S.OPEN, S.RERUNNING, S.VERIFYING, S.RESOLVED, S.PAUSED, S.RETIRED, S.LEFT}),
    S.VERIFYING: frozenset({S.OPEN, S.RERUNNING, S.RESOLVED, S.PAUSED, S.RETIRED, S.LEFT}),
    S.PAUSED: frozenset({S.OPEN, S.VERIFYING, S.RESOLVED}),
    S.RETIRED: frozenset({S.OPEN, S.VERIFYING}),
    S.LEFT: frozenset({S.OPEN, S.RESOLVED}),
    S.RESOLVED: frozenset({S.OPEN}),
}


class ForbiddenTransition(AssertionError):
    """A transition took an edge that is not in the table: a bug, never an input's fault."""


def decide(incident: Incident | None, event: Event, situation: Situation, now: datetime) -> Decision:
    """Return what becomes of `incident` (None: the job has none that this event is about), and all that must be done.

    The version rises by one whenever the incident changed. Raises only `ForbiddenTransition`.
    """
    draft = Draft(incident, situation, now)
    if incident is None:
        _without_incident(draft, event)
    elif incident.status.unresolved:
        _unresolved(draft, event)
    else:
        _settled(draft, event)
    return _finished(draft, incident)


def concerns(
    event: Event, unresolved: Incident | None, in_force: tuple[Incident, ...], newest: Incident | None
) -> Incident | None:
    """Which of a job's occurrences a run's event is about: the unresolved one, else one in force that covers it.

    A settled occurrence is concerned by the end of a rerun that it had asked for.
    """
    if unresolved is not None:
        return unresolved
    for held in in_force:
        match held.status, event:
            case Status.PAUSED, _:
                return held
            case Status.RETIRED, _ if held.decision is not None and held.decision.silences_only:
                return held
            case Status.LEFT, RunFailed() | RunLate() if event.failure.fingerprint == held.failure.fingerprint:
                return held
    if newest is not None and isinstance(event, RunSucceeded | RunCancelled) and reruns.ours(newest, event):
        return newest
    return None


def still_wanted(incident: Incident | None, key: str, action: Action, now: datetime) -> bool:
    """Whether a request to a scheduler may still be sent: asked in the transaction that commits `sending`."""
    if incident is None:
        return False
    rerun, decision = incident.rerun, incident.decision
    match action:
        case Action.RERUN | Action.START:
            waits = rerun is not None and rerun.key == key and incident.status is Status.RERUNNING
            return waits and rerun is not None and (rerun.due_at is None or now < rerun.due_at)
        case Action.STOP:
            return rerun is not None and key.startswith(rerun.key)
        case Action.PAUSE | Action.RETIRE:
            return decision is not None and decision.key == key and decision.in_force_at is None
        case Action.RESUME:
            return decision is not None and decision.key == key


def _without_incident(draft: Draft, event: Event) -> None:
    match event:
        case RunFailed() | RunLate():
            opening.open_incident(draft, event)
        case RunStarted() if draft.situation.retired:
            opening.retired_ran(draft, event)
        case _:
            draft.note("no_incident", f"{type(event).__name__} opens nothing")


def _unresolved(draft: Draft, event: Event) -> None:
    match event:
        case RunFailed() | RunLate():
            opening.join(draft, event)
        case RunStarted():
            closing.started(draft, event)
        case RunSucceeded():
            closing.succeeded(draft, event)
        case RunCancelled():
            closing.cancelled(draft, event)
        case RunSkipped():
            closing.skipped(draft, event)
        case ScheduleChanged():
            draft.note("schedule_changed", event.reason or "its next runs were worked out anew")
        case TimerDue():
            _timer(draft, event)
        case SchedulerAnswered():
            _answered(draft, event)
        case DeliveryBuried():
            draft.note("not_delivered", f"{event.what} to {event.destination}: {event.code}")
        case _:
            _said(draft, event)


def _said(draft: Draft, event: PersonEvent) -> None:
    """A person's word on an unresolved occurrence: first who they are, then what they may do in this status."""
    if not _may_decide(draft, event):
        return
    match draft.incident.status, event:
        case _, Acknowledged(take_over=True):
            words.taken_over(draft, event)
        case _, Acknowledged():
            words.acknowledged(draft, event)
        case _, Released():
            words.released(draft, event)
        case Status.AWAITING_APPROVAL | Status.OPEN | Status.VERIFYING | Status.RERUNNING, RerunWanted():
            words.rerun(draft, event)
        case _, StopRerunWanted():
            words.stop_rerun(draft, event)
        case _, Approved():
            words.approved(draft, event)
        case _, Declined():
            words.declined(draft, event)
        case _, FixDeclared():
            words.fixed(draft, event)
        case Status.VERIFYING, NotFixed():
            words.not_fixed(draft, event)
        case _, NotNeeded():
            words.not_needed(draft, event)
        case _, PauseWanted():
            holding.pause(draft, event)
        case _, RetireWanted():
            holding.retire(draft, event)
        case _, LeaveWanted():
            holding.leave(draft, event)
        case Status.OPEN, WaitWanted():
            words.wait(draft, event)
        case Status.OPEN, StartWanted():
            words.start(draft, event)
        case _, CauseCorrected():
            words.correct_cause(draft, event)
        case _, CauseMarked():
            words.mark_cause(draft, event)
        case _:
            _other_state(draft, event)


def _settled(draft: Draft, event: Event) -> None:
    if isinstance(event, RunSucceeded | RunFailed | RunCancelled):
        reruns.settle(draft, event)
    match draft.incident.status, event:
        case _, RunFailed(will_retry=True):
            draft.note("attempt_failed", "its scheduler tries again")
        case _, RunFailed() | RunLate():
            holding.failed_while_held(draft, event)
        case Status.PAUSED, RunStarted() | RunSucceeded():
            holding.ran_while_held(draft, event)
        case Status.PAUSED | Status.LEFT, TimerDue() if event.timer in timers_of(draft.incident):
            holding.ended(draft)
        case _, SchedulerAnswered():
            _answered(draft, event)
        case Status.PAUSED, PauseWanted():
            if _may_decide(draft, event):
                holding.pause(draft, event)
        case _, UndoWanted():
            if _may_decide(draft, event):
                holding.undo(draft, event)
        case _, CauseCorrected():
            if _may_decide(draft, event):
                words.correct_cause(draft, event)
        case _, CauseMarked():
            if _may_decide(draft, event):
                words.mark_cause(draft, event)
        case _, RunStarted() | RunSucceeded() | RunCancelled() | RunSkipped() | ScheduleChanged():
            draft.note("after", f"{type(event).__name__} changes nothing: it is {draft.incident.status}")
        case _, TimerDue() | DeliveryBuried():
            draft.note("stale", f"{type(event).__name__} is about something that is over")
        case _:
            _tell_settled(draft, event)


def _timer(draft: Draft, event: TimerDue) -> None:
    incident = draft.incident
    if event.timer not in timers_of(incident):
        draft.note("stale", f"a timer ({event.timer.kind}) that is no longer set")
        return
    match event.timer.kind:
        case TimerKind.ASK if incident.chase.next is not None:
            asking.ask_due(draft, incident.chase.next)
        case TimerKind.RERUN if incident.rerun is not None:
            reruns.due(draft, incident.rerun)
        case TimerKind.APPROVAL:
            _approval_expired(draft)
        case TimerKind.VERIFY:
            _unconfirmed(draft)


def _approval_expired(draft: Draft) -> None:
    """No answer means no."""
    reason = "nobody said yes in time: the rerun is not made"
    draft.set(status=Status.OPEN, proposal=None, reason=reason)
    draft.note("expired", reason)
    draft.reply(ReplyKind.DECISION, decision="approval", state="expired")
    asking.ask_owner(draft, reason)


def _unconfirmed(draft: Draft) -> None:
    """No run has confirmed the fix in time: ask the owner, and wait for the run after."""
    verify_by = closing.verify_by(draft.situation, draft.now)
    draft.set(unconfirmed=True, verify_by=verify_by, reason="no good run has confirmed it in time")
    draft.note("unconfirmed", "no good run has confirmed it in time")
    draft.reply(ReplyKind.UNCONFIRMED, mention=asking.on_it(draft), verify_by=verify_by, fix=draft.incident.fix)


def _answered(draft: Draft, event: SchedulerAnswered) -> None:
    incident = draft.incident
    if event.action in (Action.RERUN, Action.START):
        if incident.rerun is not None and incident.rerun.key == event.key:
            reruns.answered(draft, incident.rerun, event)
        else:
            draft.note("stale_answer", f"an answer to {event.key}, which nothing waits for")
    elif event.action is Action.STOP:
        draft.note("stop_answered", f"{event.answer} {event.message}".strip(), key=event.key)
    else:
        holding.answered(draft, event)


def _may_decide(draft: Draft, event: PersonEvent) -> bool:
    """Owners, the on-call and admins decide; others are told who can, and leave at most a trace."""
    standing = draft.situation.directory.standing(event.by.person, draft.now)
    if standing.decides:
        return True
    if standing is Standing.OUTSIDER and draft.incident.status.unresolved:
        match event:
            case Acknowledged():
                words.watching(draft, event)
                return False
            case RerunWanted():
                words.outsider_rerun(draft, event)
                return False
    if standing is Standing.UNSURE:
        draft.tell(ToldKind.UNSURE, "who belongs to the owning team could not be read lately")
    else:
        draft.tell(ToldKind.NOT_YOURS, "only the owning team, its on-call or an admin decides")
    draft.note("refused", f"{type(event).__name__} by {event.by.person}, who may not decide", by=event.by)
    return False


def _other_state(draft: Draft, event: PersonEvent) -> None:
    draft.tell(ToldKind.OTHER_STATE, f"it is {draft.incident.status}", status=draft.incident.status)
    draft.note("refused", f"{type(event).__name__} does not fit: it is {draft.incident.status}", by=event.by)


def _tell_settled(draft: Draft, event: PersonEvent) -> None:
    incident = draft.incident
    by = incident.decision.by.person if incident.decision else None
    draft.tell(ToldKind.SETTLED, f"it is {incident.status}", status=incident.status, run=incident.closed_by_run, by=by)
    draft.note("too_late", f"{type(event).__name__} came when it was {incident.status}", by=event.by)


def _finished(draft: Draft, before: Incident | None) -> Decision:
    """Work out the next ask, raise the version, and hold the decision against the table of edges."""
    decision = draft.decision()
    after = decision.incident
    if after is None:
        return decision
    if after.status in UNRESOLVED:
        after = replace(after, chase=replace(after.chase, next=next_ask(after, draft.situation, draft.now)))
    elif after.chase.next is not None:
        after = replace(after, chase=replace(after.chase, next=None))
    if after == before:
        return replace(decision, incident=before)
    came_from = before.status if before else None
    if after.status != came_from and after.status not in EDGES[came_from]:
        raise ForbiddenTransition(f"{came_from} -> {after.status}")
    return replace(decision, incident=replace(after, version=after.version + 1))
