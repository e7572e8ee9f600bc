"""Tells which rules were tried on a failure and what became of each, for people who write rules.

It decides nothing: the cause is what `read_failure` says.
"""

from dataclasses import dataclass

from bot.evidence.reading import failure_of
from bot.evidence.rules import RuleSet
from bot.evidence.types import ErrorReport
from bot.evidence.verdict import REASONS, ScanFailed, signs_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A rule of which all signs are there: where they are, and whether another sign rules it out again."""

    id: str
    excludes: bool
    reason: str
    ruled_out: bool


def tried_rules(*, error: ErrorReport, rules: RuleSet) -> tuple[Tried, ...] | None:
    """Return the rules that matched, the nearest to the root error first; None when the log could not be scanned."""
    try:
        signs = signs_of(failure_of(error), rules)
    except ScanFailed:
        return None
    matches = [*rules.causes.matches(signs), *rules.exclusions.matches(signs)]
    matches.sort(key=lambda match: (match.rule.excludes, match.place, match.order))
    return tuple(
        Tried(
            id=match.rule.id,
            excludes=match.rule.excludes,
            reason=REASONS[match.place],
            ruled_out=match.ruled_out,
        )
        for match in matches
    )
