"""Reads from Slack what `doctor` looks at: channels, and what would be wrong with a message. It must not send or keep anything."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.adapters.slack_answers import FoundChannel, Validated
from bot.adapters.slack_wire import SlackWire
from bot.ports import SendFailed

INVALID = frozenset({"invalid_blocks", "invalid_blocks_format", "invalid_view", "msg_blocks_too_long", "msg_too_long"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackChannel:
    """A channel as the bot sees it; `member`: the bot is in it."""

    id: str
    name: str
    archived: bool
    member: bool
    private: bool


def channel(wire: SlackWire, channel_id: str) -> SlackChannel | None:
    """The channel with this id; None when there is none that the bot may see."""
    try:
        found = wire.read("conversations.info", {"channel": channel_id}, FoundChannel).channel
    except SendFailed as failed:
        if failed.code == "channel_not_found":
            return None
        raise
    return SlackChannel(
        id=found.id, name=found.name, archived=found.is_archived, member=found.is_member, private=found.is_private
    )


def problems(
    wire: SlackWire, *, message: Mapping[str, Any] | None = None, view: Mapping[str, Any] | None = None
) -> tuple[str, ...]:
    """What Slack finds wrong, each with its place; raises `SendFailed` where it does not look."""
    name, value = ("message", message) if message is not None else ("view", view)
    try:
        found = wire.read("blocks.validate", {name: json.dumps(value, ensure_ascii=False)}, Validated)
    except SendFailed as failed:
        if failed.code not in INVALID:
            raise
        return tuple(getattr(failed, "__notes__", ())) or (failed.code,)
    return tuple(f"{each.message or each.code} [{each.pointer}]" for each in found.errors)
