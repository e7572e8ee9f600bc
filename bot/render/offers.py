"""Which buttons a message offers and which stand under More; a refusal by who clicks is not known here.

It must not render anything, and nothing relies on it for what is allowed: the core judges every click.
"""

from bot.incidents.keys import Capability
from bot.incidents.model import RerunPhase, Status
from bot.render.actions import ActionId
from bot.render.segments import is_web_address
from bot.render.snapshot import Snapshot

NOT_STARTED = "late.not_started"
_WITHDRAWABLE = (RerunPhase.BACKING_OFF, RerunPhase.HELD)


def shown(snapshot: Snapshot) -> tuple[ActionId, ...]:
    """The buttons of the root, at most four."""
    match snapshot.incident.status:
        case Status.OPEN if snapshot.gone:
            return (ActionId.ACK, ActionId.RETIRE, ActionId.FIXED, ActionId.MORE)
        case Status.OPEN:
            return (ActionId.ACK, *_way_out(snapshot), ActionId.MORE)
        case Status.RERUNNING:
            stop = (ActionId.STOP_RERUN,) if _stoppable(snapshot) else ()
            return (ActionId.ACK, *stop, ActionId.FIXED, ActionId.MORE)
        case Status.AWAITING_APPROVAL:
            return (ActionId.APPROVE, ActionId.DECLINE, ActionId.ACK, ActionId.MORE)
        case Status.VERIFYING:
            rerun = (ActionId.RERUN,) if _rerunnable(snapshot) else ()
            leave = (ActionId.LEAVE,) if snapshot.incident.unconfirmed else ()
            return (ActionId.NOT_FIXED, *rerun, *leave, ActionId.MORE)
        case Status.RESOLVED:
            return (ActionId.REOPEN, ActionId.CAUSE)
        case Status.PAUSED:
            return (ActionId.RESUME, ActionId.CHANGE_UNTIL)
        case Status.RETIRED:
            return (ActionId.UNRETIRE, ActionId.CAUSE)
        case Status.LEFT:
            return (ActionId.NOT_LEFT, ActionId.CAUSE)


def under_more(snapshot: Snapshot) -> tuple[ActionId, ...]:
    """The remaining actions, in the order in which they are needed."""
    incident = snapshot.incident
    if not incident.status.unresolved:
        return ()
    held = incident.acknowledgement is not None
    offered = {
        ActionId.ACK: not held,
        ActionId.TAKE_OVER: held,
        ActionId.RELEASE: held,
        ActionId.RERUN: _rerunnable(snapshot) and incident.status in (Status.OPEN, Status.VERIFYING),
        ActionId.RERUN_CHOOSE: _rerunnable(snapshot) and len(incident.owed) > 1,
        ActionId.FIXED: not incident.failure.late,
        ActionId.NOT_FIXED: incident.status is Status.RERUNNING and incident.fix is not None,
        ActionId.NOT_NEEDED: True,
        ActionId.STILL_NEEDED: bool(incident.waived),
        ActionId.RESUME: incident.decision is not None and incident.decision.holds_schedule,
        ActionId.PAUSE: True,
        ActionId.RETIRE: True,
        ActionId.LEAVE: True,
        ActionId.CAUSE: True,
        ActionId.MARK_SAFE: snapshot.markable and snapshot.mark is None and not snapshot.away,
        ActionId.REVOKE_MARK: snapshot.mark is not None,
        ActionId.HAND_OVER: any(team != snapshot.team for team in snapshot.teams),
        ActionId.HAND_BACK: bool(incident.handed),
        ActionId.OPEN_RECORD: snapshot.record_url is not None and is_web_address(snapshot.record_url),
    }
    on_root = shown(snapshot)
    return tuple(action for action, there in offered.items() if there and action not in on_root)


def cannot(snapshot: Snapshot) -> bool:
    """The scheduler only reports: nothing can be asked of it."""
    return not snapshot.can & {Capability.RERUN, Capability.START, Capability.PAUSE, Capability.RETIRE}


def _way_out(snapshot: Snapshot) -> tuple[ActionId, ...]:
    """What brings a good run: a late one is awaited or started, a failed one is rerun or fixed."""
    failure = snapshot.incident.failure
    if failure.late:
        start = failure.cause == NOT_STARTED and Capability.START in snapshot.can
        return (*((ActionId.START_NOW,) if start else ()), ActionId.WAIT_UNTIL)
    return (*((ActionId.RERUN,) if _rerunnable(snapshot) else ()), ActionId.FIXED)


def _rerunnable(snapshot: Snapshot) -> bool:
    incident = snapshot.incident
    if Capability.RERUN not in snapshot.can or not incident.owed or incident.failure.late:
        return False
    return incident.rerun is None or incident.rerun.phase not in (RerunPhase.REQUESTED, RerunPhase.RUNNING)


def _stoppable(snapshot: Snapshot) -> bool:
    rerun = snapshot.incident.rerun
    return rerun is not None and (rerun.phase in _WITHDRAWABLE or Capability.STOP in snapshot.can)
