"""The ticks of a workflow's time triggers: five-field crons and the predefined expressions, in their zones."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from cronsim import CronSim

from tests.maestro.fake.engine import Engine
from tests.maestro.fake.records import Json, Workflow, millis, named_uuid

PREDEFINED = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
}


class Tick(NamedTuple):
    at: datetime
    uuid: str
    timezone: str
    request_id: str


def trigger_uuid(workflow: Workflow) -> str:
    return named_uuid(f"{workflow.id}:time")


def tick_uuid(workflow: Workflow, trigger: Json, at: datetime) -> str:
    """One for each tick, whoever starts it."""
    named = f"CronTimeTrigger(cron={trigger.get('cron', trigger.get('expression'))}, timezone={trigger['timezone']})"
    return named_uuid(f"{workflow.id}:{named}:{millis(at) // 1000}")


def upcoming(engine: Engine, workflow: Workflow, after: datetime) -> Iterator[Tick]:
    """What each trigger does next; an expression of six or seven fields has the ticks that the test gave."""
    version = engine.version(workflow.id, "default")
    for trigger in version.workflow.get("time_triggers", []):
        zone = trigger.get("timezone", "UTC")
        trigger = trigger | {"timezone": zone}
        cron = PREDEFINED.get(trigger.get("expression", ""), trigger.get("cron", ""))
        if len(cron.split()) == 5:
            at = next(CronSim(cron, after.astimezone(ZoneInfo(zone)))).astimezone(UTC)
        else:
            given = [tick for tick in workflow.next_ticks if tick > after]
            if not given:
                continue
            at = min(given)
        yield Tick(at, trigger_uuid(workflow), zone, tick_uuid(workflow, trigger, at))


def due_ticks(engine: Engine, workflow: Workflow) -> Iterator[Tick]:
    """Those that are due by now, each once; a schedule that is off has none, and what it missed stays missed."""
    if workflow.watermark is None or workflow.active is None or workflow.properties[-1].get("time_trigger_disabled"):
        return
    while True:
        due = [tick for tick in upcoming(engine, workflow, workflow.watermark) if tick.at <= engine.clock.now]
        if not due:
            return
        tick = min(due, key=lambda one: one.at)
        workflow.watermark = tick.at
        yield tick
