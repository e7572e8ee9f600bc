"""A submitted modal: what was filled in becomes a person's word, or an error under the field that must be mended.

It must not judge what was filled in beyond its form; the form is read by `bot.render.forms`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import msgspec

from bot.incidents.effects import ToldKind
from bot.incidents.events import (
    CauseCorrected,
    CauseMarked,
    FixDeclared,
    LeaveWanted,
    NotNeeded,
    PauseWanted,
    PersonEvent,
    RerunWanted,
    RetireWanted,
    WaitWanted,
)
from bot.incidents.people import By
from bot.render import forms
from bot.render.actions import CallbackId, read_value
from bot.render.form_fields import FieldErrors, Values
from bot.render.snapshot import Snapshot
from handlers.slack.desk import DOOR, Desk, place_of, told_view
from handlers.slack.payloads import Interaction, View, malformed
from handlers.wire import Refused

Said = PersonEvent | FieldErrors


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """A modal as it was submitted, with the occurrence as it stands now."""

    by: By
    values: Values
    snapshot: Snapshot


def _fixed(filled: Filled) -> Said:
    owed = [owed.nominal_time for owed in filled.snapshot.incident.owed]
    form = forms.read_fixed(filled.values, owed=owed)
    if isinstance(form, FieldErrors):
        return form
    return FixDeclared(by=filled.by, what=form.what, cause=form.cause, link=form.link, choices=form.choices)


def _pause(filled: Filled) -> Said:
    return _paused(filled, forms.read_pause(filled.values, now=filled.by.at))


def _change_until(filled: Filled) -> Said:
    return _paused(filled, forms.read_change_until(filled.values, now=filled.by.at))


def _paused(filled: Filled, form: forms.PauseForm | FieldErrors) -> Said:
    if isinstance(form, FieldErrors):
        return form
    return PauseWanted(by=filled.by, until=form.until, reason=form.reason, at_end=form.at_end)


def _retire(filled: Filled) -> Said:
    form = forms.read_retire(filled.values)
    return form if isinstance(form, FieldErrors) else RetireWanted(by=filled.by, reason=form.reason)


def _leave(filled: Filled) -> Said:
    form = forms.read_leave(filled.values, now=filled.by.at, most=filled.snapshot.policy.limits.leave)
    if isinstance(form, FieldErrors):
        return form
    return LeaveWanted(by=filled.by, until=form.until, reason=form.reason, false_alarm=form.false_alarm)


def _wait(filled: Filled) -> Said:
    form = forms.read_wait(filled.values, now=filled.by.at)
    return form if isinstance(form, FieldErrors) else WaitWanted(by=filled.by, until=form.until)


def _cause(filled: Filled) -> Said:
    form = forms.read_cause(filled.values)
    return form if isinstance(form, FieldErrors) else CauseCorrected(by=filled.by, cause=form.cause, note=form.note)


def _mark_safe(filled: Filled) -> Said:
    form = forms.read_mark_safe(filled.values)
    return form if isinstance(form, FieldErrors) else CauseMarked(by=filled.by, cause=form.cause)


def _not_needed(filled: Filled) -> Said:
    form = forms.read_not_needed(filled.values)
    if isinstance(form, FieldErrors):
        return form
    return NotNeeded(by=filled.by, nominal_times=form.nominal_times, reason=form.reason)


def _rerun(filled: Filled) -> Said:
    form = forms.read_rerun(filled.values)
    if isinstance(form, FieldErrors):
        return form
    return RerunWanted(by=filled.by, nominal_times=form.nominal_times, confirmed=form.confirmed, reason=form.reason)


READ: Mapping[str, Callable[[Filled], Said]] = {
    CallbackId.FIXED: _fixed,
    CallbackId.PAUSE: _pause,
    CallbackId.CHANGE_UNTIL: _change_until,
    CallbackId.RETIRE: _retire,
    CallbackId.LEAVE: _leave,
    CallbackId.WAIT: _wait,
    CallbackId.CAUSE: _cause,
    CallbackId.MARK_SAFE: _mark_safe,
    CallbackId.NOT_NEEDED: _not_needed,
    CallbackId.RERUN: _rerun,
}


def on_submission(desk: Desk, interaction: Interaction) -> dict[str, Any] | None:
    """What Slack is to do with the modal: None closes it; else errors under its fields, or what the person is told."""
    view = interaction.view
    if view is None or view.state is None:
        raise malformed("view", "expected a modal with its state")
    read = READ.get(view.callback_id)
    if read is None:
        raise _unknown("view.callback_id", "unknown_view", "no modal of ours has this name")
    record, number = _occurrence_of(view)
    snapshot = desk.reads.snapshot(record, number)
    if snapshot is None:
        raise _unknown("view.private_metadata", "unknown_occurrence", "there is no such incident")
    values = view.state.values
    event = read(Filled(by=desk.by(interaction.user), values=values, snapshot=snapshot))
    if isinstance(event, FieldErrors):
        return _errors(event.errors)
    key = _key_of(interaction, view)
    said = desk.taken(key=key, event=event, occurrence=(record, number), place=place_of(interaction))
    if said.kind is ToldKind.DONE:
        return None
    if said.kind is ToldKind.INVALID and said.input in values:
        return _errors({said.input: said.reason})
    return {"response_action": "update", "view": told_view(desk.shown(said, occurrence=(record, number)))}


def _errors(errors: Mapping[str, str]) -> dict[str, Any]:
    return {"response_action": "errors", "errors": dict(errors)}


def _occurrence_of(view: View) -> tuple[int, int]:
    try:
        record, number, _ = read_value(view.private_metadata)
    except ValueError as error:
        raise malformed("view.private_metadata", str(error)) from error
    return record, number


def _key_of(interaction: Interaction, view: View) -> str:
    """The same for a submission that is sent again; another once a field was mended."""
    state = msgspec.json.encode(view.state, order="deterministic")
    return f"{DOOR}:{interaction.user.id}:{view.callback_id}:{view.id}:{view.hash}:{sha256(state).hexdigest()[:16]}"


def _unknown(field: str, reason: str, message: str) -> Refused:
    fix = "use a modal that this service opened"
    return Refused(404, reason=reason, field=field, message=message, fix=fix)
