"""What several modals share: their frame, the choice of owed times, of a cause and of an instant.

It must not know how a modal is read back; `bot.render.forms` does.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.evidence.types import UNKNOWN
from bot.incidents.keys import Capability
from bot.incidents.model import Owed
from bot.incidents.strategy import RunStrategy
from bot.render import buttons
from bot.render.actions import CallbackId, value_of
from bot.render.beside import MOST, beside
from bot.render.blocks import MOST_VALUE, Block, field, modal, moment_input, option, select, text_input
from bot.render.moments import needs_seconds, written
from bot.render.root import values_of
from bot.render.segments import words
from bot.render.snapshot import Snapshot
from bot.render.templates import draft
from bot.render.text import one_line

MOST_OPTIONS = 100
ALL = "all"
NO_TIME = "-"
OTHER = "other"

CauseChoice = tuple[str, str]
"""A cause's id and title."""


def words_of(snapshot: Snapshot, **more: Any) -> dict[str, Any]:
    """What the templates of modals may say."""
    return {
        **values_of(snapshot),
        "pauses": Capability.PAUSE in snapshot.can,
        "afresh": Capability.FRESH_START in snapshot.can,
        "lets_go": snapshot.run_strategy is RunStrategy.STRICT_SEQUENTIAL and Capability.UNBLOCK in snapshot.can,
        "retires": Capability.RETIRE in snapshot.can,
        "cost": buttons.cost_of(snapshot, max(1, len(snapshot.incident.owed))),
        "owed": len(snapshot.incident.owed),
        "beside": words(said, MOST) if (said := beside(snapshot)) else "",
        "handed_from": words(buttons.came_from(snapshot), 60),
        **more,
    }


def framed(
    snapshot: Snapshot,
    callback_id: CallbackId,
    *,
    title: str,
    fields: Sequence[Block],
    submit: str | None,
    **more: Any,
) -> Block:
    """The modal with its introduction from the template of the same name."""
    introduction = draft(callback_id, words_of(snapshot, **more), zone=snapshot.zone)
    return modal(
        callback_id,
        title=title,
        blocks=[*introduction.blocks, *fields],
        metadata=value_of(snapshot.incident, snapshot.incident.proposal.number if snapshot.incident.proposal else None),
        submit=submit,
    )


def time_value(owed: Owed) -> str:
    """The owed time as a choice's value."""
    return owed.nominal_time.astimezone(UTC).isoformat() if owed.nominal_time else NO_TIME


def time_label(owed: Owed, zone: str) -> str:
    if owed.nominal_time is None:
        return f"Run {one_line(owed.failure.run.run_id, 60)}"
    return f"Run of {written(owed.nominal_time, zone, exact=needs_seconds(owed.nominal_time))}"


def time_options(snapshot: Snapshot, times: Sequence[Owed] | None = None) -> list[Block]:
    """One choice for each of `times` (None: all that is owed), oldest first; one for all where there are too many."""
    owed = snapshot.incident.owed if times is None else times
    each = [option(time_value(one), time_label(one, snapshot.zone)) for one in owed]
    everything = option(ALL, f"All {len(owed)} runs")
    return [everything, *each[: MOST_OPTIONS - 1]] if len(owed) >= MOST_OPTIONS else each


def cause_fields(snapshot: Snapshot, causes: Sequence[CauseChoice]) -> list[Block]:
    """Choose the cause among those that matched and those that are known, or name another."""
    failure = snapshot.incident.failure
    matched = [(snapshot.cause, _title(snapshot)), *((cause, cause) for cause in failure.also)]
    known = {cause: title for cause, title in (*matched, *causes) if cause != UNKNOWN and 0 < len(cause) <= MOST_VALUE}
    known.pop(OTHER, None)
    choices = [option(cause, f"{one_line(title, 70)}") for cause, title in known.items()][: MOST_OPTIONS - 1]
    if snapshot.incident.corrected_cause not in (None, failure.cause) and 0 < len(failure.cause) <= MOST_VALUE:
        ruled = option(failure.cause, f"As the rules say: {one_line(failure.title or 'not known', 50)}")
        choices = [each for each in choices if each["value"] != failure.cause] + [ruled]
    other = option(OTHER, "Another cause, named below")
    initial = choices[0] if snapshot.cause_known and snapshot.cause in known else None
    return [
        field("cause", "Cause", select([*choices, other], initial=initial), optional=True),
        field("cause_other", "If another: which", text_input(most=100), optional=True),
    ]


def until_field(at: datetime, *, label: str = "Until", hint: str = "") -> Block:
    return field("until", label, moment_input(int(at.timestamp())), hint=hint or "In your own time zone.")


def reason_field(*, label: str = "Reason", optional: bool = False) -> Block:
    return field("reason", label, text_input(multiline=True, most=500), optional=optional)


def full_hour(at: datetime) -> datetime:
    """The first full hour at or after `at`."""
    floor = at.replace(minute=0, second=0, microsecond=0)
    return floor if floor == at else floor + timedelta(hours=1)


def _title(snapshot: Snapshot) -> str:
    failure = snapshot.incident.failure
    return failure.title if snapshot.cause == failure.cause and failure.title else snapshot.cause
