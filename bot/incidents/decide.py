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
    retired            -> open, verifying, resolved                   Un-retire
    left               -> open, resolved                              its end, Not left
    resolved           -> open, verifying, paused, retired            Reopen; Resume of a schedule that is still stopped; a
                                                                      pause that comes into force after the good run
                                                                      (a failure opens a new occurrence instead)
"""

from dataclasses import replace
from datetime import datetime

from bot.incidents import (
    asking,
    chronic,
    closing,
    handover,
    holding,
    opening,
    planning,
    refusals,
    rerun_words,
    reruns,
    storms,
    waves,
    words,
)
from bot.incidents.chase import next_ask
from bot.incidents.draft import Draft
from bot.incidents.effects import Note, ReplyKind, ToldKind
from bot.incidents.events import (
    Acknowledged,
    AnswerKind,
    Approved,
    CauseCorrected,
    CauseMarked,
    Declined,
    DeliveryBuried,
    Event,
    FixDeclared,
    HandBackWanted,
    HandOverWanted,
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
    StillNeeded,
    StopRerunWanted,
    ThreadMoved,
    TimerDue,
    UndoWanted,
    WaitWanted,
)
from bot.incidents.keys import Action
from bot.incidents.matching import concerns, still_wanted
from bot.incidents.model import (
    UNRESOLVED,
    Incident,
    Status,
    TimerKind,
    timers_of,
)
from bot.incidents.situation import Decision, Situation
from bot.incidents.storm_events import StormEvent

__all__ = ["ForbiddenTransition", "concerns", "decide", "still_wanted"]

GOES_ON = (AnswerKind.TAKEN, AnswerKind.STARTED)
S = Status
EDGES: dict[Status | None, frozenset[Status]] = {
    None: frozenset({S.OPEN, S.RERUNNING, S.AWAITING_APPROVAL}),
    S.OPEN: frozenset({S.RERUNNING, S.AWAITING_APPROVAL, S.VERIFYING, S.RESOLVED, S.PAUSED, S.RETIRED, S.LEFT}),
    S.RERUNNING: frozenset({S.OPEN, S.AWAITING_APPROVAL, S.VERIFYING, S.RESOLVED, S.PAUSED, S.RETIRED, S.LEFT}),
    S.AWAITING_APPROVAL: frozenset({S.OPEN, S.RERUNNING, S.VERIFYING, S.RESOLVED, S.PAUSED, S.RETIRED, S.LEFT}),
    S.VERIFYING: frozenset({S.OPEN, S.RERUNNING, S.RESOLVED, S.PAUSED, S.RETIRED, S.LEFT}),
    S.PAUSED: frozenset({S.OPEN, S.VERIFYING, S.RESOLVED}),
    S.RETIRED: frozenset({S.OPEN, S.VERIFYING, S.RESOLVED}),
    S.LEFT: frozenset({S.OPEN, S.RESOLVED}),
    S.RESOLVED: frozenset({S.OPEN, S.VERIFYING, S.PAUSED, S.RETIRED}),
}


class ForbiddenTransition(AssertionError):
    """A transition took an edge that is not in the table: a bug, never an input's fault."""


def decide(incident: Incident | None, event: Event, situation: Situation, now: datetime) -> Decision:
    """Return what becomes of `incident` (None: the job has none that this event is about), and all that must be done.

    The version rises by one whenever the incident changed or something must be done. Raises only `ForbiddenTransition`.
    """
    draft = Draft(incident, situation, now)
    if incident is None:
        _without_incident(draft, event)
    elif isinstance(event, StormEvent):
        storms.said(draft, event, refusals.may_decide)
    elif incident.status.unresolved:
        _unresolved(draft, event)
    else:
        _settled(draft, event)
    waves.speak_for_all(draft)
    return _finished(draft, incident)


def _without_incident(draft: Draft, event: Event) -> None:
    reruns.settle_elsewhere(draft, event)
    match event:
        case RunFailed() | RunLate():
            opening.open_incident(draft, event)
        case RunStarted() if draft.situation.retired:
            opening.retired_ran(draft, event)
        case _:
            draft.note("no_incident", f"{type(event).__name__} opens nothing")


def _unresolved(draft: Draft, event: Event) -> None:
    held = draft.incident.acknowledgement
    if draft.incident.status is Status.VERIFYING and held is not None and held.until <= draft.now:
        draft.set(acknowledgement=None)
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
            _rescheduled(draft, event)
        case TimerDue():
            _timer(draft, event)
        case SchedulerAnswered():
            _answered(draft, event)
        case DeliveryBuried():
            draft.note("not_delivered", f"{event.what} to {event.destination}: {event.code}")
        case ThreadMoved():
            _moved(draft, event)
        case _:
            _said(draft, event)


def _said(draft: Draft, event: PersonEvent) -> None:
    """A person's word on an unresolved occurrence: first who they are, then what they may do in this status."""
    if not refusals.may_decide(draft, event):
        return
    match draft.incident.status, event:
        case Status.OPEN, UndoWanted() if draft.incident.decision and draft.incident.decision.holds_schedule:
            holding.undo(draft, event)
        case _, Acknowledged(take_over=True):
            words.taken_over(draft, event)
        case _, Acknowledged():
            words.acknowledged(draft, event)
        case _, Released():
            words.released(draft, event)
        case _, RerunWanted():
            rerun_words.rerun(draft, event)
        case _, StopRerunWanted():
            rerun_words.stop_rerun(draft, event)
        case _, Approved():
            rerun_words.approved(draft, event)
        case _, Declined():
            rerun_words.declined(draft, event)
        case _, FixDeclared():
            words.fixed(draft, event)
        case Status.VERIFYING, NotFixed():
            words.not_fixed(draft, event)
        case Status.RERUNNING, NotFixed() if draft.incident.fix is not None:
            words.fix_withdrawn(draft, event)
        case _, NotNeeded():
            words.not_needed(draft, event)
        case _, StillNeeded():
            words.still_needed(draft, event)
        case _, PauseWanted():
            holding.pause(draft, event)
        case _, RetireWanted():
            holding.retire(draft, event)
        case _, LeaveWanted():
            holding.leave(draft, event)
        case Status.OPEN, WaitWanted():
            words.wait(draft, event)
        case Status.OPEN, StartWanted():
            rerun_words.start(draft, event)
        case _:
            _corrected(draft, event)


def _corrected(draft: Draft, event: PersonEvent) -> None:
    """A word on what it is, and whose, fits every status of an unresolved occurrence."""
    match event:
        case CauseCorrected():
            words.correct_cause(draft, event)
        case CauseMarked():
            words.mark_cause(draft, event)
        case HandOverWanted():
            handover.hand_over(draft, event)
        case HandBackWanted():
            handover.hand_back(draft, event)
        case _:
            refusals.other_state(draft, event)


def _settled(draft: Draft, event: Event) -> None:
    if isinstance(event, RunSucceeded | RunFailed | RunCancelled):
        reruns.settle(draft, event)
    match draft.incident.status, event:
        case _, RunFailed(will_retry=True):
            draft.note("attempt_failed", "its scheduler tries again")
        case Status.PAUSED | Status.RETIRED | Status.LEFT, RunFailed() | RunLate():
            holding.failed_while_held(draft, event)
        case Status.PAUSED | Status.RETIRED | Status.LEFT, RunStarted() | RunSucceeded():
            holding.ran_while_held(draft, event)
        case Status.PAUSED | Status.LEFT, TimerDue() if event.timer in timers_of(draft.incident):
            holding.ended(draft)
        case Status.RESOLVED, TimerDue() if event.timer in timers_of(draft.incident):
            chronic.ask(draft)
        case _, SchedulerAnswered():
            _answered(draft, event)
        case Status.PAUSED, PauseWanted():
            if refusals.may_decide(draft, event):
                holding.pause(draft, event)
        case Status.RESOLVED, UndoWanted() if draft.situation.newer is not None:
            draft.tell(
                ToldKind.SETTLED, f"it came back as occurrence {draft.situation.newer} since", status=Status.RESOLVED
            )
            draft.note("too_late", "a later occurrence of the record is known", by=event.by)
        case _, UndoWanted():
            if refusals.may_decide(draft, event):
                holding.undo(draft, event)
        case _, CauseCorrected():
            if refusals.may_decide(draft, event):
                words.correct_cause(draft, event)
        case _, CauseMarked():
            if refusals.may_decide(draft, event):
                words.mark_cause(draft, event)
        case (
            _,
            RunStarted() | RunSucceeded() | RunFailed() | RunLate() | RunCancelled() | RunSkipped() | ScheduleChanged(),
        ):
            draft.note("after", f"{type(event).__name__} changes nothing: it is {draft.incident.status}")
        case _, ThreadMoved():
            _moved(draft, event)
        case _, TimerDue() | DeliveryBuried():
            draft.note("stale", f"{type(event).__name__} is about something that is over")
        case _:
            refusals.settled(draft, event)


def _moved(draft: Draft, event: ThreadMoved) -> None:
    """The thread says where it was before, whatever the status."""
    draft.note("moved", f"{event.left} cannot be written to ({event.code}): the thread goes on in {event.to}")
    draft.reply(ReplyKind.MOVED, left=event.left, url=event.url, code=event.code)


def _timer(draft: Draft, event: TimerDue) -> None:
    incident = draft.incident
    if event.timer.kind is TimerKind.RELEASE:
        planning.released(draft)
        return
    if event.timer not in timers_of(incident):
        draft.note("stale", "a timer that is no longer set", timer=event.timer.kind)
        return
    match event.timer.kind:
        case TimerKind.ASK if incident.chase.next is not None:
            asking.ask_due(draft, incident.chase.next)
        case TimerKind.RERUN if incident.rerun is not None and incident.rerun.phase in reruns.WAITING:
            planning.request_planned(draft, incident.rerun)
        case TimerKind.RERUN if incident.rerun is not None:
            reruns.due(draft, incident.rerun)
        case TimerKind.APPROVAL:
            rerun_words.approval_expired(draft)
        case TimerKind.VERIFY:
            closing.unconfirmed(draft)


def _rescheduled(draft: Draft, event: ScheduleChanged) -> None:
    """The next runs are not what they were: what hangs on them is worked out anew."""
    incident, next_run_at = draft.incident, draft.situation.next_run_at
    draft.note("schedule_changed", event.reason or "its next runs were worked out anew")
    if incident.status is Status.VERIFYING:
        draft.set(verify_by=closing.verify_by(draft.situation, draft.now))
    if incident.proposal is not None and next_run_at is not None and next_run_at < incident.proposal.expires_at:
        draft.set(proposal=replace(incident.proposal, expires_at=next_run_at))


def _answered(draft: Draft, event: SchedulerAnswered) -> None:
    incident = draft.incident
    if event.action in (Action.RERUN, Action.START):
        if incident.rerun is not None and incident.rerun.key == event.key:
            reruns.answered(draft, incident.rerun, event)
        else:
            draft.note("stale_answer", f"an answer to {event.key}, which nothing waits for")
    elif event.action is Action.STOP:
        draft.note("stop_answered", f"{event.answer} {event.message}".strip(), key=event.key)
        if incident.rerun is not None and event.key == reruns.stop_key(incident.rerun) and event.answer not in GOES_ON:
            reruns.tell(
                draft, incident.rerun, "not stopped", reason=event.message or "its scheduler did not confirm it"
            )
    else:
        holding.answered(draft, event)


def _finished(draft: Draft, before: Incident | None) -> Decision:
    """Work out the next ask, raise the version, and hold the decision against the table of edges."""
    decision = draft.decision()
    after = decision.incident
    if not decision.notes:
        reason = decision.told.reason if decision.told else "it changes nothing"
        decision = replace(decision, notes=(Note(kind="no_change", reason=reason),))
    if after is None:
        return decision
    if after.status in UNRESOLVED:
        after = replace(after, chase=replace(after.chase, next=next_ask(after, draft.situation, draft.now)))
    elif after.chase.next is not None:
        after = replace(after, chase=replace(after.chase, next=None))
    if after == before and not decision.effects:
        return replace(decision, incident=before)
    came_from = before.status if before else None
    if after.status != came_from and after.status not in EDGES[came_from]:
        raise ForbiddenTransition(f"{came_from} -> {after.status}")
    return replace(decision, incident=replace(after, version=after.version + 1))
