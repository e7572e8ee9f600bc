"""Loads the cause rules of a policies file: the company's own, and those of each entry of `jobs` that has some.

It checks no names but those that the rules give to each other. Each set of rules is compiled once and then shared.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from bot.evidence import Rule, RuleError, RuleSet, load_rules
from bot.evidence.engine import PatternError, check_pattern
from bot.policies.findings import problem_at
from bot.policies.nodes import Node
from bot.policies.problems import Problem
from bot.policies.readings import quoted
from bot.policies.shapes import CauseShape
from bot.policies.values import Steps

SETS_KEPT = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Causes:
    """The rules of the company, and those of the entries of `jobs` with causes of their own, by place.

    `everywhere` holds the causes of all of them by name, `broken` the names of those that are reported already.
    """

    company: RuleSet
    of_entries: Mapping[int, RuleSet]
    everywhere: Mapping[str, Rule]
    broken: frozenset[str]

    def named(self, cause: str, *, entry: int | None) -> Rule | None:
        """The cause of that name as the entry of `jobs` has it, else as another one has it; None: there is none."""
        try:
            rule = self.of_entries.get(-1 if entry is None else entry, self.company).rule(cause)
        except KeyError:
            return self.everywhere.get(cause)
        return None if rule.excludes else rule


def load_causes(root: Node, raw: Mapping[str, Any]) -> tuple[Causes, list[Problem]]:
    """Every set of rules with the good causes of the file, and what is wrong with the others."""
    lists = list(_lists(raw))
    broken = {str(cause.get("id")) for _, _, causes in lists for cause in causes.values() if not _is_cause(cause)}
    problems: list[Problem] = []
    good: dict[int, Mapping[str, Any]] = {}
    company: RuleSet | None = None
    of_entries: dict[int, RuleSet] = {}
    for steps, entry, causes in lists:
        well_formed = {at: cause for at, cause in causes.items() if _is_cause(cause)}
        rules, kept, found, bad = _with(root, steps, tuple(good.values()), well_formed)
        problems += found
        broken |= bad
        if entry is None:
            company, good = rules, kept
        else:
            of_entries[entry] = rules
    company = company or _compiled("[]")
    made = Causes(
        company=company,
        of_entries=MappingProxyType(of_entries),
        everywhere={name: rules.rule(name) for rules in (*of_entries.values(), company) for name in rules.ids()},
        broken=frozenset(broken),
    )
    return made, problems


def _lists(raw: Mapping[str, Any]) -> Iterable[tuple[Steps, int | None, dict[int, Mapping[str, Any]]]]:
    """The lists of causes, the company's first: the way to each, the entry of `jobs` it is of, its causes by place."""
    yield ("causes",), None, _maps(raw.get("causes"))
    jobs = raw.get("jobs")
    for at, entry in enumerate(jobs if isinstance(jobs, list) else ()):
        if isinstance(entry, dict) and isinstance(entry.get("causes"), list):
            yield ("jobs", at, "causes"), at, _maps(entry["causes"])


def _maps(causes: object) -> dict[int, Mapping[str, Any]]:
    return {at: cause for at, cause in enumerate(causes if isinstance(causes, list) else ()) if isinstance(cause, dict)}


def _is_cause(cause: Mapping[str, Any]) -> bool:
    try:
        CauseShape.model_validate(cause)
    except ValidationError:
        return False
    return True


def _with(
    root: Node, steps: Steps, below: tuple[Mapping[str, Any], ...], causes: Mapping[int, Mapping[str, Any]]
) -> tuple[RuleSet, dict[int, Mapping[str, Any]], list[Problem], set[str]]:
    """All rules with `below` and the good ones of `causes`; the good ones, what is wrong with the others, their ids."""
    problems: list[Problem] = []
    broken: set[str] = set()
    good = dict(causes)
    first: dict[object, int] = {}
    for at, cause in causes.items():
        if first.setdefault(cause.get("id"), at) != at:
            problems.append(problem_at(root, (*steps, at, "id"), f"the cause {quoted(cause.get('id'))} stands twice"))
            del good[at]
    while True:
        try:
            return _compiled(json.dumps([*below, *good.values()])), good, problems, broken
        except RuleError as failed:
            ours = [at for at, cause in good.items() if str(cause.get("id")) == failed.rule_id]
            if not ours:
                raise
            problems.append(_rule_problem(root, (*steps, ours[0]), good.pop(ours[0]), failed))
            broken.add(failed.rule_id)


@lru_cache(maxsize=SETS_KEPT)
def _compiled(causes: str) -> RuleSet:
    """Compiling takes far longer than all the rest of a load, and most files have the causes that they had before."""
    return load_rules(tuple(json.loads(causes)))


def _rule_problem(root: Node, steps: Steps, cause: Mapping[str, Any], failed: RuleError) -> Problem:
    value: Any = cause
    for part in failed.field.replace("[", ".[").split("."):
        step = int(part[1:-1]) if part.startswith("[") and part[1:-1].isdigit() else part
        in_list = isinstance(value, list) and isinstance(step, int) and step < len(value)
        if in_list or (isinstance(value, dict) and step in value):
            value = value[step]
        else:
            continue
        steps = (*steps, step)
    if isinstance(value, list) and (at := _bad_item(value, failed)) is not None:
        steps = (*steps, at)
    where = f"character {failed.column}: " if failed.column > 1 else ""
    return problem_at(root, steps, f"{where}{failed.message.rstrip('.')}")


def _bad_item(values: list[Any], failed: RuleError) -> int | None:
    """Which of several texts is meant: the one that is no pattern, or that the message ends with."""
    for at, value in enumerate(values):
        if not isinstance(value, str):
            continue
        if failed.message.endswith(f" {value}"):
            return at
        try:
            check_pattern(value)
        except PatternError as wrong:
            if wrong.message == failed.message:
                return at
    return None
