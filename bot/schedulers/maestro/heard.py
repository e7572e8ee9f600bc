"""What an event of Maestro's is about. It holds names and no more: what happened is read from Maestro itself. Pure."""

from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import Struct, field

from bot.schedulers.maestro.shapes import FATAL_STEPS

INSTANCE, STEP = "WORKFLOW_INSTANCE_STATUS_CHANGE_EVENT", "STEP_INSTANCE_STATUS_CHANGE_EVENT"
TELLING_STEPS = FATAL_STEPS | {"WAITING_FOR_SIGNALS", "WAITING_FOR_PERMITS", "PAUSED"}
LONGEST = 1024 * 1024


class Unreadable(Exception):
    """No event of Maestro's; the text says why."""


class _Change(Struct, frozen=True):
    new_status: str = ""


class _Event(Struct, frozen=True):
    type: str
    workflow_id: str
    workflow_instance_id: int | None = None
    status_change_records: tuple[_Change, ...] = ()


class _Envelope(Struct, frozen=True):
    """SNS wraps what it delivers where raw delivery is off."""

    message: str = field(name="Message")


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """Something happened to the workflow, or to this instance of it."""

    workflow: str
    instance: int | None = None


def heard_in(body: str) -> Heard | None:
    """None where it tells of nothing that is read: a step that goes its way. Raises `Unreadable`."""
    if len(body) > LONGEST:
        raise Unreadable("it is longer than an event is")
    event = _event(body)
    if event.type == STEP and not any(one.new_status in TELLING_STEPS for one in event.status_change_records):
        return None
    if event.type in (INSTANCE, STEP) and event.workflow_instance_id is None:
        raise Unreadable(f"a {event.type} without an instance")
    return Heard(workflow=event.workflow_id, instance=event.workflow_instance_id)


def _event(body: str) -> _Event:
    told: Any = body
    for _ in range(2):
        try:
            return msgspec.json.decode(told, type=_Event)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            try:
                told = msgspec.json.decode(told, type=_Envelope).message
            except (msgspec.DecodeError, UnicodeError, RecursionError):
                raise Unreadable(f"no event of Maestro's: {error}") from None
    raise Unreadable("an envelope in an envelope")
