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
    answers,
    asking,
    chronic,
    closing,
    downstream,
    handover,
    holding,
    opening,
    planning,
    refusals,
    rerun_words,
    reruns,
    storms,
    undelivered,
    unwatched,
    waves,
    words,
)
from bot.incidents.chase import next_ask
from bot.incidents.downstream_events import DownstreamAlone, DownstreamHung, DownstreamRan
from bot.incidents.draft import Draft
from bot.incidents.effects import Note, ToldKind
from bot.incidents.events import (
    Acknowledged,
    Approved,
    CauseCorrected,
    CauseMarked,
    Declined,
    DeliveryBuried,
    DeliveryLate,
    Event,
    FixDeclared,
    HandBackWanted,
    HandOverWanted,
    LeaveWanted,
    NotFixed,
    NotNeeded,
    NotObserved,
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
    return _finished(draft, incident, event)


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
            answers.rescheduled(draft, event)
        case NotObserved():
            unwatched.not_observed(draft, event)
        case TimerDue():
            _timer(draft, event)
        case SchedulerAnswered():
            answers.answered(draft, event)
        case DeliveryBuried():
            undelivered.buried(draft, event)
        case DeliveryLate():
            undelivered.late(draft, event)
        case ThreadMoved():
            undelivered.moved(draft, event)
        case DownstreamHung() | DownstreamRan() | DownstreamAlone():
            downstream.told(draft, event)
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
            answers.answered(draft, event)
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
            RunStarted()
            | RunSucceeded()
            | RunFailed()
            | RunLate()
            | RunCancelled()
            | RunSkipped()
            | NotObserved()
            | ScheduleChanged(),
        ):
            draft.note("after", f"{type(event).__name__} changes nothing: it is {draft.incident.status}")
        case _, ThreadMoved():
            undelivered.moved(draft, event)
        case _, DownstreamHung() | DownstreamRan() | DownstreamAlone():
            downstream.told(draft, event)
        case _, TimerDue() | DeliveryBuried() | DeliveryLate():
            draft.note("stale", f"{type(event).__name__} is about something that is over")
        case _:
            refusals.settled(draft, event)


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
            unwatched.ask_comes_late(draft, incident.chase.next.at)
            asking.ask_due(draft, incident.chase.next)
        case TimerKind.RERUN if incident.rerun is not None and incident.rerun.phase in reruns.WAITING:
            planning.request_planned(draft, incident.rerun)
        case TimerKind.RERUN if incident.rerun is not None:
            reruns.due(draft, incident.rerun)
        case TimerKind.APPROVAL:
            rerun_words.approval_expired(draft)
        case TimerKind.VERIFY:
            closing.unconfirmed(draft)


def _finished(draft: Draft, before: Incident | None, event: Event) -> Decision:
    """Work out the next ask, raise the version, and hold the decision against the table of edges."""
    decision = draft.decision()
    after = decision.incident
    if not decision.notes:
        reason = decision.told.reason if decision.told else "it changes nothing"
        decision = replace(decision, notes=(Note(kind="no_change", reason=reason),))
    if after is None:
        return decision
    after = downstream.cleared(after, event, draft.now)
    if after.status in UNRESOLVED:
        after = replace(after, chase=replace(after.chase, next=next_ask(after, draft.situation, draft.now)))
    elif after.chase.next is not None:
        after = replace(after, chase=replace(after.chase, next=None))
    if after == before and not decision.effects:
        return replace(decision, incident=before)
    came_from = before.status if before else None
    if after.status != came_from and after.status not in EDGES[came_from]:
        raise ForbiddenTransition(f"{came_from} -> {after.status}")
    team = draft.situation.team
    measured = replace(after.measured, team=team.name if team is not None else "")
    return replace(decision, incident=replace(after, version=after.version + 1, measured=measured))
