"""Tells what holds for a job and where each value comes from, for `policies show`. It decides nothing."""

from dataclasses import fields, is_dataclass
from datetime import datetime, time, timedelta
from typing import Any

from bot.incidents.keys import JobKey
from bot.policies.layers import Layer, leaves
from bot.policies.model import Policies
from bot.policies.readings import written_duration


def show(policies: Policies, job: JobKey) -> dict[str, Any]:
    """The effective values of `job` by path, each with its origin and line; JSON can hold all of it.

    `safe_to_retry` tells of each mark whether it counts, and if not why.
    """
    policy = policies.job(job)
    held = leaves(policies.layers.of(job))
    return {
        "job": str(job),
        "version": policies.version,
        "team": policy.team.name if policy.team else None,
        "values": {
            ".".join(path): {"value": _shown(value), "from": layer.origin, "line": _line(layer, path)}
            for path, (value, layer) in sorted(held.items())
            if path != ("safe_to_retry",)
        },
        "safe_to_retry": [
            {"cause": mark.cause, "team": mark.team, "by": mark.by, "since": mark.since.isoformat(), "void": mark.void}
            for mark in policy.safe_marks
        ],
    }


def _line(layer: Layer, path: tuple[str, ...]) -> int | None:
    node = layer.node
    if node is None:
        return None
    line = node.line
    for name in path:
        if node is None or not isinstance(node.value, dict) or name not in node.value:
            break
        line, node = node.value[name].line, node.value[name].node
    return line


def _shown(value: Any) -> Any:
    match value:
        case timedelta():
            return written_duration(value)
        case datetime():
            return value.isoformat()
        case time():
            return value.strftime("%H:%M")
        case dict():
            return {name: _shown(each) for name, each in value.items() if each is not None}
        case list() | tuple():
            return [_shown(each) for each in value]
        case _ if is_dataclass(value):
            return {each.name: _shown(getattr(value, each.name)) for each in fields(value)}
        case str():
            return str(value)
        case _:
            return value
