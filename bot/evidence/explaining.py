"""Tells which rules were tried on a failure, what spoke for each and what against it, for people who write rules.

It decides nothing: the cause is what `read_failure` says.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from bot.evidence.facts import capped
from bot.evidence.finding import Finding
from bot.evidence.log import Log
from bot.evidence.masking import mask
from bot.evidence.reading import failure_of, read_failure
from bot.evidence.roots import Reading, shown_root
from bot.evidence.rule import Clause, Rule
from bot.evidence.rules import RuleSet
from bot.evidence.signs import Match, Place, Signs, place_of
from bot.evidence.types import REPORTED, ErrorReport, Evidence, RetryHint
from bot.evidence.verdict import REASONS, Failure, ScanFailed, signs_of

WIDTH = 160
FINDINGS_TOLD = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """Where a sign was found: why it counts, the line and its words, masked; `REPORTED` stands for no line of the log."""

    reason: str
    line: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A rule of which all signs are there; `against` is the sign that rules it out again.

    One that `excludes` is no cause: it forbids to call another one passing.
    """

    id: str
    title: str
    retry_hint: RetryHint
    excludes: bool
    said: Said
    against: Said | None = None

    @property
    def reason(self) -> str:
        return self.said.reason

    @property
    def ruled_out(self) -> bool:
        return self.against is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What is read of a failure with every rule that was tried, the nearest to the root error first.

    `root_line` is None when no line of the log shows the root error; `scanned` is false when the log could not be
    searched, so that no rule could be tried.
    """

    evidence: Evidence
    root_line: int | None
    tried: tuple[Tried, ...]
    scanned: bool = True


def explain_failure(*, error: ErrorReport, rules: RuleSet) -> Explanation:
    """Read a failure as an incident would, and tell how each rule fared."""
    evidence = read_failure(error=error, facts={}, last_good=None, rules=rules)
    failure = failure_of(error)
    tried = _tried(failure, rules)
    return Explanation(evidence=evidence, root_line=_root_line(failure), tried=tried or (), scanned=tried is not None)


def tried_rules(*, error: ErrorReport, rules: RuleSet) -> tuple[Tried, ...] | None:
    """Return the rules that matched, the nearest to the root error first; None when the log could not be scanned."""
    return _tried(failure_of(error), rules)


def _tried(failure: Failure, rules: RuleSet) -> tuple[Tried, ...] | None:
    try:
        signs = signs_of(failure, rules)
        matches = [*rules.causes.matches(signs), *rules.exclusions.matches(signs)]
        matches.sort(key=lambda match: (match.rule.excludes, match.place, match.order))
        scene = _Scene(failure, signs, rules)
        return tuple(_told(match, scene) for match in matches)
    except ScanFailed:
        return None


def _told(match: Match, scene: "_Scene") -> Tried:
    rule = match.rule
    return Tried(
        id=rule.id,
        title=rule.title,
        retry_hint=rule.retry_hint,
        excludes=rule.excludes,
        said=scene.said(rule.when, strict=rule.passes) or _vaguely(match.place),
        against=(scene.against(rule) or _vaguely(match.place)) if match.ruled_out else None,
    )


def _vaguely(place: Place) -> Said:
    return Said(reason=REASONS[place], line=REPORTED, text="")


def _root_line(failure: Failure) -> int | None:
    """The line of the root error; of a log without one that of its last words, which stand for it."""
    root, log = shown_root(failure.reading), failure.log
    if root is not None:
        return log[root.first].number
    if failure.reading.root is not None:
        return None
    return next((log[at].number for at in range(len(log) - 1, -1, -1) if log[at].text.strip()), None)


class _Scene:
    """Finds for the clauses of a rule the line that speaks for them, by asking each finding by itself."""

    def __init__(self, failure: Failure, signs: Signs, rules: RuleSet) -> None:
        self._failure = failure
        self._signs = signs
        alone = replace(failure, log=Log(b""), near=range(0))
        self._findings = [
            (place, finding, replace(signs, findings=signs_of(_with_only(finding, alone), rules).findings))
            for place, finding in _placed(failure.reading)
        ]

    def said(self, clauses: Iterable[Clause], *, strict: bool) -> Said | None:
        """What speaks for one of the clauses, the nearest to the root error."""
        said = (found for clause in clauses if (found := self._clause(clause, strict=strict)) is not None)
        return min(said, key=lambda found: found[0], default=(None, None))[1]

    def against(self, rule: Rule) -> Said | None:
        """What the rule names against itself; an error that came before the failure began does not count."""
        for clause in rule.unless:
            found = self._clause(clause, strict=False)
            if found is not None and found[0] is not Place.EARLIER:
                return found[1]
        return None

    def _clause(self, clause: Clause, *, strict: bool) -> tuple[Place, Said] | None:
        if not clause.speaks_of_error:
            found = place_of(clause, self._signs, strict=strict)
            if found is None:
                return None
            return found, self._of_line(clause) if found is Place.LOG else self._of_ending()
        for place, finding, alone in self._findings:
            if place_of(clause, alone, strict=strict) is not None:
                return place, self._of_finding(place, finding)
        return None

    def _of_finding(self, place: Place, finding: Finding) -> Said:
        if finding.first < 0:
            text, line = finding.text, REPORTED
        else:
            shown = self._failure.log[finding.first]
            text, line = shown.shown, shown.number
        return Said(reason=REASONS[place], line=line, text=_shown(text))

    def _of_ending(self) -> Said:
        return Said(reason=REASONS[Place.ENDING], line=REPORTED, text=self._failure.ending.words)

    def _of_line(self, clause: Clause) -> Said:
        log = self._failure.log
        if clause.log:
            end = min(self._signs.log[one] for one in clause.log if one in self._signs.log)
            start = log.data.rfind(b"\n", 0, max(end - 1, 0)) + 1
            stop = log.data.find(b"\n", start) % (len(log.data) + 1)
            text = log.data[start : min(stop, start + 8 * WIDTH)].decode("utf-8", "ignore")
            return Said(reason=REASONS[Place.LOG], line=log.data.count(b"\n", 0, start) + 1, text=_shown(text))
        end = min(self._signs.near[one] for one in clause.near if one in self._signs.near)
        span = self._failure.near
        shown = log[span.start + log.raw(span)[: max(end - 1, 0)].count(b"\n")]
        return Said(reason=f"{REASONS[Place.LOG]}, near the root error", line=shown.number, text=_shown(shown.shown))


def _with_only(finding: Finding, failure: Failure) -> Failure:
    return replace(failure, reading=Reading(root=finding))


def _placed(reading: Reading) -> Iterator[tuple[Place, Finding]]:
    groups: tuple[tuple[Place, Iterable[Finding]], ...] = (
        (Place.ROOT, (reading.root,) if reading.root is not None else ()),
        (Place.CHAIN, reading.chain),
        (Place.BESIDE, reading.beside),
        (Place.EARLIER, reading.earlier),
    )
    found = [(place, finding) for place, findings in groups for finding in findings]
    yield from found[:FINDINGS_TOLD]


def _shown(text: str) -> str:
    return capped(mask(" ".join(text.split())), WIDTH)
