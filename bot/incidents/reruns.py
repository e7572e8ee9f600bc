"""The life of a rerun: requested, running, ended or lost. It is asked for at most once, ever, and for one owed time each.

Whether there shall be one is decided in `planning`.
"""

from dataclasses import replace
from datetime import datetime

from bot.incidents import asking
from bot.incidents.draft import Draft
from bot.incidents.effects import LookFor, Release, ReplyKind, RerunResult, Settle, StageRerun
from bot.incidents.events import AnswerKind, Event, RunCancelled, RunFailed, RunStarted, RunSucceeded, SchedulerAnswered
from bot.incidents.keys import Action, Cost, RunRef, Trigger
from bot.incidents.model import Incident, Rerun, RerunPhase, Status
from bot.incidents.people import Person

RunEnded = RunSucceeded | RunFailed | RunCancelled
WAITING = (RerunPhase.BACKING_OFF, RerunPhase.HELD)
LOOK_WITHIN_STARTS = 4


def due(draft: Draft, rerun: Rerun) -> None:
    """The timer of a rerun that was asked for: it did not start in time, or it brought no result in time."""
    match rerun.phase:
        case RerunPhase.REQUESTED if not rerun.looked:
            grace = draft.situation.policy.rerun.start_within / LOOK_WITHIN_STARTS
            draft.set(rerun=replace(rerun, looked=True, due_at=draft.now + grace))
            draft.add(LookFor(key=rerun.key, action=rerun.action, run=rerun.run, nominal_times=rerun.waiting[:1]))
            draft.note("rerun_looked_up", "the rerun has not started in time: looking it up")
        case RerunPhase.REQUESTED:
            lose(draft, "the rerun was requested, has not started, and the scheduler cannot tell")
        case RerunPhase.RUNNING:
            lose(draft, "the rerun has brought no result in time")
        case _:
            draft.note("stale", f"the rerun is {rerun.phase}: it has no deadline")


def answered(draft: Draft, rerun: Rerun, event: SchedulerAnswered) -> None:
    """What the scheduler said about our rerun; once it was seen to run, only its end counts."""
    if rerun.phase is RerunPhase.RUNNING or rerun.phase in WAITING:
        draft.note("stale_answer", f"{event.answer}, but the rerun is {rerun.phase}", key=event.key)
        return
    match event.answer:
        case AnswerKind.TAKEN:
            taken = "the scheduler took the request"
            draft.note("rerun_taken", f"{taken}: {event.message}" if event.message else taken, key=event.key)
        case AnswerKind.STARTED:
            begin(draft, rerun, "the look found the rerun started")
        case AnswerKind.REFUSED:
            _drop(
                draft,
                rerun,
                "refused",
                f"the scheduler refused the rerun: {event.message or 'it gave no reason'}",
                event.message,
            )
        case AnswerKind.NOT_STARTED:
            _drop(draft, rerun, "not_started", f"the rerun never started: {event.message or 'nothing ran'}", "")
        case AnswerKind.UNCERTAIN | AnswerKind.CANNOT_TELL if rerun.phase is RerunPhase.LOST:
            draft.note("rerun_still_lost", "whether the rerun started still cannot be told", key=event.key)
        case AnswerKind.UNCERTAIN | AnswerKind.CANNOT_TELL:
            lose(draft, "whether the rerun started cannot be told")


def begin(draft: Draft, rerun: Rerun, reason: str) -> None:
    """Our rerun runs; it is expected to end by the usual duration and some grace."""
    situation = draft.situation
    usual = situation.usual_duration or situation.policy.limits.verify_without_schedule
    due_at = draft.now + usual + situation.policy.rerun.result_grace
    status = draft.incident.status
    draft.set(rerun=replace(rerun, phase=RerunPhase.RUNNING, due_at=due_at))
    draft.note("rerun_started", reason, key=rerun.key)
    if status is Status.OPEN:
        draft.set(status=Status.RERUNNING, reason=reason)
        tell(draft, rerun, "started", reason=reason)


def lose(draft: Draft, reason: str) -> None:
    """The rerun may or may not run: its reservation stays, its result still counts, and the owner is asked."""
    rerun = draft.incident.rerun
    if rerun is None:
        return
    draft.set(rerun=replace(rerun, phase=RerunPhase.LOST, due_at=None))
    draft.note("rerun_lost", reason, key=rerun.key)
    if rerun.automatic:
        draft.stop_canary(rerun.cause)
        draft.add(StageRerun(key=rerun.key, cause=rerun.cause, stage=None))
    if not draft.incident.status.unresolved:
        return
    if draft.incident.status is Status.RERUNNING:
        draft.set(status=Status.OPEN, reason=reason)
    tell(draft, rerun, "lost", reason=reason)
    asking.ask_owner(draft, reason, also=_asker(rerun))


def withdraw(draft: Draft, reason: str) -> None:
    """A rerun that was not requested yet, or a proposal, is taken back; one that was requested is left to end."""
    rerun = draft.incident.rerun
    if rerun is not None and rerun.phase in WAITING:
        draft.add(Release(key=rerun.key, taken_back=True))
        draft.set(rerun=None)
        draft.note("rerun_withdrawn", reason, key=rerun.key)
    if draft.incident.proposal is not None:
        draft.set(proposal=None)
        draft.note("proposal_withdrawn", reason)
    if draft.incident.status in (Status.RERUNNING, Status.AWAITING_APPROVAL) and draft.incident.rerun is None:
        draft.set(status=Status.OPEN, reason=reason)


def settle(draft: Draft, event: RunEnded) -> bool:
    """Book the end of a rerun of ours; returns whether it was the one that the incident waits for."""
    if _tries_again(event):
        return False
    mine = ours(draft.incident, event)
    rerun = draft.incident.rerun
    key = rerun.key if mine and rerun else event.rerun_key
    if key is None:
        return False
    if mine:
        draft.set(rerun=None)
    if mine and rerun is not None and not isinstance(event, RunSucceeded):
        draft.stop_canary(rerun.cause)
    draft.add(Settle(key=key, cost=_cost(event), result=_result(event)))
    return mine


def settle_elsewhere(draft: Draft, event: Event) -> None:
    """Book the end of a rerun whose occurrence is not at hand any more."""
    if isinstance(event, RunEnded) and event.rerun_key is not None and not _tries_again(event):
        draft.add(Settle(key=event.rerun_key, cost=_cost(event), result=_result(event)))


def _tries_again(event: Event) -> bool:
    return isinstance(event, RunFailed) and event.will_retry


def stop_key(rerun: Rerun) -> str:
    """The idempotency key of the request to stop our rerun."""
    return f"{rerun.key}:stop"


def ours(incident: Incident, event: RunStarted | RunEnded) -> bool:
    """Whether the run is the incident's own rerun: by our key, or, where the source does not echo it, by its trigger."""
    rerun = incident.rerun
    if rerun is None or rerun.phase in WAITING:
        return False
    if event.rerun_key is not None:
        return event.rerun_key == rerun.key
    if event.run.nominal_time != rerun.waiting[0]:
        return False
    if rerun.action is Action.START:
        return event.run.trigger in (Trigger.MANUAL, Trigger.RERUN)
    return event.run.trigger is Trigger.RERUN and _later(event.run, rerun.run)


def _drop(draft: Draft, rerun: Rerun, state: str, reason: str, message: str) -> None:
    """The rerun surely does not run: give its reservation back and go on with the owner."""
    decision = draft.incident.decision
    unwanted = not draft.incident.status.unresolved or (decision is not None and decision.pending)
    taken_back = unwanted and state == "not_started"
    if not taken_back:
        draft.stop_canary(rerun.cause)
    draft.add(Release(key=rerun.key, taken_back=taken_back))
    draft.set(rerun=None)
    draft.note("rerun_dropped", reason, key=rerun.key)
    if not draft.incident.status.unresolved:
        return
    if draft.incident.status is Status.RERUNNING:
        draft.set(status=Status.OPEN, reason=reason)
    tell(draft, rerun, state, message=message, reason=reason)
    if decision is None or not decision.pending:
        asking.ask_owner(draft, reason, also=_asker(rerun))


def tell(
    draft: Draft,
    rerun: Rerun,
    state: str,
    *,
    at: datetime | None = None,
    cause: str = "",
    message: str = "",
    reason: str = "",
) -> None:
    """A reply that says where our rerun stands."""
    draft.reply(
        ReplyKind.RERUN,
        state=state,
        action=rerun.action,
        automatic=rerun.automatic,
        nominal_times=rerun.waiting[:1],
        fresh=rerun.waiting[0] in rerun.afresh,
        by=rerun.by,
        at=at or draft.now,
        cause=cause,
        message=message,
        reason=reason,
    )


def _asker(rerun: Rerun) -> tuple[Person, ...]:
    return (rerun.by.person,) if rerun.by else ()


def _result(event: RunEnded) -> RerunResult:
    match event:
        case RunSucceeded():
            return RerunResult.SUCCEEDED
        case RunFailed():
            return RerunResult.FAILED
        case RunCancelled():
            return RerunResult.CANCELLED


def _cost(event: RunEnded) -> Cost | None:
    match event:
        case RunSucceeded():
            return event.cost
        case RunFailed():
            return event.failure.cost
        case RunCancelled():
            return None


def _later(run: RunRef, failed: RunRef) -> bool:
    return run.run_id != failed.run_id or run.generation > failed.generation
