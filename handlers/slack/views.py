"""A submitted modal: what was filled in becomes a person's word, or an error under the field that must be mended.

It must not know single modals, nor judge what was filled in.
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import msgspec

from bot.incidents.effects import ToldKind
from bot.render.actions import is_from_home, read_value
from bot.render.form_fields import FieldErrors
from handlers.slack import home
from handlers.slack.desk import DOOR, Desk
from handlers.slack.filled import READ, Filled
from handlers.slack.payloads import Interaction, View, malformed
from handlers.slack.places import told_view
from handlers.wire import Refused


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
    said = desk.taken(key=key, event=event, occurrence=(record, number))
    if is_from_home(view.private_metadata):
        home.show(desk, interaction.user.id)
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
