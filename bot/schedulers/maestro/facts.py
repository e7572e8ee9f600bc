"""The facts of a run, as evidence compares them with the last good run's: code, parameters, configuration, timing. Pure.

What differs from run to run by its nature (ids, dates that Maestro derives from the nominal time) is left out.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from bot.schedulers.maestro.errors import NAMED, Failed, called
from bot.schedulers.maestro.reading import instant, name_of, step_of, steps_in, tags_of, value_of
from bot.schedulers.maestro.shapes import ChangeLine, Definition, Instance, Step, StepView

MOST_STEPS = 300
MOST_CHANGES = 20
_OF_MAESTRO = re.compile(
    r"(?:TARGET_)?RUN_(?:TS|DATE|HOUR|POLICY)|RUN_\w*(?:DATE|HOUR|TS)|TARGET_RUN_\w+|FROM_DATE|TO_DATE|WORKFLOW_\w+|STEP_\w+"
    r"|INITIATOR_\w+|FIRST_TIME_TRIGGER_TIMEZONE|AUTHORIZED_MANAGERS|DSL_DEFAULT_TZ|owner"
)
_KEPT = frozenset({"WORKFLOW_CRON_TIMEZONE"})


def facts_of(
    run: Instance,
    definition: Definition | None,
    *,
    steps: Sequence[Step] = (),
    views: Mapping[str, StepView] | None = None,
    failed: Failed | None = None,
    changes: Iterable[ChangeLine] = (),
) -> dict[str, Any]:
    """`definition` is that of the run's version; `steps` or `views` tell how long each took.

    `changes`: what people changed since the last good run, which has none: so that they show as what is new.
    """
    spaces: dict[str, dict[str, Any]] = {
        "code": _code(run, definition, changes),
        "params": {name: value_of(param) for name, param in run.params.items() if _is_own(name)},
        "config": _config(run, definition),
        "timing": _timing(run, steps, views or {}),
        "job": _job(run, definition),
    }
    if failed is not None and failed.steps:
        spaces["failed_part"] = _failed_part(run, failed)
    kept = {space: {name: value for name, value in of.items() if value is not None} for space, of in spaces.items()}
    return {space: of for space, of in kept.items() if of}


def _is_own(name: str) -> bool:
    return name in _KEPT or _OF_MAESTRO.fullmatch(name) is None


def _code(run: Instance, definition: Definition | None, changes: Iterable[ChangeLine]) -> dict[str, Any]:
    """A version of the definition is code of its own, whether its text came from Git or not."""
    version = str(run.workflow_version_id) if run.workflow_version_id is not None else None
    git = definition.metadata.git_info if definition is not None else None
    told: dict[str, Any] = {
        "version": (git.sha if git is not None else None) or version,
        "definition_version": version,
        "change": [_line(change) for change in list(changes)[:MOST_CHANGES]] or None,
    }
    if definition is not None:
        told["version_author"] = name_of(definition.metadata.version_author) or None
    if git is not None:
        told |= {"branch": git.branch, "url": git.origin, "file": git.path}
        told["uncommitted_changes"] = git.uncommitted_changes or None
    return told


def _line(change: ChangeLine) -> str:
    at = instant(change.timestamp)
    when = f"{at:%Y-%m-%d %H:%M} UTC" if at is not None else ""
    return " ".join(filter(None, (when, name_of(change.author), change.log)))


def _config(run: Instance, definition: Definition | None) -> dict[str, Any]:
    """How the run was to be run: what it was started with goes before what the workflow says now."""
    told: dict[str, Any] = {
        "step_concurrency": run.run_properties.get("step_concurrency"),
        "timeout_seconds": run.timeout_in_millis / 1000 if run.timeout_in_millis else None,
    }
    if definition is None:
        return told
    workflow, properties = definition.workflow, definition.properties_snapshot
    told["run_strategy"] = strategy_of(properties.run_strategy)
    told["concurrency"] = _concurrency(properties.run_strategy)
    told["criticality"] = workflow.criticality
    told["schedule"] = [text for text in map(schedule_text, workflow.time_triggers) if text] or None
    told["tags"] = sorted({*tags_of(workflow.tags), *tags_of(properties.tags)}) or None
    told["steps"] = _steps_config(definition) or None
    return told


def strategy_of(strategy: Any) -> str | None:
    """The rule's name; a strategy may be written as its name alone."""
    rule = strategy.get("rule") if isinstance(strategy, Mapping) else strategy
    return rule.upper() if isinstance(rule, str) and rule else None


def _concurrency(strategy: Any) -> Any:
    return strategy.get("workflow_concurrency") if isinstance(strategy, Mapping) else None


def schedule_text(trigger: Any) -> str | None:
    written = trigger.cron or trigger.expression
    return f"{written} {trigger.timezone or 'UTC'}" if written else None


def _steps_config(definition: Definition) -> dict[str, Any]:
    """What each step is and how it may fail, as far as it is written down."""
    told: dict[str, Any] = {}
    for kind, step in list(steps_in(definition.workflow.steps))[:MOST_STEPS]:
        kept = {
            "kind": "/".join(str(step[key]) for key in ("type", "sub_type") if step.get(key)) or kind,
            "timeout": step.get("timeout"),
            "failure_mode": step.get("failure_mode"),
            "retry_policy": step.get("retry_policy"),
        }
        told[str(step.get("id"))] = {name: value for name, value in kept.items() if value is not None}
    return told


def _timing(run: Instance, steps: Sequence[Step], views: Mapping[str, StepView]) -> dict[str, Any]:
    """In seconds: how long the run waited for its turn, how long each step took and waited for signals and permits."""
    told: dict[str, Any] = {"queued_seconds": _seconds(run.create_time, run.start_time)}
    of_steps: dict[str, Any] = {}
    for name, view in list(views.items())[:MOST_STEPS]:
        of_steps[name] = {"duration_seconds": _seconds(view.start_time, view.end_time)}
    for step in steps[:MOST_STEPS]:
        state = step.runtime_state
        of_steps[step.step_id] = {"duration_seconds": _seconds(state.start_time, state.end_time)}
    kept = {name: took for name, took in of_steps.items() if took["duration_seconds"] is not None}
    return {**told, "steps": kept or None}


def _seconds(begun: int | None, ended: int | None) -> float | None:
    if begun is None or ended is None or ended < begun:
        return None
    return timedelta(milliseconds=ended - begun).total_seconds()


def _job(run: Instance, definition: Definition | None) -> dict[str, Any]:
    properties = definition.properties_snapshot if definition is not None else None
    owner = name_of(run.run_properties.get("owner")) or (name_of(properties.owner) if properties is not None else "")
    description = properties.description if properties is not None else None
    return {"owner": owner or None, "documentation": description or None}


def _failed_part(run: Instance, failed: Failed) -> dict[str, Any]:
    first = failed.steps[0]
    return {
        "name": called(first, run),
        "attempt": first.step_attempt_id,
        "status": first.status,
        "kind": step_of(first.definition).get("type"),
        "job": f"{first.workflow_id}.{first.step_id}",
        "others": [called(step, run) for step in failed.steps[1:NAMED]],
        "retries_used": {
            "error": first.step_retry.error_retries,
            "platform": first.step_retry.platform_retries,
            "timeout": first.step_retry.timeout_retries,
        },
    }
