"""Which lines of a mail its writer wrote: outside quotes, header blocks, signatures and footers. It reads no command.

A quote may be *marked* (each line with ">" or by markup): what stands below it is the writer's own again. Below an unmarked
one nothing is.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from bot.mail.attribution import attribution_begins, begins_header_block
from bot.mail.letters import plain, trimmed
from bot.mail.tongues import PHONE_FOOTERS, SIGN_OFFS

DIVIDER = "_" * 32
MOST_LINES = 5_000
LONGEST_MARK = 500
LONGEST_KEPT = 5_000

_MARK = re.compile(r"[ \t\xa0]{0,8}(?:[>＞»]|[A-Z]{1,3}>|\|[ \t]|\|$)")
_BARS = re.compile(r"\|-{4,}>")
_RULE = re.compile(r"[_]{5,}|[-=*~#–—]{8,}")
_SEPARATOR = re.compile(r"[-–—_=*]{2,}[ \t]*(?P<said>[^-–—_=*\s].{0,200}?)[ \t]*(?:[-–—_=*]{2,})")
_THREE = re.compile(r"[-–—_=*]{3}")
_SIGNATURE = frozenset({"--", "—", "––"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of text. `quoted`, `signature`: markup says so."""

    text: str
    quoted: bool = False
    signature: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """The writer's own lines, trimmed, none blank. `capped`: more lines than are read; `last`: the text ends with one."""

    lines: tuple[str, ...]
    capped: bool = False
    last: bool = False


def lines_of_text(text: str) -> tuple[Line, ...]:
    """The lines of a plain text, one more than are read at most."""
    found: list[Line] = []
    at = 0
    while at <= len(text) and len(found) <= MOST_LINES:
        end = text.find("\n", at)
        if end < 0:
            end = len(text)
        found.append(Line(text=text[at:end]))
        at = end + 1
    return tuple(found)


def own_lines(lines: Sequence[Line], *, bot: str) -> Own:
    """The lines that the writer wrote. `bot`: our own mailbox's name, as attributions tell it."""
    read = tuple(islice(lines, MOST_LINES))
    quiet = [plain(line.text[:LONGEST_MARK]) for line in read]
    marked = [line.quoted or _is_marked(line.text) for line in read]
    introduced = _introductions(quiet, marked, bot)
    own: list[str] = []
    in_signature = False
    index, last_own, ended = 0, -1, False
    while index < len(read):
        if index in introduced:
            after = introduced[index]
            if after is None or not _quote_follows(marked, quiet, after):
                ended = True
                break
            index, in_signature = after, False
            continue
        line, said = read[index], quiet[index]
        if marked[index]:
            in_signature = False
        elif _cuts(said) or _BARS.match(said):
            ended = True
            break
        elif said in _SIGNATURE:
            in_signature = True
        elif said and not line.signature and not in_signature and (text := trimmed(line.text.strip()[:LONGEST_KEPT])):
            own.append(text)
            last_own = index
            in_signature = len(own) > 1 and _signs_off(said)
            if in_signature:
                own.pop()
        index += 1
    capped = len(lines) > MOST_LINES and not ended
    return Own(lines=tuple(own), capped=capped, last=last_own == len(read) - 1)


def _is_marked(text: str) -> bool:
    return bool(_MARK.match(text)) and not _BARS.match(text.lstrip())


def _introductions(quiet: list[str], marked: list[bool], bot: str) -> dict[int, int | None]:
    """Where a quote is introduced: the first line of each introduction, and the line after an attribution.

    After a header block or a separator comes None: a forwarded mail may hold marked quotes of its own.
    """
    found: dict[int, int | None] = {}
    for index, said in enumerate(quiet):
        if marked[index] or not said:
            continue
        if said.endswith((":", "：")) and (start := attribution_begins(quiet, marked, index, bot)) is not None:
            found.setdefault(start, index + 1)
        elif begins_header_block(quiet, index) or _separates(said):
            found.setdefault(index, None)
    return found


def _separates(line: str) -> bool:
    """Whether dashes around words divide: three on each side, or two around what clients write."""
    found = _SEPARATOR.fullmatch(line)
    if found is None:
        return False
    return bool(_THREE.match(line) and _THREE.match(line[-3:])) or "message" in found["said"].lower()


def _cuts(said: str) -> bool:
    return bool(_RULE.fullmatch(said))


def _quote_follows(marked: list[bool], quiet: list[str], index: int) -> bool:
    """Whether the next line that says something is marked as quoted."""
    for place in range(index, min(index + 10, len(quiet))):
        if marked[place]:
            return True
        if quiet[place]:
            return False
    return False


def _signs_off(said: str) -> bool:
    low = said.lower().rstrip(",.! ")
    return low in SIGN_OFFS or any(low.startswith(footer) for footer in PHONE_FOOTERS)
