"""Checks what the values of one map must mean to each other: cron or interval, from before to, limit and unit.

It reads the raw values and passes over what the shapes report as of the wrong kind: so one load tells everything.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from bot.cron import check as check_schedule
from bot.incidents.policy import Schedule
from bot.policies.findings import problem_at
from bot.policies.nodes import Node
from bot.policies.problems import Problem, nearest
from bot.policies.readings import Misread, quoted, read_clock_time, read_duration
from bot.policies.values import Expanded, Steps

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_JOB_NAME = re.compile(r"[^\s\x00-\x1f](?:[^\x00-\x1f]{0,198}[^\s\x00-\x1f])?")
_NOT_BASE64 = re.compile(r"[^A-Za-z0-9+/]")
WALL_CLOCK = "run_hours"
ENCODED = "whsec_"


def relation_problems(root: Node, raw: Mapping[str, Any]) -> Iterator[Problem]:
    """Everything in the file that does not fit together."""
    for name, team in maps_in(raw.get("teams")):
        yield from _name_problems(root, ("teams", name))
        yield from _team_problems(root, ("teams", name), team)
    for name, scheduler in maps_in(raw.get("schedulers")):
        yield from _name_problems(root, ("schedulers", name))
        yield from _scheduler_problems(root, ("schedulers", name), scheduler)
    for steps, settings in settings_in(raw):
        if isinstance(schedule := settings.get("schedule"), dict):
            yield from _schedule_problems(root, (*steps, "schedule"), schedule, ("cron", "every", "next_run"))
        if settings.get("safe_to_retry") is not None and settings.get("team") is None:
            message = "safe_to_retry does not say which team marks"
            yield problem_at(root, (*steps, "safe_to_retry"), message, "write team: beside it", key=True)
    yield from _budget_problems(root, raw)


def maps_in(value: object) -> Iterator[tuple[str, dict[str, Any]]]:
    """The maps in a map, by name."""
    if isinstance(value, dict):
        yield from ((name, each) for name, each in value.items() if isinstance(each, dict))


def settings_in(raw: Mapping[str, Any]) -> Iterator[tuple[Steps, dict[str, Any]]]:
    """`defaults` and every entry of `jobs`, with the way to each."""
    if isinstance(defaults := raw.get("defaults"), dict):
        yield ("defaults",), defaults
    jobs = raw.get("jobs")
    for at, entry in enumerate(jobs if isinstance(jobs, list) else ()):
        if isinstance(entry, dict):
            yield ("jobs", at), entry


def _name_problems(root: Node, steps: Steps) -> Iterator[Problem]:
    if not _NAME.fullmatch(str(steps[-1])):
        message = f"{quoted(steps[-1])} is not a name"
        yield problem_at(root, steps, message, "letters, digits, dot, underscore and dash, at most 63", key=True)


def _team_problems(root: Node, steps: Steps, team: dict[str, Any]) -> Iterator[Problem]:
    hours = team.get("hours")
    yield from _digest_problems(root, (*steps, "digest"), team)
    if not isinstance(hours, dict):
        return
    try:
        starts, ends = (read_clock_time(str(hours.get(each, ""))) for each in ("from", "to"))
    except Misread:
        return
    if starts >= ends:
        yield problem_at(root, (*steps, "hours", "to"), f"to is not after from ({hours['from']})")


def _digest_problems(root: Node, steps: Steps, team: dict[str, Any]) -> Iterator[Problem]:
    digest, hours, slack = (team.get(each) for each in ("digest", "hours", "slack"))
    if not isinstance(digest, dict):
        return
    if hours is None:
        yield problem_at(root, steps, "a digest needs the team's hours", "write hours: beside it", key=True)
    without_channel = slack is None or (isinstance(slack, dict) and slack.get("channel") is None)
    if without_channel and team.get("email") is None and team.get("manager") is None:
        hint = "write slack: {channel: ...} or email: beside it"
        yield problem_at(root, steps, "a digest needs the team's channel, its email or its manager", hint, key=True)
    if not isinstance(hours, dict):
        return
    try:
        at, starts, ends = (
            read_clock_time(str(each)) for each in (digest.get("at"), hours.get("from"), hours.get("to"))
        )
    except Misread:
        return
    if not starts <= at < ends:
        message = f"at is outside the team's hours ({hours['from']} to {hours['to']})"
        yield problem_at(root, (*steps, "at"), message)


def _scheduler_problems(root: Node, steps: Steps, scheduler: dict[str, Any]) -> Iterator[Problem]:
    match scheduler.get("type"):
        case "local":
            for name, job in maps_in(scheduler.get("jobs")):
                if not _JOB_NAME.fullmatch(name):
                    yield problem_at(root, (*steps, "jobs", name), f"{quoted(name)} is not the name of a job", key=True)
                yield from _schedule_problems(root, (*steps, "jobs", name), job, ("cron", "every"))
        case "airflow":
            given = {each for each in ("token", "user", "password") if scheduler.get(each) is not None}
            if given not in ({"token"}, {"user", "password"}):
                yield problem_at(root, steps, "needs either token, or user and password", key=True)
        case "webhook":
            secret = scheduler.get("secret")
            if isinstance(secret, str) and (fault := _secret_fault(secret)):
                taken = isinstance(secret, Expanded)
                hint = f"look at the value of {quoted(secret)}" if taken else "written whsec_ and base64, or plain text"
                yield problem_at(root, (*steps, "secret"), fault, hint)


def _secret_fault(secret: str) -> str | None:
    """What is wrong with an encoded secret; a plain one is never wrong. No part of a secret is quoted."""
    if not secret.strip().startswith(ENCODED):
        return None
    if secret != secret.strip():
        return "the secret has blanks around it"
    encoded = secret.removeprefix(ENCODED).rstrip("=")
    if not encoded:
        return f"nothing follows {ENCODED} in the secret"
    if wrong := _NOT_BASE64.search(encoded):
        return f"character {len(ENCODED) + wrong.start() + 1} of the secret is not base64"
    return "the secret is not base64 after whsec_: it is cut off" if len(encoded) % 4 == 1 else None


def _schedule_problems(root: Node, steps: Steps, schedule: dict[str, Any], ways: tuple[str, ...]) -> Iterator[Problem]:
    given = [way for way in ways if schedule.get(way) is not None]
    if not given:
        yield problem_at(root, (*steps, ways[0]), f"needs {' or '.join(ways)}", key=True)
    for way in given[1:]:
        yield problem_at(root, (*steps, way), f"{way} stands beside {given[0]}", f"one of {', '.join(ways)}", key=True)
    cron, every = schedule.get("cron"), schedule.get("every")
    if isinstance(cron, str) and cron.strip() and (wrong := check_schedule(Schedule(cron=cron))):
        yield problem_at(root, (*steps, "cron"), wrong)
    if isinstance(every, str):
        try:
            interval = read_duration(every)
        except Misread:
            return
        if interval and (wrong := check_schedule(Schedule(every=interval))):
            yield problem_at(root, (*steps, "every"), wrong)


def _budget_problems(root: Node, raw: Mapping[str, Any]) -> Iterator[Problem]:
    rates = {unit for unit in _rates(raw) if unit}
    defaults = raw.get("defaults")
    inherited = _job_budget(defaults) if isinstance(defaults, dict) else {}
    for name, team in maps_in(raw.get("teams")):
        if isinstance(budget := team.get("budget"), dict):
            yield from _limit_problems(root, ("teams", name, "budget"), budget, {})
            yield from _unit_problems(root, ("teams", name, "budget", "unit"), budget, rates)
    for steps, settings in settings_in(raw):
        if budget := _job_budget(settings):
            yield from _limit_problems(root, (*steps, "rerun", "budget"), budget, inherited)
            yield from _unit_problems(root, (*steps, "rerun", "budget", "unit"), budget, rates)


def _job_budget(settings: dict[str, Any]) -> dict[str, Any]:
    rerun = settings.get("rerun")
    budget = rerun.get("budget") if isinstance(rerun, dict) else None
    return budget if isinstance(budget, dict) else {}


def _limit_problems(root: Node, steps: Steps, budget: dict[str, Any], inherited: dict[str, Any]) -> Iterator[Problem]:
    if "limit" not in budget and inherited.get("limit") is None:
        yield problem_at(
            root, (*steps, "limit"), "limit is missing", "here or in defaults" if "jobs" in steps else None, key=True
        )


def _unit_problems(root: Node, steps: Steps, budget: dict[str, Any], rates: set[str]) -> Iterator[Problem]:
    unit = budget.get("unit")
    if isinstance(unit, str) and unit.strip() and unit != WALL_CLOCK and unit not in rates:
        message = f"nothing converts {WALL_CLOCK} to {quoted(unit)}"
        hint = nearest(unit, {WALL_CLOCK, *rates}) if rates else f"add rate: {{{unit[:40]}: ...}}, or use {WALL_CLOCK}"
        yield problem_at(root, steps, message, hint)


def _rates(raw: Mapping[str, Any]) -> Iterator[str]:
    for _, settings in settings_in(raw):
        if isinstance(rate := settings.get("rate"), dict):
            yield from rate
    for _, scheduler in maps_in(raw.get("schedulers")):
        for _, job in maps_in(scheduler.get("jobs")):
            if isinstance(rate := job.get("rate"), dict):
                yield from rate
