"""Gives a failure its cause: deterministic beats transient, nearer to the root beats farther, else "unknown".

It must never call a failure passing on anything but its root error and that error's own chain.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from bot.evidence.engine import text_bytes
from bot.evidence.finding import Finding, Weight
from bot.evidence.log import Log
from bot.evidence.reported import Ending
from bot.evidence.roots import Reading
from bot.evidence.rule import Rule
from bot.evidence.rules import RuleSet
from bot.evidence.signs import Heard, Match, Place, Signs, rules_out
from bot.evidence.statements import statements
from bot.evidence.types import UNKNOWN, Cause, RetryHint

SCAN_FAILED = "sign.scan_failed"
ANOTHER_ERROR = "sign.another_error"
FINDINGS_CAP = 60
REASONS = {
    Place.ROOT: "the root error says so",
    Place.CHAIN: "an error in the root error's chain says so",
    Place.BESIDE: "an error beside the root error says so",
    Place.LOG: "a line of the log says so",
    Place.ENDING: "the way it ended says so",
    Place.EARLIER: "an earlier error says so",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What is to be judged: what the log and the scheduler say, the lines `near` the root, how the process ended."""

    reading: Reading
    log: Log
    near: range
    ending: Ending


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A cause and how near to the root its rule matched; `said_at` is where in the log, when no error's words did."""

    cause: Cause
    place: Place | None = None
    said_at: int | None = None


class ScanFailed(Exception):
    """A scan could not be done, so that nothing can be said."""


def judge(failure: Failure, *, around: Callable[[], str], rules: RuleSet) -> Verdict:
    """Return the cause of a failure as far as its text decides; `around` gives what the lines near the root say."""
    try:
        signs = signs_of(failure, rules)
        matches = tuple(rules.causes.matches(signs))
        excluded = tuple(match.rule for match in rules.exclusions.matches(signs) if not match.ruled_out)
        return _chosen(
            matches, excluded, signs, lambda: (*_unknown_beside(signs, rules), *_told_around(around(), signs, rules))
        )
    except ScanFailed:
        return Verdict(cause=_unknown(reason="the log could not be scanned", ruled_out_by=(SCAN_FAILED,)))


def _unknown_beside(signs: Signs, rules: RuleSet) -> Iterable[str]:
    """Say so when the program raised another error too, of which no rule knows what it means."""
    beside = (heard for heard in signs.findings if heard.raised and heard.place is Place.BESIDE)
    if not all(rules.causes.knows(heard) for heard in beside):
        yield ANOTHER_ERROR


def _told_around(around: str, signs: Signs, rules: RuleSet) -> Iterable[str]:
    """Return the causes that stay of which a line around the root speaks, though no error was made out in it."""
    heard = _found(rules.messages.find(text_bytes(around)))
    for rule in rules.causes.saying(heard):
        if rule.passes or rule.generic or rule.fallback or rules_out(rule, signs):
            continue
        said = (clause for clause in rule.when if clause.messages and not (clause.types or clause.near or clause.log))
        if any(message in heard for clause in said for message in clause.messages):
            yield rule.id


def _chosen(
    matches: Sequence[Match], excluded: tuple[Rule, ...], signs: Signs, around: Callable[[], tuple[str, ...]]
) -> Verdict:
    live = [match for match in matches if not match.ruled_out]
    passing = [match for match in live if match.rule.passes and match.place <= Place.CHAIN]
    firm = [match for match in live if not match.rule.passes and match.place <= _reach(match.rule)]
    last = [match for match in firm if match.rule.fallback]
    firm = [match for match in firm if not match.rule.fallback]
    if firm:
        best = min(firm, key=lambda match: (match.rule.generic, match.place, match.order))
        others = [match for match in (*firm, *passing) if not match.rule.generic]
        return _verdict(best, others, excluded, signs)
    if passing:
        best = min(passing, key=lambda match: (match.place, match.order))
        before = (match.rule.id for match in live if not match.rule.passes and _speaks_against(match))
        return _verdict(best, passing, excluded, signs, (*before, *around()))
    if last:
        return _verdict(min(last, key=lambda match: (match.place, match.order)), last, excluded, signs)
    gone = tuple(match.rule.id for match in matches if match.ruled_out and match.place < Place.EARLIER)
    reason = f"{gone[0]} was ruled out" if gone else "no rule is sure of it"
    against = tuple(dict.fromkeys((*(rule.id for rule in excluded), *gone)))
    return Verdict(cause=_unknown(reason=reason, ruled_out_by=against))


def _speaks_against(match: Match) -> bool:
    """Whether what does not pass was said earlier, or of another error that the program raised in the same failure."""
    return match.place is Place.EARLIER or (match.rule.generic and match.place is Place.BESIDE)


def _reach(rule: Rule) -> Place:
    return Place.ROOT if rule.generic else Place.CHAIN if rule.fallback else Place.ENDING


def _verdict(
    best: Match, matches: Iterable[Match], excluded: tuple[Rule, ...], signs: Signs, before: tuple[str, ...] = ()
) -> Verdict:
    """Return the cause of the best match; a sign of the cause's own kind does not speak against it."""
    rule = best.rule
    against = (sign.id for sign in excluded if sign.group != rule.group)
    ruled_out_by = tuple(dict.fromkeys((*against, *before)))
    hint = rule.retry_hint
    if ruled_out_by and hint is RetryHint.LIKELY:
        hint = RetryHint.DEPENDS
    also = dict.fromkeys(match.rule.id for match in matches)
    cause = Cause(
        id=rule.id,
        title=rule.title,
        group=rule.group,
        retry_hint=hint,
        never_safe=rule.never_safe,
        reason=REASONS[best.place],
        also=tuple(other for other in also if other != rule.id and other not in rule.implies),
        ruled_out_by=ruled_out_by,
        platform_team=rule.platform_team,
    )
    return Verdict(cause=cause, place=best.place, said_at=_said_at(rule, signs) if best.place is Place.LOG else None)


def _said_at(rule: Rule, signs: Signs) -> int | None:
    """Return where in the log the rule's own words end first."""
    return min((signs.log[one] for clause in rule.when for one in clause.log if one in signs.log), default=None)


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


def signs_of(failure: Failure, rules: RuleSet) -> Signs:
    """Return what the patterns find in a failure; raises ScanFailed."""
    log = _found(rules.lines.find(failure.log.data))
    near: Mapping[int, int] = {}
    if not rules.near.isdisjoint(log):
        near = _found(rules.lines.find(failure.log.raw(failure.near)))
    return Signs(
        findings=tuple(_heard(place, finding, rules) for place, finding in _placed(failure.reading)),
        near=near,
        log=log,
        exit_code=failure.ending.exit_code,
        signal=failure.ending.signal,
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
    strict = _found(rules.messages.find(text_bytes("\n".join(starts)))).keys()
    loose = _found(rules.messages.find(text_bytes(f"{finding.message}\n{finding.text}"))).keys()
    types = rules.types.find(finding.type) if finding.type is not None else frozenset()
    return Heard(
        place=place,
        type=finding.type,
        raised=finding.weight is Weight.TYPED,
        types=types,
        strict=strict,
        loose=strict | loose,
    )


def _found(found: Mapping[int, int] | None) -> Mapping[int, int]:
    if found is None:
        raise ScanFailed
    return found
