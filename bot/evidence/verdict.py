"""Gives a failure its cause: deterministic beats transient, nearer to the root beats farther, else "unknown".

It must never call a failure passing on anything but its root error and that error's own chain.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

from bot.evidence.finding import Finding
from bot.evidence.roots import Reading
from bot.evidence.rules import Clause, Rule, RuleSet
from bot.evidence.statements import statements
from bot.evidence.types import UNKNOWN, Cause, RetryHint

SCAN_FAILED = "sign.scan_failed"
FINDINGS_CAP = 60


class Place(IntEnum):
    """How near to the root error a rule matched."""

    ROOT = 0
    CHAIN = 1
    BESIDE = 2
    LOG = 3
    EARLIER = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """What the patterns found in a failure."""

    findings: tuple["Heard", ...]
    near: frozenset[int]
    around: frozenset[int]
    log: frozenset[int]
    exit_code: int | None
    signal: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What the patterns found in one finding: at the start of what it says (`strict`), or anywhere in it (`loose`)."""

    place: Place
    type: str | None
    types: frozenset[int]
    strict: frozenset[int]
    loose: frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    rule: Rule
    place: Place
    ruled_out: bool
    order: int


class _ScanFailed(Exception):
    """A scan could not be done, so that nothing can be said."""


def judge(
    *, reading: Reading, near: str, around: str, log: str, exit_code: int | None, signal: str | None, rules: RuleSet
) -> Cause:
    """Return the cause of a failure as far as its text decides."""
    try:
        signs = _signs(
            reading=reading, near=near, around=around, log=log, exit_code=exit_code, signal=signal, rules=rules
        )
    except _ScanFailed:
        return _unknown(reason="the log could not be scanned", ruled_out_by=(SCAN_FAILED,))
    matches = tuple(_matches(rules.causes, signs))
    excluded = tuple(match.rule for match in _matches(rules.exclusions, signs) if not match.ruled_out)
    return _chosen(matches, excluded, tuple(_told_around(rules.causes, signs)))


def _told_around(causes: Sequence[Rule], signs: Signs) -> Iterable[str]:
    """Return the causes that stay of which a line around the root speaks, though no error was made out in it."""
    for rule in causes:
        if _passes(rule) or rule.generic or rule.fallback:
            continue
        said = (clause for clause in rule.when if clause.messages and not (clause.types or clause.near or clause.log))
        ruled_out = any(_place(clause, signs, strict=False, now=True) is not None for clause in rule.unless)
        if not ruled_out and any(not signs.around.isdisjoint(clause.messages) for clause in said):
            yield rule.id


def _chosen(matches: Sequence[Match], excluded: tuple[Rule, ...], around: tuple[str, ...]) -> Cause:
    live = [match for match in matches if not match.ruled_out]
    passing = [match for match in live if _passes(match.rule) and match.place <= Place.CHAIN]
    firm = [match for match in live if not _passes(match.rule) and match.place <= _reach(match.rule)]
    last = [match for match in firm if match.rule.fallback]
    firm = [match for match in firm if not match.rule.fallback]
    before = tuple(match.rule.id for match in live if match.place is Place.EARLIER and not _passes(match.rule))
    if firm:
        best = min(firm, key=lambda match: (match.rule.generic, match.place, match.order))
        others = [match for match in (*firm, *passing) if not match.rule.generic]
        return _cause(best, others, excluded)
    if passing:
        best = min(passing, key=lambda match: (match.place, match.order))
        return _cause(best, passing, excluded, (*before, *around))
    if last:
        return _cause(min(last, key=lambda match: (match.place, match.order)), last, excluded)
    gone = tuple(match.rule.id for match in matches if match.ruled_out and match.place <= Place.LOG)
    reason = f"{gone[0]} was ruled out" if gone else "no rule is sure of it"
    return _unknown(reason=reason, ruled_out_by=tuple(dict.fromkeys((*(rule.id for rule in excluded), *gone))))


def _passes(rule: Rule) -> bool:
    return rule.retry_hint is RetryHint.LIKELY


def _reach(rule: Rule) -> Place:
    return Place.ROOT if rule.generic else Place.CHAIN if rule.fallback else Place.LOG


def _cause(best: Match, matches: Iterable[Match], excluded: tuple[Rule, ...], before: tuple[str, ...] = ()) -> Cause:
    """Return the cause of the best match; a sign of the cause's own kind does not speak against it."""
    rule = best.rule
    signs = (sign.id for sign in excluded if sign.group != rule.group)
    ruled_out_by = tuple(dict.fromkeys((*signs, *before)))
    hint = rule.retry_hint
    if ruled_out_by and hint is RetryHint.LIKELY:
        hint = RetryHint.DEPENDS
    return Cause(
        id=rule.id,
        title=rule.title,
        group=rule.group,
        retry_hint=hint,
        never_safe=rule.never_safe,
        reason=_REASONS[best.place],
        also=tuple(dict.fromkeys(match.rule.id for match in matches if match.rule.id != rule.id)),
        ruled_out_by=ruled_out_by,
        platform_team=rule.platform_team,
    )


_REASONS = {
    Place.ROOT: "the root error says so",
    Place.CHAIN: "an error in the root error's chain says so",
    Place.BESIDE: "an error beside the root error says so",
    Place.LOG: "the log and the way it ended say so",
    Place.EARLIER: "an earlier error says so",
}


def _unknown(*, reason: str, ruled_out_by: tuple[str, ...] = ()) -> Cause:
    return Cause(
        id=UNKNOWN,
        title="Cause not recognised",
        group=UNKNOWN,
        retry_hint=RetryHint.DEPENDS,
        never_safe=True,
        reason=reason,
        ruled_out_by=ruled_out_by,
    )


def _signs(
    *, reading: Reading, near: str, around: str, log: str, exit_code: int | None, signal: str | None, rules: RuleSet
) -> Signs:
    return Signs(
        findings=tuple(_heard(place, finding, rules) for place, finding in _placed(reading)),
        near=_found(rules.lines.find(near)),
        around=_found(rules.messages.find(around)),
        log=_found(rules.lines.find(log)),
        exit_code=exit_code,
        signal=signal,
    )


def _placed(reading: Reading) -> list[tuple[Place, Finding]]:
    """Return the findings with their place, each statement once, the nearest first."""
    groups: tuple[tuple[Place, Sequence[Finding]], ...] = (
        (Place.ROOT, (reading.root,) if reading.root is not None else ()),
        (Place.CHAIN, reading.chain),
        (Place.BESIDE, reading.beside),
        (Place.EARLIER, reading.earlier),
    )
    placed: dict[tuple[str | None, str, bool], tuple[Place, Finding]] = {}
    for place, findings in groups:
        for finding in findings:
            placed.setdefault((finding.type, finding.message[:200], place is Place.ROOT), (place, finding))
    return list(placed.values())[:FINDINGS_CAP]


def _heard(place: Place, finding: Finding, rules: RuleSet) -> Heard:
    starts = statements(finding.message)
    if finding.text != finding.message:
        starts = (*starts, *statements(finding.text))
    strict = _found(rules.messages.find("\n".join(starts)))
    loose = _found(rules.messages.find(f"{finding.message}\n{finding.text}"))
    types = rules.types.find(finding.type) if finding.type is not None else frozenset()
    return Heard(place=place, type=finding.type, types=types, strict=strict, loose=strict | loose)


def _found(found: frozenset[int] | None) -> frozenset[int]:
    if found is None:
        raise _ScanFailed
    return found


def _matches(rules: Sequence[Rule], signs: Signs) -> Iterable[Match]:
    for order, rule in enumerate(rules):
        strict = _passes(rule)
        places = [place for clause in rule.when if (place := _place(clause, signs, strict=strict)) is not None]
        if places:
            ruled_out = any(_place(clause, signs, strict=False, now=True) is not None for clause in rule.unless)
            yield Match(rule=rule, place=min(places), ruled_out=ruled_out, order=order)


def _place(clause: Clause, signs: Signs, *, strict: bool, now: bool = False) -> Place | None:
    """Return how near to the root all signals of a clause are there, or None when they are not."""
    if clause.exits and signs.exit_code not in clause.exits:
        return None
    if clause.signals and signs.signal not in clause.signals:
        return None
    if clause.near and signs.near.isdisjoint(clause.near):
        return None
    if clause.log and signs.log.isdisjoint(clause.log):
        return None
    if not clause.speaks_of_error:
        return Place.LOG
    places = [heard.place for heard in signs.findings if _speaks(clause, heard, strict=strict)]
    return min((place for place in places if not (now and place is Place.EARLIER)), default=None)


def _speaks(clause: Clause, heard: Heard, *, strict: bool) -> bool:
    if clause.messages and (heard.strict if strict else heard.loose).isdisjoint(clause.messages):
        return False
    if not clause.types:
        return True
    return not heard.types.isdisjoint(clause.types) or (clause.untyped and heard.type is None)
