"""The names of buttons and modals, and the value that a button carries. It must not decide what a click does."""

import re
from enum import StrEnum
from typing import Any

from bot.incidents.model import Incident

HOME = "@home"
_VALUE = re.compile(rf"([0-9]{{1,18}})\.([0-9]{{1,9}})(?:#([0-9]{{1,9}}))?(?:{HOME})?")


class ActionId(StrEnum):
    """The `action_id` of every button."""

    ACK = "ack"
    ACK_1H = "ack_1h"
    ACK_4H = "ack_4h"
    ACK_MORNING = "ack_morning"
    RELEASE = "release"
    TAKE_OVER = "take_over"
    RERUN = "rerun"
    RERUN_CHOOSE = "rerun_choose"
    STOP_RERUN = "stop_rerun"
    APPROVE = "approve"
    DECLINE = "decline"
    FIXED = "fixed"
    NOT_FIXED = "not_fixed"
    NOT_NEEDED = "not_needed"
    STILL_NEEDED = "still_needed"
    START_NOW = "start_now"
    WAIT_UNTIL = "wait_until"
    PAUSE = "pause"
    CHANGE_UNTIL = "change_until"
    RESUME = "resume"
    RETIRE = "retire"
    UNRETIRE = "unretire"
    LEAVE = "leave"
    NOT_LEFT = "not_left"
    REOPEN = "reopen"
    CAUSE = "cause"
    MARK_SAFE = "mark_safe"
    REVOKE_MARK = "revoke_mark"
    HAND_OVER = "hand_over"
    HAND_BACK = "hand_back"
    REVOKE_MARKS = "revoke_marks"
    CONFIRM_MARKS = "confirm_marks"
    MORE = "more"
    OPEN_RECORD = "open_record"
    OPEN_THREAD = "open_thread"
    TAKE_STORM = "take_storm"
    SHARE_HEALTH = "share_health"


class CallbackId(StrEnum):
    """The `callback_id` of every modal."""

    FIXED = "modal_fixed"
    PAUSE = "modal_pause"
    CHANGE_UNTIL = "modal_change_until"
    RETIRE = "modal_retire"
    LEAVE = "modal_leave"
    MORE = "modal_more"
    WAIT = "modal_wait"
    CAUSE = "modal_cause"
    MARK_SAFE = "modal_mark_safe"
    NOT_NEEDED = "modal_not_needed"
    RERUN = "modal_rerun"
    STILL_NEEDED = "modal_still_needed"
    HAND_OVER = "modal_hand_over"


def value_of(incident: Incident, proposal: int | None = None) -> str:
    """What a button or a modal of this occurrence carries; an approval also names its proposal."""
    return incident.id if proposal is None else f"{incident.id}#{proposal}"


def read_value(value: str) -> tuple[int, int, int | None]:
    """Record, occurrence and proposal of a button's value; raises ValueError for anything else."""
    found = _VALUE.fullmatch(value)
    if found is None:
        raise ValueError("not the value of a button")
    record, number, proposal = found.groups()
    return int(record), int(number), None if proposal is None else int(proposal)


def from_home(view: dict[str, Any]) -> dict[str, Any]:
    """The modal, with a sign that it was opened from the Home tab, which is shown anew once something was done in it."""
    return {**view, "private_metadata": f"{view.get('private_metadata', '')}{HOME}"}


def is_from_home(metadata: str) -> bool:
    return metadata.endswith(HOME)
