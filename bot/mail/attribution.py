"""The lines by which mail clients introduce a quote: "On ... wrote:" and blocks of From, Sent, To, Subject. Any language.

It knows the words of many languages and, for the others, the shape. It decides nothing about commands.
"""

import re
from collections.abc import Sequence

from bot.mail.commands import CommandWord, looks_like_a_command
from bot.mail.tongues import COPY, FROM, SENT, SUBJECT, TO, WROTE, WROTE_WITHIN

MOST_BACK = 6
MOST_BLOCK = 12
LONGEST = 500

_ADDRESS = re.compile(r"(?<![^\s@<>:])[^\s@<>:]{1,64}@[^\s@<>:]{1,255}")
_DATE = re.compile(
    r"\d{4}\D{1,3}\d{1,2}\D{1,3}\d{1,2}|\d{1,2}[./-]\s?\d{1,2}[./-]\s?\d{2,4}|\b\d{1,2}(?:st|nd|rd|th)?\b.{0,20}\b(?:19|20)\d\d\b"
    r"|\b\d{1,2}\b.{1,20}\d{1,2}[:.h]\d\d|\b\d{1,2}[:.]\d\d\b"
)
_LABEL = re.compile(r"[*_|> ]{0,4}(?P<label>[^\W\d_][^:：]{0,24}?)[*_ ]{0,3}[:：][*_]{0,2}(?P<value>.*)")


def attribution_begins(quiet: Sequence[str], marked: Sequence[bool], index: int, bot: str) -> int | None:
    """The first line of the attribution whose last line, with its colon, is `index`; None where it is none."""
    joined = ""
    back, seen = index, 0
    known: int | None = None
    while back >= 0 and index - back <= 2 * MOST_BACK and seen < MOST_BACK:
        said = quiet[back]
        if said:
            if marked[back] or (back < index and looks_like_a_command(said)):
                break
            seen += 1
            joined = f"{said} {joined}"
            if len(joined) > LONGEST:
                break
            if _attributes(joined, bot):
                if _DATE.search(joined):
                    return back
                known = back if known is None else known
        elif back < index and joined.count("<") == joined.count(">"):
            break
        back -= 1
    return known


def begins_header_block(quiet: Sequence[str], index: int) -> bool:
    """Whether a block of header names begins at `index`."""
    first = _LABEL.match(quiet[index])
    if first is None or looks_like_a_command(quiet[index]):
        return False
    if _sort(first["label"]) == "from" and _ADDRESS.search(first["value"]):
        return True
    sorts: set[str] = set()
    labels, address = 0, False
    for place in range(index, min(index + MOST_BLOCK, len(quiet))):
        said = quiet[place]
        if not said:
            break
        if not (found := _LABEL.match(said)):
            continue
        labels += 1
        sorts.add(_sort(found["label"]))
        address = address or bool(_ADDRESS.search(found["value"]))
    known = sorts - {""}
    return len(known) >= 3 or (len(known) >= 2 and "from" in known) or (labels >= 3 and address)


def _attributes(text: str, bot: str) -> bool:
    address, date = bool(_ADDRESS.search(text)), bool(_DATE.search(text))
    low = text.lower()
    words = set(re.findall(r"[^\s,.;:：<>\"()]+", low))
    if not words.isdisjoint(CommandWord):
        return False
    wrote = not WROTE.isdisjoint(words) or any(word in low for word in WROTE_WITHIN)
    if address:
        return date or wrote or low.count(" ") <= 4
    return date and (wrote or bot in words)


def _sort(label: str) -> str:
    """Which header the label names: from, sent, to, copy, subject, or none that is known."""
    low = label.strip().lower()
    words = low.split()
    for names, sort in ((FROM, "from"), (SENT, "sent"), (TO, "to"), (COPY, "copy"), (SUBJECT, "subject")):
        if low in names or "".join(words) in names or (words and words[0] in names and len(words) <= 3):
            return sort
    return ""
