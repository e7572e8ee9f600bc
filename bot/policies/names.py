"""Checks that every name in the file names something: teams, causes, schedulers, downstream jobs.

It reads the raw values, as `bot.policies.relations` does, and loads the cause rules on the way.
"""

import json
from collections.abc import Iterator, Mapping, Set
from functools import lru_cache
from typing import Any

from bot.evidence import RuleError, RuleSet, load_rules
from bot.policies.findings import problem_at
from bot.policies.nodes import Node
from bot.policies.problems import Problem, nearest
from bot.policies.readings import quoted
from bot.policies.relations import settings_in
from bot.policies.values import Steps

NEVER_MARKABLE = "unknown"
LATE = "late."


def name_problems(root: Node, raw: Mapping[str, Any], *, rules: RuleSet, broken: Set[str]) -> Iterator[Problem]:
    """Every name that names nothing, and every mark of what is never safe; `broken` causes are reported already."""
    teams = _keys(raw.get("teams"))
    schedulers = _keys(raw.get("schedulers"))
    for steps, settings in settings_in(raw):
        yield from _team_problems(root, (*steps, "team"), settings.get("team"), teams)
        for at, name in _texts(settings.get("downstream")):
            yield from _downstream_problems(root, (*steps, "downstream", at), name, raw, schedulers)
        for mark_steps, mark in _marks(settings.get("safe_to_retry"), (*steps, "safe_to_retry")):
            for at, cause in _texts(mark.get("causes")):
                yield from _cause_problems(root, (*mark_steps, "causes", at), cause, rules, broken)
    causes = raw.get("causes")
    for at, cause in enumerate(causes if isinstance(causes, list) else ()):
        if isinstance(cause, dict):
            yield from _team_problems(root, ("causes", at, "platform_team"), cause.get("platform_team"), teams)


def load_causes(root: Node, causes: Mapping[int, Mapping[str, Any]]) -> tuple[RuleSet, list[Problem], set[str]]:
    """All rules with the good ones of `causes` (by their place), what is wrong with the others, and their ids."""
    problems: list[Problem] = []
    broken: set[str] = set()
    good = dict(causes)
    first: dict[object, int] = {}
    for at, cause in causes.items():
        if first.setdefault(cause.get("id"), at) != at:
            problems.append(problem_at(root, ("causes", at, "id"), f"the cause {quoted(cause.get('id'))} stands twice"))
            del good[at]
    while True:
        try:
            return _rules_with(json.dumps(list(good.values()))), problems, broken
        except RuleError as failed:
            ours = [at for at, cause in good.items() if str(cause.get("id")) == failed.rule_id]
            if not ours:
                raise
            problems.append(_rule_problem(root, ours[0], good.pop(ours[0]), failed))
            broken.add(failed.rule_id)


@lru_cache(maxsize=8)
def _rules_with(causes: str) -> RuleSet:
    """Compiling takes far longer than all the rest of a load, and most files have the causes that they had before."""
    return load_rules(tuple(json.loads(causes)))


def _rule_problem(root: Node, at: int, cause: Mapping[str, Any], failed: RuleError) -> Problem:
    steps: Steps = ("causes", at)
    value: Any = cause
    for part in failed.field.replace("[", ".[").split("."):
        step = int(part[1:-1]) if part.startswith("[") and part[1:-1].isdigit() else part
        in_list = isinstance(value, list) and isinstance(step, int) and step < len(value)
        if in_list or (isinstance(value, dict) and step in value):
            value = value[step]
        else:
            continue
        steps = (*steps, step)
    where = f"character {failed.column}: " if failed.column > 1 else ""
    return problem_at(root, steps, f"{where}{failed.message.rstrip('.')}")


def _team_problems(root: Node, steps: Steps, team: object, teams: Set[str]) -> Iterator[Problem]:
    if isinstance(team, str) and team.strip() and team not in teams:
        yield problem_at(root, steps, f"there is no team {quoted(team)}", nearest(team, teams))


def _downstream_problems(
    root: Node, steps: Steps, name: str, raw: Mapping[str, Any], schedulers: Set[str]
) -> Iterator[Problem]:
    scheduler, slash, job = name.partition("/")
    if not slash or not scheduler or not job:
        yield problem_at(root, steps, f"{quoted(name)} does not name a job", "written scheduler/job")
        return
    if scheduler not in schedulers:
        yield problem_at(root, steps, f"there is no scheduler {quoted(scheduler)}", nearest(scheduler, schedulers))
        return
    declared = next(each for found, each in raw["schedulers"].items() if found == scheduler)
    if (
        isinstance(declared, dict)
        and declared.get("type") == "local"
        and job not in (known := _keys(declared.get("jobs")))
    ):
        yield problem_at(root, steps, f"{quoted(scheduler)} has no job {quoted(job)}", nearest(job, known))


def _cause_problems(root: Node, steps: Steps, cause: str, rules: RuleSet, broken: Set[str]) -> Iterator[Problem]:
    known = set(rules.ids())
    if cause == NEVER_MARKABLE or cause.startswith(LATE):
        yield problem_at(root, steps, f"{quoted(cause)} can never be marked safe to retry")
    elif cause in known:
        if rules.rule(cause).never_safe:
            yield problem_at(
                root, steps, f"{quoted(cause)} can never be marked safe to retry", "its rule says never_safe"
            )
    elif cause.strip() and cause not in broken:
        yield problem_at(root, steps, f"there is no cause {quoted(cause)}", nearest(cause, known))


def _marks(value: object, steps: Steps) -> Iterator[tuple[Steps, dict[str, Any]]]:
    if isinstance(value, dict):
        yield steps, value
    elif isinstance(value, list):
        yield from (((*steps, at), mark) for at, mark in enumerate(value) if isinstance(mark, dict))


def _texts(value: object) -> Iterator[tuple[int, str]]:
    if isinstance(value, list):
        yield from ((at, each) for at, each in enumerate(value) if isinstance(each, str))


def _keys(value: object) -> set[str]:
    return set(value) if isinstance(value, dict) else set()
