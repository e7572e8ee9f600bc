"""Chooses the root error among the findings of a log: the first that was final, before its cascade.

It reads no patterns of causes; the rules do.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from bot.evidence.finding import Finding, Link, Weight
from bot.evidence.log import Log

REACH = 120
FRAMES = 200

_FRAME = re.compile(r'^\s{0,8}File "[^"]{1,400}", line \d')
_FROM_WITHOUT = re.compile(
    r"Connect|Timeout|TimedOut|BrokenPipe|Network|Socket|\b(?:OS|IO|HTTP|URL|SSL)Error|Unavailable"
)
_LIBRARY = re.compile(r"(?:site|dist)-packages|[/\\]lib[/\\]python\d|[/\\]Lib[/\\]|<frozen |<string>")

_RECOVERED = re.compile(
    r"re-?established|reachable (?:again )?after|recovered|\bsucceeded (?:after|on)|reconnected|retry succeeded"
    r"|announced itself again"
    r"|connection restored|back online|attempt \d{1,3} succeeded",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The root, what belongs to its own chain, what else failed with it, and what failed earlier in the log."""

    root: Finding | None
    chain: tuple[Finding, ...] = ()
    beside: tuple[Finding, ...] = ()
    earlier: tuple[Finding, ...] = ()


def choose_root(findings: Sequence[Finding], lines: Log) -> Reading:
    """Return the findings sorted by how near they are to what began the failure."""
    if not findings:
        return Reading(root=None)
    strongest = max(finding.weight for finding in findings)
    floor = min(strongest, Weight.TOLD) if strongest >= Weight.TOLD else strongest
    start = _start_of_the_end(findings, lines, floor)
    final = [finding for finding in findings if finding.first >= start]
    head = next(finding for finding in final if finding.weight >= floor)
    linked = [finding for finding in findings if finding.chain == head.chain]
    root = _root_of(linked)
    own = [finding for finding in _handled(linked, root) if _is_the_programs_own(finding, lines)]
    beside = [*own, *(finding for finding in final if finding.chain != head.chain)]
    earlier = [finding for finding in findings if finding.first < start and finding.chain != head.chain]
    return Reading(
        root=root,
        chain=tuple(one for one in linked if one is not root and one not in own),
        beside=tuple(beside),
        earlier=tuple(earlier),
    )


def _start_of_the_end(findings: Sequence[Finding], lines: Log, floor: Weight) -> int:
    """Return the index of the line from which nothing was healed any more."""
    strong = [finding for finding in findings if finding.weight >= floor]
    start = strong[-1].first
    for earlier, later in zip(reversed(strong[:-1]), reversed(strong[1:]), strict=True):
        between = range(earlier.last + 1, later.first)
        if len(between) > REACH or any(_RECOVERED.search(line.text[:400]) for line in lines.healed(between)):
            break
        start = earlier.first
    return start


def _root_of(linked: Sequence[Finding]) -> Finding:
    """Follow a chain of exceptions to the one that began it."""
    root = linked[0]
    for finding in linked[1:]:
        if finding.link in (Link.CAUSE, Link.CONTEXT) and finding.weight >= Weight.TOLD:
            root = finding
    return root


def _handled(linked: Sequence[Finding], root: Finding) -> Iterator[Finding]:
    """The errors that were being handled when the root, or what led to it, was raised."""
    for finding, after in pairwise(linked):
        if after.link is Link.CONTEXT:
            yield finding
        if after is root:
            return


def _is_the_programs_own(finding: Finding, lines: Log) -> bool:
    """Whether it is the program's own, neither from without nor of a library that tries one way and takes another."""
    if finding.type is None or _FROM_WITHOUT.search(finding.type):
        return False
    frames = [line.text for line in lines[max(finding.start, finding.first - FRAMES) : finding.first]]
    last = next((text for text in reversed(frames) if _FRAME.search(text)), "")
    return bool(last) and not _LIBRARY.search(last)


def shown_root(reading: Reading) -> Finding | None:
    """Return the finding in the log that shows the root: the root itself, or the log's own when it was told apart."""
    findings = (*((reading.root,) if reading.root is not None else ()), *reading.chain, *reading.beside)
    return next((finding for finding in findings if finding.first >= 0), None)
