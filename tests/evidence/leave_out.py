"""Estimates how the rules would do on systems that nobody has seen: `python -m tests.evidence.leave_out`.

Each system of the corpus is judged by rules from which every pattern is taken that fires for no other system. That is
pessimistic: what was known without the corpus, but fires for one system only, is taken as well. It asserts nothing.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bot.evidence import RetryHint, RuleSet, load_rules, read_failure
from bot.evidence.reading import failure_of
from bot.evidence.rules import packaged_rules
from bot.evidence.verdict import signs_of
from tests.evidence.cases import Case, load_cases

Pattern = tuple[str, int]
_FIELDS = (("type", "types"), ("message", "messages"), ("near", "near"), ("log", "log"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """How the cases fared: of those that pass by themselves the share called likely, wrong likelies, right groups."""

    cases: int
    passing: int
    likely: int
    wrong: int
    right: int


def leave_out() -> Figures:
    """Judge each system's cases without what only that system taught."""
    rules = load_rules()
    cases = load_cases()
    systems = sorted({case.system for case in cases})
    seen = _seen(cases, rules)
    totals = [0, 0, 0, 0, 0]
    for system in systems:
        alone = {pattern for pattern, where in seen.items() if where == {system}}
        reduced = load_rules(list(_without(alone, rules)))
        for case in (case for case in cases if case.system == system):
            cause = read_failure(error=case.error, facts={}, last_good=None, rules=reduced).cause
            passing, likely = case.retryable == "yes", cause.retry_hint is RetryHint.LIKELY
            for at, one in enumerate(
                (True, passing, passing and likely, likely and not passing, cause.group == case.group)
            ):
                totals[at] += one
    return Figures(**dict(zip(("cases", "passing", "likely", "wrong", "right"), totals, strict=True)))


def _seen(cases: tuple[Case, ...], rules: RuleSet) -> Mapping[Pattern, set[str]]:
    """Return the systems for which each pattern fires."""
    seen: dict[Pattern, set[str]] = defaultdict(set)
    for case in cases:
        signs = signs_of(failure_of(case.error), rules)
        fired = {("log", index) for index in (*signs.log, *signs.near)}
        for heard in signs.findings:
            fired |= {("types", index) for index in heard.types} | {("messages", index) for index in heard.loose}
        for pattern in fired:
            seen[pattern].add(case.system)
    return seen


def _without(alone: set[Pattern], rules: RuleSet) -> Iterator[Mapping[str, Any]]:
    """Return the causes that lose patterns, without them; a clause that loses all of a field goes whole."""
    for raw in packaged_rules():
        rule = rules.rule(raw["id"])
        if rule.excludes:
            continue
        clauses = raw["when"] if isinstance(raw["when"], list) else [raw["when"]]
        kept = []
        for clause, compiled in zip(clauses, rule.when, strict=True):
            left = dict(clause)
            for field, name in _FIELDS:
                texts = [clause[field]] if isinstance(clause.get(field), str) else clause.get(field, [])
                indices = getattr(compiled, name)
                kind = "log" if name == "near" else name
                stays = [text for text, index in zip(texts, indices, strict=True) if (kind, index) not in alone]
                if texts:
                    left[field] = stays
            if all(left[field] for field in clause if field in dict(_FIELDS)):
                kept.append(left)
        if kept != clauses:
            yield {**raw, "when": kept or {"message": "no such words are ever said"}}


if __name__ == "__main__":
    print(leave_out())
