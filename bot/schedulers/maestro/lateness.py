"""Until when Maestro, or the owner by Maestro's configuration, wants runs done, and what a run waits for. Pure.

Maestro evaluates and keeps these words but acts on none of them: ontrack watches the deadlines. It must not decide whether
a run is late.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.evidence.masking import mask_name
from bot.incidents.target import Target
from bot.schedulers.maestro.errors import WORDS
from bot.schedulers.maestro.reading import instant
from bot.schedulers.maestro.shapes import FATAL_STEPS, QUEUED, Definition, Instance, Step
from bot.schedulers.maestro.signals import waited_for
from bot.sources import Standing

LONGEST_NAME, MOST_SIGNALS = 60, 2
TCT, SUCCESS_WITHIN = "TCT_VIOLATION", "SUCCESS_WITHIN"


def silenced(definition: Definition) -> bool:
    """Whether the owner wants no word of the workflow at all."""
    return bool(definition.properties_snapshot.alerting_disabled)


def finish_by(run: Instance, *, good_at: datetime | None) -> datetime | None:
    """When this run should be done: by the completion time that Maestro worked out for it, and so long after the last good
    run's end (`good_at`) as the owner allows. A type of alert that is switched off says nothing.
    """
    if bool(run.run_properties.get("alerting_disabled")):
        return None
    alerting = _map(run.run_properties.get("alerting"))
    told = None if _disabled(alerting, TCT) else instant(_map(alerting.get("tct")).get("completed_by_ts"))
    within = None if _disabled(alerting, SUCCESS_WITHIN) else _success_within(alerting)
    again = good_at + within if good_at is not None and within is not None else None
    return min(filter(None, (told, again)), default=None)


def target_of(definition: Definition) -> Target:
    """When the runs of the workflow should be done; a target that says nothing ends the one before."""
    alerting = _map(definition.properties_snapshot.alerting)
    if silenced(definition) or _disabled(alerting, TCT):
        return Target()
    tct = _map(alerting.get("tct"))
    within = _minutes(tct.get("duration_minutes"))
    if within is not None:
        return Target(finish_within=within)
    hour = tct.get("completed_by_hour")
    if isinstance(hour, int) and not isinstance(hour, bool) and 0 <= hour <= 24:
        return Target(finish_by=time(hour % 24), zone=_zone(tct.get("tz"), definition))
    return Target()


def standing_of(run: Instance, steps: Iterable[Step]) -> Standing:
    """How a run that is not done stands: that it must fail, or what it waits for; nothing of one that just runs.

    A step that failed for good lets the others run on: the run fails when they are done, and only a restart of the step by
    hand can prevent that. It is a warning and opens nothing: the failure itself may be one that a licensed rerun heals.
    """
    if run.status == QUEUED:
        return Standing(words="is queued in Maestro, by its run strategy or behind a failed run")
    shown = sorted(steps, key=lambda step: step.status not in FATAL_STEPS)
    for step in shown:
        name = mask_name(step.step_id)[:LONGEST_NAME]
        if step.status in FATAL_STEPS:
            return Standing(words=f"will fail: its step {name} {WORDS[step.status]}", will_fail=True)
        match step.status:
            case "WAITING_FOR_SIGNALS":
                signals = ", ".join(mask_name(one)[:LONGEST_NAME] for one in waited_for(step)[:MOST_SIGNALS])
                return Standing(words=f"waits for {f'the signal {signals}' if signals else 'signals'} (step {name})")
            case "WAITING_FOR_PERMITS":
                return Standing(words=f"waits for a permit (step {name})")
            case "PAUSED":
                return Standing(words=f"waits at a breakpoint for somebody to resume it (step {name})")
    return Standing()


def _disabled(alerting: Mapping[str, Any], name: str) -> bool:
    return bool(_map(_map(alerting.get("type_configs")).get(name)).get("disabled"))


def _success_within(alerting: Mapping[str, Any]) -> timedelta | None:
    return _minutes(_map(_map(alerting.get("type_configs")).get(SUCCESS_WITHIN)).get("duration_minutes"))


def _minutes(value: Any) -> timedelta | None:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 366 * 24 * 60:
        return timedelta(minutes=value)
    return None


def _zone(named: Any, definition: Definition) -> str:
    """Its own zone, else that of the first cron."""
    of_cron = next((trigger.timezone for trigger in definition.workflow.time_triggers if trigger.timezone), None)
    for name in (named, of_cron):
        if isinstance(name, str) and _is_zone(name):
            return name
    return "UTC"


def _is_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
