"""By which signals and sub-workflows workflows hang together, as names of what they write and read. Pure.

The names hold the scheduler's, so that they meet only each other. A step emits its signals when it ends, so that a failed
one has emitted none: what waits for them waits for its rerun.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bot.schedulers.maestro.reading import steps_in, value_of
from bot.schedulers.maestro.shapes import Definition, Step

OPEN_NAME = ("${", "{{", "$(")
PENDING = frozenset({"PENDING", ""})
MOST = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Uses:
    """What a workflow writes and what it reads, sorted; `open`: names with a parameter in them, which only a run fills."""

    reads: tuple[str, ...]
    writes: tuple[str, ...]
    open: bool = False


def uses_of(definition: Definition, *, scheduler: str, workflow: str, steps: Iterable[Step] = ()) -> Uses:
    """`steps` are those of a recent run: they show the names of signals as they came out."""
    workflow_steps = definition.workflow.steps
    taken = {name for trigger in definition.workflow.signal_triggers for name in _trigger_names(trigger)}
    given: set[str] = set()
    started: set[str] = set()
    for kind, step in steps_in(workflow_steps):
        taken |= set(_names(step.get("signal_dependencies"), "definitions"))
        given |= set(_names(step.get("signal_outputs"), "definitions"))
        if kind == "subworkflow" and step.get("sync") is False:
            started |= set(_subworkflow(step))
    for run in steps:
        taken |= set(_names(run.signal_dependencies, "dependencies"))
        given |= set(_names(run.signal_outputs, "outputs"))
    unknown = any(_is_open(name) for name in (*taken, *given))
    reads = [_signal(scheduler, name) for name in taken if not _is_open(name)]
    writes = [_signal(scheduler, name) for name in given if not _is_open(name)]
    writes += [_workflow(scheduler, name) for name in started if not _is_open(name)]
    return Uses(
        reads=tuple(sorted([*reads, _workflow(scheduler, workflow)])[:MOST]),
        writes=tuple(sorted(writes)[:MOST]),
        open=unknown,
    )


def waited_for(step: Step) -> tuple[str, ...]:
    """The signals that a step still waits for."""
    listed = _listed(step.signal_dependencies, "dependencies")
    waits = [one for one in listed if isinstance(one, Mapping) and str(one.get("status") or "").upper() in PENDING]
    return tuple(name for one in waits for name in _name(one))


def _signal(scheduler: str, name: str) -> str:
    return f"{scheduler}/signal/{name}"


def _workflow(scheduler: str, name: str) -> str:
    return f"{scheduler}/workflow/{name}"


def _trigger_names(trigger: Mapping[str, Any]) -> tuple[str, ...]:
    definitions = trigger.get("definitions")
    return tuple(str(name) for name in definitions) if isinstance(definitions, Mapping) else ()


def _names(value: Any, key: str) -> tuple[str, ...]:
    return tuple(name for one in _listed(value, key) for name in _name(one))


def _listed(value: Any, key: str) -> list[Any]:
    """A list, a map that holds one under `key`, or one of names."""
    if isinstance(value, Mapping):
        inner = value.get(key, value)
        return inner if isinstance(inner, list) else list(inner) if isinstance(inner, Mapping) else []
    return value if isinstance(value, list) else []


def _name(signal: Any) -> tuple[str, ...]:
    name = value_of(signal.get("name")) if isinstance(signal, Mapping) else signal
    return (name,) if isinstance(name, str) and name else ()


def _subworkflow(step: Mapping[str, Any]) -> tuple[str, ...]:
    params = step.get("params")
    name = value_of(params.get("subworkflow_id")) if isinstance(params, Mapping) else None
    return (name,) if isinstance(name, str) and name else ()


def _is_open(name: str) -> bool:
    return any(mark in name for mark in OPEN_NAME)
