"""What a test does with the reading side of the connector: polls, takes what is reported. Its clock is Maestro's."""

import json
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from bot.incidents.keys import JobKey
from bot.policies.specs import MaestroSpec
from bot.schedulers.maestro.polling import MaestroPoller
from bot.schedulers.maestro.scheduler import MaestroScheduler
from bot.sources import SourceEvent, SourceKind
from tests.maestro.fake.server import Maestro

NAME = "maestro-prod"
DAILY = "sales.daily"


class NotTaken(Exception):
    """Intake stored nothing."""


class Desk:
    def __init__(self, maestro: Maestro, path: Path, *workflows: str, **spec: Any) -> None:
        self.maestro = maestro
        self.path = path
        given: dict[str, Any] = {"url": maestro.url, "poll": POLL, **spec}
        declared = MaestroSpec(name=NAME, user="ontrack", workflows=workflows or (DAILY,), **given)
        self.scheduler = MaestroScheduler(declared, clock=self.clock)
        self.taken: list[SourceEvent] = []
        self.asked: list[str] = []
        self.refuses = False
        self.poller = self.restarted()

    def clock(self) -> datetime:
        return self.maestro.clock.now

    def restarted(self) -> MaestroPoller:
        self.poller = MaestroPoller(self.scheduler, state=self.path / NAME, report=self._take, asked=self._asked_for)
        return self.poller

    def polls(self, rounds: int = 1) -> list[SourceEvent]:
        """Read every workflow so often; returns what was reported about runs."""
        before = len(self.taken)
        for _ in range(rounds):
            until = self.clock() + POLL
            while (due := self.poller.step(self.clock())) < until:
                self.maestro.clock.moves_to(max(due, self.clock()))
            self.maestro.clock.moves_to(max(until, self.clock()))
        return [event for event in self.taken[before:] if event.kind is not SourceKind.JOB_CHANGED]

    def changes(self) -> list[SourceEvent]:
        return [event for event in self.taken if event.kind is SourceKind.JOB_CHANGED]

    def calls(self) -> list[str]:
        """What was asked of Maestro since the last time, in order."""
        asked = [f"{one.method} {one.path}" for one in self.maestro.asked]
        self.maestro.asked.clear()
        return asked

    def body_of(self, event: Any) -> str:
        """The event as the queue holds it."""
        return json.dumps(event)

    def _asked_for(self, job: JobKey) -> Collection[str]:
        return self.asked if job == JobKey(scheduler=NAME, name=DAILY) else ()

    def _take(self, events: Sequence[SourceEvent]) -> None:
        if self.refuses:
            raise NotTaken
        self.taken.extend(events)


POLL = timedelta(seconds=30)


def kinds(events: Sequence[SourceEvent]) -> list[str]:
    """`1.2 run.failed`: the second run of the first instance failed."""
    return [f"{event.run.run_id}.{event.run.generation} {event.kind}" for event in events if event.run is not None]
