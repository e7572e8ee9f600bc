"""Checks that every name in the file names something: teams, causes, schedulers, downstream jobs.

It reads the raw values, as `bot.policies.relations` does.
"""

from collections.abc import Iterator, Mapping, Set
from typing import Any

from bot.policies.causes import Causes
from bot.policies.findings import problem_at
from bot.policies.layers import OURS
from bot.policies.nodes import Node
from bot.policies.problems import Problem, nearest
from bot.policies.readings import quoted
from bot.policies.relations import settings_in
from bot.policies.values import Steps

NEVER_MARKABLE = "unknown"
LATE = "late."


def name_problems(root: Node, raw: Mapping[str, Any], *, causes: Causes) -> Iterator[Problem]:
    """Every name that names nothing, and every mark of what is never safe."""
    teams = _keys(raw.get("teams"))
    schedulers = _keys(raw.get("schedulers"))
    if OURS in schedulers:
        message, hint = f"{quoted(OURS)} is ontrack's own name", "call the scheduler something else"
        yield problem_at(root, ("schedulers", OURS), message, hint, key=True)
    yield from _platform_problems(root, ("causes",), raw.get("causes"), teams)
    for steps, settings in settings_in(raw):
        yield from _team_problems(root, (*steps, "team"), settings.get("team"), teams)
        for at, name in _texts(settings.get("downstream")):
            yield from _downstream_problems(root, (*steps, "downstream", at), name, raw, schedulers)
        yield from _mark_problems(root, steps, settings, causes)
        yield from _platform_problems(root, (*steps, "causes"), settings.get("causes"), teams)


def _platform_problems(root: Node, steps: Steps, causes: object, teams: Set[str]) -> Iterator[Problem]:
    for at, cause in enumerate(causes if isinstance(causes, list) else ()):
        if isinstance(cause, dict):
            yield from _team_problems(root, (*steps, at, "platform_team"), cause.get("platform_team"), teams)


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


def _mark_problems(root: Node, steps: Steps, settings: dict[str, Any], causes: Causes) -> Iterator[Problem]:
    """A mark may name a cause of another entry, since several may hold for a job; its own entry's is looked at first."""
    entry = steps[-1] if isinstance(steps[-1], int) else None
    for mark_steps, mark in _marks(settings.get("safe_to_retry"), (*steps, "safe_to_retry")):
        for at, cause in _texts(mark.get("causes")):
            yield from _cause_problems(root, (*mark_steps, "causes", at), cause, causes, entry)


def _cause_problems(root: Node, steps: Steps, cause: str, causes: Causes, entry: int | None) -> Iterator[Problem]:
    if cause == NEVER_MARKABLE or cause.startswith(LATE):
        yield problem_at(root, steps, f"{quoted(cause)} can never be marked safe to retry")
    elif (named := causes.named(cause, entry=entry)) is not None:
        if named.never_safe:
            yield problem_at(
                root, steps, f"{quoted(cause)} can never be marked safe to retry", "its rule says never_safe"
            )
    elif cause.strip() and cause not in causes.broken:
        yield problem_at(root, steps, f"there is no cause {quoted(cause)}", nearest(cause, causes.everywhere))


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
