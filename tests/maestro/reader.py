"""The connector alone, with nothing of the product behind it: it polls, looks where an event points, and asks."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from bot.incidents.keys import Action, JobKey, RunRef
from bot.policies.specs import MaestroSpec
from bot.ports import BY_ITSELF, SchedulerAnswer, SchedulerRequest
from bot.schedulers.maestro.heard import heard_in
from bot.schedulers.maestro.polling import MaestroPoller
from bot.schedulers.maestro.scheduler import MaestroScheduler
from bot.sources import SourceEvent
from tests.maestro.fake.records import Json, Run, instant
from tests.maestro.fake.server import Maestro

NAME, JOB = "prod", "sales.daily"
POLL = timedelta(seconds=30)
KEY = "prod/sales.daily@20261130T060000000000Z#1"


class Reader:
    """`taken`: everything that was reported, each key once, as intake keeps it; `told`: how often anything was reported."""

    def __init__(self, maestro: Maestro, path: Path, *workflows: str) -> None:
        self.maestro = maestro
        self._path = path
        self._spec = MaestroSpec(name=NAME, url=maestro.url, user="ontrack", workflows=workflows or (JOB,), poll=POLL)
        self.asked: list[str] = []
        self.taken: dict[str, SourceEvent] = {}
        self.told = 0
        self.restarts()

    def restarts(self) -> None:
        """As after a crash: what it remembers is what it wrote down."""
        self.scheduler = MaestroScheduler(self._spec, clock=lambda: self.maestro.now)
        self.poller = MaestroPoller(
            self.scheduler, state=self._path, report=self._take, asked=lambda job: tuple(self.asked)
        )

    def polls(self) -> list[SourceEvent]:
        """Every workflow once; what is new of runs."""
        before = len(self.taken)
        until = self.maestro.now + POLL
        while (due := self.poller.step(self.maestro.now)) < until:
            self.maestro.clock.moves_to(due)
        self.maestro.clock.moves_to(until)
        return self._runs(before)

    def hears(self, event: Json) -> list[SourceEvent]:
        """An event came, and what it points at was read; what is new of runs."""
        before = len(self.taken)
        heard = heard_in(msg(event))
        if heard is not None:
            instances = () if heard.instance is None else (heard.instance,)
            self.poller.look_at({heard.workflow: instances}, self.maestro.now)
        return self._runs(before)

    def ask(self, run: Run, action: Action = Action.RERUN, **more: Any) -> SchedulerAnswer:
        request = self.request(run, action, **more)
        self.asked.append(request.key)
        return self.scheduler.ask(request)

    def request(self, run: Run, action: Action = Action.RERUN, **more: Any) -> SchedulerRequest:
        nominal = instant(run.params["RUN_TS"]["evaluated_result"])
        ref = RunRef(run_id=str(run.instance_id), nominal_time=nominal, generation=run.run_id)
        fields: dict[str, Any] = {"key": KEY, "requested_by": BY_ITSELF, "reason": "safe", "nominal_times": (nominal,)}
        job = JobKey(scheduler=NAME, name=run.workflow.id)
        return SchedulerRequest(action=action, job=job, run=ref, **(fields | more))

    def _take(self, events: Sequence[SourceEvent]) -> None:
        self.told += len(events)
        for event in events:
            self.taken.setdefault(event.key, event)

    def _runs(self, before: int) -> list[SourceEvent]:
        return [event for event in list(self.taken.values())[before:] if event.run is not None]


def msg(event: Json) -> str:
    """As it lies in the queue."""
    return json.dumps(event)


def kinds(events: Sequence[SourceEvent]) -> list[str]:
    """`1.2 run.failed`: the second run of the first instance failed."""
    return [f"{event.run.run_id}.{event.run.generation} {event.kind}" for event in events if event.run is not None]


def at(days: int, start: datetime) -> datetime:
    return start + timedelta(days=days)
