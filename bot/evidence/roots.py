"""Chooses the root error among the findings of a log: the first that was final, before its cascade.

It reads no patterns of causes; the rules do.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bot.evidence.finding import Finding, Link, Weight
from bot.evidence.lines import Level, LogLine
from bot.evidence.types import EvidenceLine

SHOWN_LINES = 12
REACH = 120

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


def choose_root(findings: Sequence[Finding], lines: Sequence[LogLine]) -> Reading:
    """Return the findings sorted by how near they are to what began the failure."""
    if not findings:
        return Reading(root=None)
    strongest = max(finding.weight for finding in findings)
    floor = min(strongest, Weight.TOLD) if strongest >= Weight.TOLD else strongest
    start = _start_of_the_end(findings, lines, floor)
    final = [finding for finding in findings if finding.first >= start]
    head = next(finding for finding in final if finding.weight >= floor)
    chain = [finding for finding in findings if finding.chain == head.chain]
    root = _root_of(chain)
    beside = [finding for finding in final if finding.chain != head.chain]
    earlier = [finding for finding in findings if finding.first < start and finding.chain != head.chain]
    return Reading(
        root=root, chain=tuple(one for one in chain if one is not root), beside=tuple(beside), earlier=tuple(earlier)
    )


def _start_of_the_end(findings: Sequence[Finding], lines: Sequence[LogLine], floor: Weight) -> int:
    """Return the index of the line from which nothing was healed any more."""
    strong = [finding for finding in findings if finding.weight >= floor]
    start = strong[-1].first
    for earlier, later in zip(reversed(strong[:-1]), reversed(strong[1:]), strict=True):
        between = range(earlier.last + 1, later.first)
        if len(between) > REACH or any(_RECOVERED.search(lines[at].text[:400]) for at in between):
            break
        start = earlier.first
    return start


def _root_of(chain: Sequence[Finding]) -> Finding:
    """Follow a chain of exceptions to the one that began it."""
    root = chain[0]
    for finding in chain[1:]:
        if finding.link in (Link.CAUSE, Link.CONTEXT) and finding.weight >= Weight.TOLD:
            root = finding
    return root


def shown_root(reading: Reading) -> Finding | None:
    """Return the finding in the log that shows the root: the root itself, or the log's own when it was told apart."""
    findings = (*((reading.root,) if reading.root is not None else ()), *reading.chain, *reading.beside)
    return next((finding for finding in findings if finding.first >= 0), None)


def evidence_lines(reading: Reading, lines: Sequence[LogLine]) -> tuple[EvidenceLine, ...]:
    """Return at most twelve lines: the decisive ones, what else failed, what leads to them."""
    root = shown_root(reading)
    if root is None:
        wanted = list(range(len(lines) - 1, -1, -1))
        decisive: set[int] = set()
    else:
        decisive = set(range(root.first, min(root.last, root.first + 3) + 1))
        before = range(root.first - 1, max(root.first - 4, -1), -1)
        wanted = sorted(decisive)
        wanted += [finding.first for finding in (*reading.chain, *reading.beside) if finding.first >= 0]
        wanted += [at for at in before if lines[at].level in (Level.NONE, Level.WARN, Level.ERROR)]
    chosen: dict[int, EvidenceLine] = {}
    for at in wanted:
        line = lines[at]
        if line.number not in chosen and len(chosen) < SHOWN_LINES and line.shown.strip():
            chosen[line.number] = EvidenceLine(number=line.number, text=line.shown, decisive=at in decisive)
    return tuple(chosen[number] for number in sorted(chosen))
