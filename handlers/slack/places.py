"""Where a private answer to a click goes, and what it looks like there. It must not send it."""

from dataclasses import dataclass
from typing import Any

from bot.render.rendered import Rendered
from handlers.slack.payloads import Container, Interaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a private answer to a click goes: into the open modal, else beside the message."""

    user: str
    trigger_id: str
    view_id: str | None
    channel: str | None
    thread_ts: str | None


def place_of(interaction: Interaction) -> Place:
    message, container = interaction.message, interaction.container or Container()
    own_ts = message.ts if message else container.message_ts
    thread_ts = (message.thread_ts if message else None) or container.thread_ts
    return Place(
        user=interaction.user.id,
        trigger_id=interaction.trigger_id,
        view_id=interaction.view.id if interaction.view else None,
        channel=interaction.channel.id if interaction.channel else container.channel_id,
        thread_ts=thread_ts if thread_ts != own_ts else None,
    )


def told_view(rendered: Rendered) -> dict[str, Any]:
    """A modal that only says something."""
    return {
        "type": "modal",
        "title": {"type": "plain_text", "text": "ontrack"},
        "close": {"type": "plain_text", "text": "Close"},
        "blocks": list(blocks_of(rendered)),
    }


def blocks_of(rendered: Rendered) -> tuple[dict[str, Any], ...]:
    if rendered.blocks:
        return rendered.blocks
    return ({"type": "section", "text": {"type": "plain_text", "text": rendered.text[:3000]}},)


def link_to(url: str) -> dict[str, Any]:
    elements = [{"type": "link", "url": url, "text": "Open the current thread"}]
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": elements}]}
