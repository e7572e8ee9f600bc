"""Compares two texts of several lines: statements, configurations, lists of requirements. It masks nothing."""

import difflib
from dataclasses import dataclass

MOST_COMPARED = 600
MOST_SHOWN = 400
LONGEST_LINE = 200
CONTEXT = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDiff:
    """A unified diff of bounded length, how many lines came and went, and the words of the lines that differ."""

    text: str
    added: int
    removed: int
    changed: str


def text_diff(before: str, after: str) -> TextDiff:
    """Return how `after` differs from `before`, a long difference cut in its middle."""
    old, new = before.split("\n")[:MOST_COMPARED], after.split("\n")[:MOST_COMPARED]
    lines = list(difflib.unified_diff(old, new, lineterm="", n=CONTEXT))[2:]
    came = [line for line in lines if line.startswith("+")]
    gone = [line for line in lines if line.startswith("-")]
    return TextDiff(
        text="\n".join(cut_in_the_middle([_short(line) for line in lines], MOST_SHOWN)),
        added=len(came),
        removed=len(gone),
        changed="\n".join(line[1:] for line in (*gone, *came)),
    )


def cut_in_the_middle(lines: list[str], most: int) -> list[str]:
    """Return at most `most` lines, both ends of more, and how many were left out."""
    if len(lines) <= most:
        return lines
    head = most // 2
    tail = most - head - 1
    return [*lines[:head], f"... {len(lines) - head - tail} lines left out ...", *lines[len(lines) - tail :]]


def _short(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 1] + "\N{HORIZONTAL ELLIPSIS}"
