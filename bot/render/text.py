"""Makes any text fit to be shown: one clean line or several, of bounded length, escaped where Slack parses.

It must not know what the text is about.
"""

import re

from bot.evidence.cleaning import clean

ELLIPSIS = "…"
_BLANKS = re.compile(r"\s+")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_SPECIAL = re.compile("[&<>]")


def one_line(text: str, most: int) -> str:
    """`text` as one clean line of at most `most` characters."""
    return shortened(_BLANKS.sub(" ", clean(text[: most * 8])).strip(), most)


def shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + ELLIPSIS


def shortened_middle(text: str, most: int) -> str:
    """Keep both ends, since the names of jobs often differ at their ends only."""
    if len(text) <= most:
        return text
    tail = most // 3
    return text[: most - tail - 1] + ELLIPSIS + text[-tail:]


def escaped(text: str, most: int) -> str:
    """`text` with `& < >` as entities, at most `most` characters, no entity cut."""
    whole = _SPECIAL.sub(lambda found: _ENTITIES[found.group()], text)
    if len(whole) <= most:
        return whole
    kept, length = [], 0
    for character in text:
        piece = _ENTITIES.get(character, character)
        if length + len(piece) > most - 1:
            break
        kept.append(piece)
        length += len(piece)
    return "".join(kept) + ELLIPSIS


def unescaped(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
