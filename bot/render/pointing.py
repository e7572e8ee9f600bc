"""Points a message that stands elsewhere to the thread of its incident. It must not know where either stands."""

from dataclasses import replace

from bot.render.rendered import Rendered
from bot.render.segments import Link, link, rich_line

LABEL = "Open the thread"


def pointing(rendered: Rendered, url: str | None) -> Rendered:
    """`rendered` with a link to the thread before its buttons; as it is where the thread has no address."""
    thread = link(url, LABEL) if url else None
    if not isinstance(thread, Link):
        return rendered
    said = [block for block in rendered.blocks if block["type"] != "actions"]
    buttons = [block for block in rendered.blocks if block["type"] == "actions"]
    return replace(rendered, blocks=(*said, rich_line([thread]), *buttons))
