"""The short form of a message that the workspace found too long. It must not know what the message says."""

import json
from typing import Any

MOST = 4_000
KEPT = frozenset({"header", "actions"})
CUT = "This message was too long for Slack: it is shown in its short form."

Block = dict[str, Any]


def short_form(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """The header, the buttons, and of the rest what comes first and has room; then the word that something is left out."""
    room, short = MOST, list[Block]()
    for block in blocks:
        size = len(json.dumps(block, ensure_ascii=False))
        if block["type"] in KEPT or size <= room:
            short.append(block)
            room -= 0 if block["type"] in KEPT else size
    return (*short, {"type": "context", "elements": [{"type": "plain_text", "text": CUT, "emoji": False}]})
