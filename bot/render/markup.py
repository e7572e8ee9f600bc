"""Turns what a template wrote into blocks and a notification text.

How a template writes, line by line: `! ` the notification, `# ` a header, `~ ` small print, `@ ` a line that calls
people, `- ` an item of a list, `> ` a quotation, an empty line ends a block; a line that is one whole block stands for it.
`*bold*` and `` `code` `` count in the template's own words only. It must not know what any message says.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from bot.render.segments import Segment, Words, literal, mrkdwn, rich, styled
from bot.render.text import shortened

MOST_TEXT = 1500
MOST_HEADER = 150
MOST_SMALL = 2000
SLOT = "\x00"

Block = dict[str, Any]
Slot = tuple[Segment, ...] | tuple[Block, ...]
_SIGNS = {"!": "text", "#": "header", "~": "small", "@": "call", "-": "item", ">": "quote"}
_PIECES = re.compile(rf"({SLOT}\d+{SLOT}|[*`])")
_NEW_LINE = Words(text="\n")
_ALONE = re.compile(rf"{SLOT}(\d+){SLOT}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A message before its buttons: `text` is mrkdwn, the blocks are in order."""

    text: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of a template's output: its kind, and its pieces or the blocks that it stands for."""

    kind: str
    segments: tuple[Segment, ...] = ()
    blocks: tuple[Block, ...] = ()


def drafted(output: str, slots: Sequence[Slot]) -> Draft:
    """The message that the template's `output` describes; `slots` are the values that it set in."""
    lines = [_line(raw, slots) for raw in output.split("\n")]
    text = " ".join(mrkdwn(line.segments, MOST_TEXT) for line in lines if line.kind == "text")
    blocks: list[Block] = []
    for kind, group in groupby((line for line in lines if line.kind != "text"), key=_place):
        blocks += _blocks(kind, list(group))
    return Draft(text=text[:MOST_TEXT], blocks=tuple(blocks))


def _line(raw: str, slots: Sequence[Slot]) -> Line:
    raw = raw.strip()
    if not raw or raw in _SIGNS:
        return Line(kind="end")
    kind = _SIGNS.get(raw[0]) if raw[1:2] == " " else None
    alone = _ALONE.fullmatch(raw)
    if alone and (blocks := tuple(each for each in slots[int(alone[1])] if isinstance(each, dict))):
        return Line(kind="block", blocks=blocks)
    return Line(kind=kind or "body", segments=inline(raw[2:] if kind else raw, slots))


def inline(written: str, slots: Sequence[Slot]) -> tuple[Segment, ...]:
    """The pieces of one line of a template's output."""
    pieces: list[Segment] = []
    bold = code = False
    for piece in _PIECES.split(written):
        if piece == "*":
            bold = not bold
        elif piece == "`":
            code = not code
        elif piece.startswith(SLOT):
            found = slots[int(piece.strip(SLOT))]
            pieces += [styled(each, bold=bold, code=code) for each in found if not isinstance(each, dict)]
        elif piece:
            pieces.append(Words(text=piece, most=MOST_TEXT, bold=bold, code=code))
    return tuple(pieces)


def _place(line: Line) -> str:
    """What a line shares a block with."""
    return "rich" if line.kind in ("body", "item", "quote") else line.kind


def _blocks(place: str, lines: Sequence[Line]) -> Iterable[Block]:
    match place:
        case "rich":
            yield {"type": "rich_text", "elements": [*_rich_elements(lines)]}
        case "header":
            for line in lines:
                title = shortened(literal(line.segments), MOST_HEADER)
                yield {"type": "header", "text": {"type": "plain_text", "text": title, "emoji": False}}
        case "small":
            small = "\n".join(mrkdwn(line.segments, MOST_SMALL // len(lines)) for line in lines)
            yield {"type": "context", "elements": [{"type": "mrkdwn", "text": small, "verbatim": True}]}
        case "call":
            for line in lines:
                yield {"type": "section", "text": {"type": "mrkdwn", "text": mrkdwn(line.segments, MOST_SMALL)}}
        case "block":
            for line in lines:
                yield from line.blocks


def _rich_elements(lines: Sequence[Line]) -> Iterable[Mapping[str, Any]]:
    for kind, group in groupby(lines, key=lambda line: line.kind):
        written = [line.segments for line in group]
        if kind == "item":
            items = [{"type": "rich_text_section", "elements": rich(line)} for line in written]
            yield {"type": "rich_text_list", "style": "bullet", "elements": items}
        else:
            place = "rich_text_quote" if kind == "quote" else "rich_text_section"
            yield {"type": place, "elements": rich(_joined(written))}


def _joined(lines: Sequence[tuple[Segment, ...]]) -> list[Segment]:
    segments: list[Segment] = []
    for line in lines:
        segments += [_NEW_LINE, *line] if segments else line
    return segments
