"""Where a private answer to a click goes, and what it looks like there. It must not send it."""

from dataclasses import dataclass
from typing import Any

from bot.render.actions import is_from_home
from bot.render.rendered import Rendered
from handlers.slack.payloads import Container, Interaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a private answer to a click goes: into the open modal, else beside the message, or into a modal over the Home tab.

    `from_home`: the click was in the Home tab, or in a modal that was opened from there.
    """

    user: str
    trigger_id: str
    view_id: str | None
    channel: str | None
    thread_ts: str | None
    in_home: bool = False
    from_home: bool = False


def place_of(interaction: Interaction) -> Place:
    message, container = interaction.message, interaction.container or Container()
    own_ts = message.ts if message else container.message_ts
    thread_ts = (message.thread_ts if message else None) or container.thread_ts
    view = interaction.view
    in_home = view is not None and view.type == "home"
    return Place(
        user=interaction.user.id,
        trigger_id=interaction.trigger_id,
        view_id=view.id if view and not in_home else None,
        channel=interaction.channel.id if interaction.channel else container.channel_id,
        thread_ts=thread_ts if thread_ts != own_ts else None,
        in_home=in_home,
        from_home=in_home or (view is not None and is_from_home(view.private_metadata)),
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
