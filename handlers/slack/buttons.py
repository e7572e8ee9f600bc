"""Which person's word each button is, where nothing more need be asked. Values only; nothing here is taken in."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from bot.incidents.calendar import next_working_morning
from bot.incidents.events import (
    Acknowledged,
    Approved,
    CauseMarked,
    Declined,
    HandBackWanted,
    NotFixed,
    PersonEvent,
    Released,
    RerunWanted,
    StartWanted,
    StopRerunWanted,
    UndoWanted,
)
from bot.incidents.people import By
from bot.incidents.storm_events import StormTaken, ThreadWanted
from bot.render.actions import ActionId
from bot.render.snapshot import Snapshot
from handlers.slack.payloads import malformed


@dataclass(frozen=True, slots=True, kw_only=True)
class Clicked:
    """A click with what its event may need; `confirmed`: they said yes to the warning that the cause is unknown."""

    by: By
    snapshot: Snapshot
    proposal: int | None
    confirmed: bool


def _proposal(clicked: Clicked) -> int:
    if clicked.proposal is None:
        raise malformed("actions[0].value", "expected the number of a proposal")
    return clicked.proposal


def _until_morning(clicked: Clicked) -> Acknowledged:
    snapshot, at = clicked.snapshot, clicked.by.at
    hours = snapshot.policy.team.hours if snapshot.policy.team else None
    return Acknowledged(by=clicked.by, lasts=next_working_morning(hours, at, snapshot.zone) - at)


def _undo(clicked: Clicked) -> UndoWanted:
    return UndoWanted(by=clicked.by)


SAID: Mapping[ActionId, Callable[[Clicked], PersonEvent]] = {
    ActionId.ACK: lambda clicked: Acknowledged(by=clicked.by),
    ActionId.ACK_1H: lambda clicked: Acknowledged(by=clicked.by, lasts=timedelta(hours=1)),
    ActionId.ACK_4H: lambda clicked: Acknowledged(by=clicked.by, lasts=timedelta(hours=4)),
    ActionId.ACK_MORNING: _until_morning,
    ActionId.RELEASE: lambda clicked: Released(by=clicked.by),
    ActionId.TAKE_OVER: lambda clicked: Acknowledged(by=clicked.by, take_over=True),
    ActionId.RERUN: lambda clicked: RerunWanted(by=clicked.by, confirmed=clicked.confirmed),
    ActionId.STOP_RERUN: lambda clicked: StopRerunWanted(by=clicked.by),
    ActionId.APPROVE: lambda clicked: Approved(by=clicked.by, proposal=_proposal(clicked), confirmed=clicked.confirmed),
    ActionId.DECLINE: lambda clicked: Declined(by=clicked.by, proposal=_proposal(clicked)),
    ActionId.NOT_FIXED: lambda clicked: NotFixed(by=clicked.by),
    ActionId.START_NOW: lambda clicked: StartWanted(by=clicked.by),
    ActionId.REVOKE_MARK: lambda clicked: CauseMarked(by=clicked.by, cause=clicked.snapshot.cause, safe=False),
    ActionId.HAND_BACK: lambda clicked: HandBackWanted(by=clicked.by),
    ActionId.TAKE_STORM: lambda clicked: StormTaken(by=clicked.by),
    ActionId.OPEN_THREAD: lambda clicked: ThreadWanted(by=clicked.by),
    ActionId.RESUME: _undo,
    ActionId.UNRETIRE: _undo,
    ActionId.NOT_LEFT: _undo,
    ActionId.REOPEN: _undo,
}
