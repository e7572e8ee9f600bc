"""Keeps a message within what Slack takes, whatever it is about: blocks and characters. It must not know what they say.

What people act on stays whole (header, calls, buttons, stages); tables, lists, verbatim lines and small print give way.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from bot.render.rendered import Rendered
from bot.render.text import shortened

MOST_BLOCKS = 50
MOST_CHARACTERS = 9_000
KEPT = frozenset({"header", "section", "actions", "plan"})
COUNTED = frozenset({"text", "fallback"})

Block = dict[str, Any]


def bounded(rendered: Rendered) -> Rendered:
    """`rendered` as it is, or cut so far that it fits."""
    return replace(rendered, blocks=within(rendered.blocks), richer=within(rendered.richer))


def within(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """The blocks, at most so many and with at most so much text."""
    few = (*blocks[: MOST_BLOCKS - 1], blocks[-1]) if len(blocks) > MOST_BLOCKS else tuple(blocks)
    if _surely_fits(few) or characters(few) <= MOST_CHARACTERS:
        return few
    room = MOST_CHARACTERS - characters([block for block in few if block["type"] in KEPT])
    found: list[Block] = []
    for block in few:
        fitting = block if block["type"] in KEPT else _cut(block, room)
        if fitting is not None:
            found.append(fitting)
            room -= 0 if block["type"] in KEPT else characters(fitting)
    return tuple(found)


def characters(value: Any) -> int:
    """How much text there is, whatever shows it."""
    if isinstance(value, Mapping):
        own = sum(len(each) for key, each in value.items() if key in COUNTED and isinstance(each, str))
        return own + sum(characters(each) for each in value.values())
    return sum(characters(each) for each in value) if isinstance(value, list | tuple) else 0


def _surely_fits(blocks: Sequence[Block]) -> bool:
    """A quick look that settles nearly every message: its text is shorter than all of it."""
    return len(msgspec.json.encode(blocks)) <= MOST_CHARACTERS


def _cut(block: Block, room: int) -> Block | None:
    """As much of the block as fits; None when nothing worth showing does."""
    if characters(block) <= room:
        return block
    match block["type"]:
        case "table":
            rows = _first(block["rows"], room)
            return {**block, "rows": rows} if len(rows) > 1 else None
        case "container":
            children = _cut_all(block["child_blocks"], room - characters(block["title"]), _cut)
            return {**block, "child_blocks": children} if children else None
        case "context":
            elements = _cut_all(block["elements"], room, _cut_lines)
            return {**block, "elements": elements} if elements else None
        case "rich_text":
            elements = _cut_all(block["elements"], room, _cut_element)
            return {**block, "elements": elements} if elements else None
        case _:
            return None


def _cut_element(element: Block, room: int) -> Block | None:
    """As much of an element of rich text as fits; only its last words are cut within."""
    if characters(element) <= room:
        return element
    pieces: Sequence[Block] = element["elements"]
    kept = _first(pieces, room)
    left = room - characters(kept)
    following = pieces[len(kept)] if len(kept) < len(pieces) else None
    if following is not None and following["type"] == "text" and left > 1:
        kept = [*kept, {**following, "text": shortened(following["text"], left)}]
    return {**element, "elements": kept} if kept else None


def _cut_lines(small: Block, room: int) -> Block | None:
    """The first whole lines of small print, since a line that is cut may end within a date or a link."""
    kept: list[str] = []
    for line in small["text"].split("\n"):
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    text = "\n".join(kept).strip()
    return {**small, "text": text} if text else None


def _cut_all(parts: Sequence[Block], room: int, cut: Callable[[Block, int], Block | None]) -> list[Block]:
    found: list[Block] = []
    for part in parts:
        fitting = cut(part, room)
        if fitting is not None:
            found.append(fitting)
            room -= characters(fitting)
    return found


def _first(parts: Sequence[Any], room: int) -> list[Any]:
    """The first parts, as long as they fit."""
    found: list[Any] = []
    for part in parts:
        if characters(part) > room:
            break
        found.append(part)
        room -= characters(part)
    return found
