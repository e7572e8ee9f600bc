"""The world with a Maestro in it: one clock, the product as it is wired, polled or told by a queue, and its jobs in Maestro."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from bot.incidents.keys import RunRef
from bot.policies.specs import MaestroSpec
from bot.schedulers.maestro.scheduler import MaestroScheduler
from tests.maestro.fake.records import Json, Run
from tests.maestro.fake.server import Maestro
from tests.maestro.one_clock import OneClock
from tests.maestro.sqs import Sqs
from tests.world.clock import MONDAY_MIDNIGHT, Killed
from tests.world.fixtures import Build
from tests.world.people import POLICIES, RESET
from tests.world.reports import SCHEDULER
from tests.world.world import World

POLL = timedelta(seconds=30)
JOB = "revenue"


@dataclass(slots=True)
class Played:
    """`queue`: where one is declared."""

    world: World
    maestro: Maestro
    spec: MaestroSpec
    queue: Sqs | None = None
    told: int = 0

    def polls(self, rounds: int = 1) -> None:
        """Every workflow is read once (or so often), and what comes of it is done."""
        for _ in range(rounds):
            until = self.world.now + POLL
            while (due := self._steps("polling")) is not None and due < until:
                self.moves_to(due)
            self.moves_to(until)

    def moves_to(self, written: str | datetime) -> None:
        self.world.moves_to(written)
        self.maestro.works()

    def hears(self, events: Iterable[Json] | None = None, *, times: int = 1) -> None:
        """What Maestro published since the last time (or these events) comes by the queue, so often, and is taken in."""
        assert self.queue is not None, "no queue is declared"
        new = list(events) if events is not None else self.maestro.events[self.told :]
        self.told = len(self.maestro.events)
        for event in new * times:
            self.queue.sends(json.dumps(event))
        self.listens()

    def listens(self) -> None:
        """What is in the queue is taken in, as far as it can be now."""
        while self.queue is not None and self.queue.waiting():
            due = self._steps("queues")
            self.world.settles()
            if due is None or due > self.world.now:
                return
        self.world.settles()

    def has_run(self, job: str = JOB, *, times: int = 3) -> None:
        """Good runs on the days before, each polled when it was over."""
        if job not in self.maestro.engine.workflows:
            self.maestro.push(job)
        now = self.world.now
        for days in range(times, 0, -1):
            run = self.maestro.scheduled(job, now.replace(hour=3, minute=0) - timedelta(days=days))
            self.maestro.succeeds(run)
        self.polls()
        self.told = len(self.maestro.events)

    def fails(self, job: str = JOB, log: str = RESET, *, at: str = "03:12") -> Run:
        """The run of 03:00 fails for good; nobody has read of it yet."""
        self.moves_to("03:00")
        run = self.maestro.scheduled(job, self.world.now.replace(minute=0, second=0, microsecond=0))
        self.moves_to(at)
        lines = log.strip().splitlines()
        self.maestro.fails_for_good(run, "load", message=lines[-1], errors=tuple(lines))
        return run

    def ref(self, run: Run, nominal: datetime) -> RunRef:
        return RunRef(run_id=str(run.instance_id), nominal_time=nominal, generation=run.run_id)

    def kill(self) -> None:
        """ontrack dies and is started again; of its connector nothing is left either."""
        self.world.scheduler = connector(self.maestro, self.spec)  # type: ignore[assignment]
        self.world.kill()

    def _steps(self, name: str) -> datetime | None:
        """A process that dies over it is started anew."""
        try:
            return self.world.service.steps[name](self.world.now)
        except Killed:
            self.kill()
            return self.world.now


def connector(maestro: Maestro, spec: MaestroSpec) -> MaestroScheduler:
    """As the composition root makes it, but on Maestro's clock."""
    return MaestroScheduler(spec, clock=lambda: maestro.clock.now)


def policies(maestro: Maestro, *workflows: str, queue: str | None = None, base: str = POLICIES, **more: Any) -> str:
    """The world's policies with Maestro as its scheduler."""
    declared: Json = {
        "type": "maestro",
        "url": maestro.url,
        "user": "ontrack",
        "workflows": list(workflows or (JOB,)),
        "poll": "30s",
        **more,
    }
    declared |= {"events": {"sqs": queue}} if queue else {}
    return base.replace("{type: events}", json.dumps(declared))


def play(
    build_world: Build,
    maestro: Maestro,
    *workflows: str,
    queue: Sqs | None = None,
    base: str = POLICIES,
    **more: Any,
) -> Played:
    """The world begins on its Monday, midnight, and so does Maestro."""
    address = queue.url if queue else None
    text = policies(maestro, *workflows, queue=address, base=base, **more)
    spec = MaestroSpec(
        name=SCHEDULER, url=maestro.url, user="ontrack", workflows=workflows or (JOB,), queue_url=address, poll=POLL
    )
    maestro.clock.now = MONDAY_MIDNIGHT
    world = build_world(policies=text, scheduler=connector(maestro, spec))
    maestro.engine.clock = OneClock(world.clock)
    return Played(world=world, maestro=maestro, spec=spec, queue=queue)
