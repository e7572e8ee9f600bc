"""The shapes of what Slack sends, as far as they are read; a payload that does not fit is refused before Bolt sees it.

It must not hold fields that nobody reads: Bolt gets no others, so that nothing odd in them can trip it.
"""

from typing import Annotated, Any
from urllib.parse import parse_qsl

import msgspec
from msgspec import Meta, Struct

from handlers.wire import Call, Refused

FORM = "application/x-www-form-urlencoded"
JSON = "application/json"
MOST_FIELDS = 100


class Named(Struct, omit_defaults=True):
    """Anything of which only the id matters."""

    id: str


class User(Struct, omit_defaults=True):
    """Who clicked, and of which workspace; old payloads have `username` for `name`."""

    id: str
    team_id: str | None = None
    name: str | None = None
    username: str | None = None


class Click(Struct, omit_defaults=True):
    """One element that was used. `confirm` is there when the person said yes to its dialog."""

    action_id: str
    block_id: str = ""
    type: str = ""
    value: str | None = None
    action_ts: str | None = None
    confirm: dict[str, Any] | None = None


class Message(Struct, omit_defaults=True):
    """The message on which the click was."""

    ts: str
    thread_ts: str | None = None


class Container(Struct, omit_defaults=True):
    """Where the click was; an ephemeral message has nothing else that tells it."""

    message_ts: str = ""
    thread_ts: str | None = None
    channel_id: str | None = None


class State(Struct, omit_defaults=True):
    """What the inputs of a modal hold, by block and action."""

    values: dict[str, dict[str, dict[str, Any]]]


class View(Struct, omit_defaults=True):
    """A modal: on which the click was, or which was submitted."""

    id: str
    type: str = ""
    callback_id: str = ""
    hash: str = ""
    private_metadata: str = ""
    state: State | None = None


class Interaction(Struct, omit_defaults=True):
    """A click (`block_actions`, always one), a submitted or closed modal (`view_submission`, `view_closed`)."""

    type: str
    user: User
    team: Named | None = None
    trigger_id: str = ""
    channel: Named | None = None
    container: Container | None = None
    message: Message | None = None
    view: View | None = None
    response_url: str = ""
    actions: Annotated[list[Click], Meta(min_length=1, max_length=1)] | None = None


class Happening(Struct, omit_defaults=True):
    """What happened in the workspace."""

    type: str
    user: str = ""
    tab: str = ""


class EventBody(Struct, omit_defaults=True):
    """The Events API: something happened, or Slack asks whether this address is ours."""

    type: str
    team_id: str = ""
    event: Happening | None = None
    challenge: str = ""


class Command(Struct, omit_defaults=True):
    """A slash command."""

    command: str
    user_id: str
    team_id: str = ""
    channel_id: str = ""
    text: str = ""
    user_name: str = ""
    response_url: str = ""


Payload = Interaction | EventBody | Command
ENVELOPES: dict[str, type[Payload]] = {
    "interactive": Interaction,
    "events_api": EventBody,
    "slash_commands": Command,
}


def payload_of(call: Call) -> Payload | None:
    """What the body says; None for Slack's check of our certificate. Raises `Refused` with 400 or 415."""
    media = call.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        text = call.body.decode("utf-8")
        if media == JSON:
            return msgspec.json.decode(text, type=EventBody)
        if media == FORM:
            return _of_form(text)
    except UnicodeDecodeError as error:
        raise malformed("body", "expected UTF-8") from error
    except msgspec.DecodeError as error:
        raise malformed("payload", str(error)[:300]) from error
    except RecursionError as error:
        raise malformed("payload", "nested too deeply") from error
    fix = f"send {FORM} or {JSON}, as Slack does"
    raise Refused(415, reason="content_type", field="Content-Type", message=f"{media[:80]} is not taken here", fix=fix)


def payload_in(kind: str, payload: Any) -> Payload:
    """What an envelope of Socket Mode holds. Raises `Refused` with 400."""
    if kind not in ENVELOPES:
        raise malformed("type", f"expected one of {', '.join(ENVELOPES)}")
    try:
        return msgspec.convert(payload, ENVELOPES[kind])
    except msgspec.ValidationError as error:
        raise malformed("payload", str(error)[:300]) from error


def _of_form(text: str) -> Payload | None:
    try:
        fields = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)
    except UnicodeDecodeError:
        raise
    except ValueError as error:
        raise malformed("body", "expected a form with fewer fields") from error
    named = dict(fields)
    if len(named) != len(fields):
        raise malformed("body", "expected each field once")
    if named.get("ssl_check") == "1":
        return None
    if "payload" in named:
        return msgspec.json.decode(named["payload"], type=Interaction)
    return msgspec.convert(named, Command)


def malformed(field: str, message: str) -> Refused:
    return Refused(400, reason="malformed", field=field, message=message, fix="send what Slack sent")
