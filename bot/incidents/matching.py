"""Which occurrence an event of a job is about, and whether what a decision asked for is still wanted. It changes nothing."""

from datetime import datetime

from bot.incidents import reruns, unblocking
from bot.incidents.events import (
    Event,
    RunCancelled,
    RunFailed,
    RunLate,
    RunStarted,
    RunSucceeded,
)
from bot.incidents.keys import Action
from bot.incidents.model import Incident, RerunPhase, Status


def concerns(
    event: Event, unresolved: Incident | None, in_force: tuple[Incident, ...], newest: Incident | None
) -> Incident | None:
    """Which of a job's occurrences a run's event is about: the unresolved one, else one in force that covers it.

    A settled occurrence is concerned by what becomes of a rerun that it had asked for.
    """
    if unresolved is not None:
        return unresolved
    if isinstance(event, RunStarted | RunSucceeded | RunFailed | RunCancelled):
        for asked in (*in_force, newest):
            if asked is not None and reruns.ours(asked, event):
                return asked
    for held in in_force:
        match held.status, event:
            case Status.PAUSED, _:
                return held
            case Status.RETIRED, _ if held.decision is not None and held.decision.silences_only:
                return held
            case Status.LEFT, RunFailed() | RunLate() if event.failure.fingerprint == held.failure.fingerprint:
                return held
    return None


def untroubled(event: Event, *, in_force: tuple[Incident, ...]) -> bool:
    """Whether an event that concerns no occurrence surely changes nothing: a run without trouble that nobody asked for.

    Most events of most jobs are such; nothing need be worked out for them.
    """
    return isinstance(event, RunStarted | RunSucceeded) and event.rerun_key is None and not in_force


def still_wanted(incident: Incident | None, key: str, action: Action, now: datetime) -> bool:
    """Whether a request to a scheduler may still be sent: asked in the transaction that commits `sending`.

    A pause or retirement that its owner recorded is carried out even if a good run settled the occurrence meanwhile.
    """
    if incident is None:
        return False
    rerun, decision = incident.rerun, incident.decision
    match action:
        case Action.RERUN | Action.START:
            if rerun is None or rerun.key != key or incident.status is not Status.RERUNNING:
                return False
            in_time = rerun.due_at is None or now < rerun.due_at
            return rerun.phase is RerunPhase.REQUESTED and in_time and not _put_aside_since(incident)
        case Action.STOP:
            return rerun is not None and key == reruns.stop_key(rerun)
        case Action.UNBLOCK:
            return unblocking.still_given_up(incident, key)
        case Action.PAUSE | Action.RETIRE:
            return decision is not None and decision.key == key and decision.in_force_at is None
        case Action.RESUME:
            return decision is not None and decision.key == key


def _put_aside_since(incident: Incident) -> bool:
    """A pause or retirement was recorded after the rerun was asked for; the scheduler has yet to confirm it."""
    rerun, decision = incident.rerun, incident.decision
    if rerun is None or rerun.requested_at is None or decision is None or not decision.pending:
        return False
    return (decision.recorded_at or decision.by.at) >= rerun.requested_at
