"""A story that a seed tells: the product between its doors and a Maestro, with everything going wrong that can.

Intake, timers, delivery, connector and database are real; the workspace is a list, and Maestro is reached without a socket.
"""

import random
import shutil
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from bot.incidents.events import Approved, PersonEvent, RerunWanted
from bot.incidents.keys import Action, JobKey
from bot.incidents.model import Incident, Status
from bot.incidents.people import By
from bot.people import People
from bot.policies.specs import MaestroSpec
from bot.schedulers.maestro.polling import MaestroPoller
from bot.schedulers.maestro.requests import request_id_of
from bot.schedulers.maestro.scheduler import MaestroScheduler
from bot.sources import SourceEvent
from bot.store import EffectKind, EffectState, Which
from storage.opening import open_storage
from tests.maestro.direct import URL, Direct
from tests.maestro.fake.answering import Answering
from tests.maestro.fake.faults import Fault
from tests.maestro.fake.records import Json, Run, instant
from tests.maestro.one_clock import OneClock
from tests.races.edges import Room
from tests.races.policies import ANA, POLICIES
from tests.races.rewinding import SqliteRewind
from tests.races.town import Process, directory, loaded
from tests.world.clock import Clock, Killed, ProcessClock
from tests.world.people import RESET, STRANGE

JOB = JobKey(scheduler="shop", name="revenue")
POLL = timedelta(seconds=30)
NOMINAL = timedelta(hours=3)
RULES = ("SEQUENTIAL", "SEQUENTIAL", "STRICT_SEQUENTIAL", "FIRST_ONLY", "LAST_ONLY", "SERIAL_LATEST_ONLY", "PARALLEL")
FAULTS = ("lose", "drop", "refuse", "late", "garbage", 400, 404, 408, 409, 429, 500, 502)
PATHS = ("/restart$", "/start$", "/restart$", "/overview$", "/instances$", "/runs", "/steps", "latest$", "")
SETTLED = 60


class Place:
    """A database in which story after story is told: each begins with it as it was at first."""

    def __init__(self, template: Path, path: Path) -> None:
        self.path = path
        self._url = f"sqlite:///{path / 'ontrack.db'}"
        shutil.copyfile(template, path / "ontrack.db")
        self._rewind = SqliteRewind(str(path / "ontrack.db"))
        self.storage = open_storage(self._url, instance="story")

    def reopened(self) -> None:
        """As after the death of its process."""
        self.storage.close()
        self.storage = open_storage(self._url, instance="story")

    def emptied(self) -> None:
        self._rewind.go_back()
        shutil.rmtree(self.path / "state", ignore_errors=True)

    def close(self) -> None:
        self.storage.close()
        self._rewind.close()


class Story:
    """`wishes`: how often Ana asked for or approved a rerun; `happened`: what the seed chose, for whoever reads a failure."""

    def __init__(self, seed: int, place: Place) -> None:
        self.chance = random.Random(seed)
        self.happened: list[str] = []
        self.wishes = 0
        self.clock = Clock()
        self.maestro = Answering(OneClock(self.clock))
        self.rule = self.chance.choice(RULES)
        self.wire = Direct(self.maestro)
        self.room = Room()
        self.place = place
        self._published = 0
        self._starts()

    def plays(self) -> None:
        """Three good days, a failure, and then whatever chance brings; in the end all is well and time goes by."""
        self.maestro.push(JOB.name, strategy=self.rule)
        for days in (3, 2, 1):
            run = self.maestro.scheduled(JOB.name, self.clock.now + NOMINAL - timedelta(days=days))
            self.maestro.succeeds(run)
        self.polls()
        self.maestro.moves_to(self.clock.now + NOMINAL)
        run = self.maestro.scheduled(JOB.name, self.clock.now.replace(minute=0, second=0, microsecond=0))
        self.maestro.moves(timedelta(minutes=12))
        self._fails(run)
        self._threatens_the_request()
        deeds = self._deeds()
        for _ in range(self.chance.randint(4, 14)):
            name = self.chance.choice(list(deeds))
            self.happened.append(name)
            self._survives(deeds[name])
        self._calm()

    def incidents(self) -> tuple[Incident, ...]:
        return self.process.storage.reads.incidents(which=Which.ALL, jobs=str(JOB), limit=100)

    def request_ids(self) -> dict[str, str]:
        """The id of every request for a rerun or start that was ever decided, and its key."""
        rows = self.process.storage.reads.outbox(states=tuple(EffectState), limit=10_000)
        asked = [row.content for row in rows if row.kind is EffectKind.REQUEST]
        keys = [str(one["key"]) for one in asked if one["action"] in (Action.RERUN, Action.START)]

        assert len(keys) == len(set(keys))

        return {str(request_id_of(key)): key for key in keys}

    def by_us(self) -> list[Run]:
        """The runs that began because ontrack asked for them."""
        return [
            run for run in self.maestro.workflow(JOB.name).runs if run.initiator.get("user") in ("ontrack", ANA.name)
        ]

    def nominal_of(self, run: Run) -> datetime:
        return instant(run.params["RUN_TS"]["evaluated_result"])

    def said_of(self, run: Run) -> list[str]:
        """The lines of its own timeline and of those of its steps."""
        timelines = [run.timeline, *(one.timeline for attempts in run.attempts.values() for one in attempts)]
        return [str(entry.get("message", "")) for timeline in timelines for entry in timeline.entries]

    def polls(self) -> None:
        until = self.clock.now + POLL
        while (due := self.poller.step(self.clock.now)) < until:
            self.clock.now = max(due, self.clock.now)
        self.clock.now = max(until, self.clock.now)
        self._settles()

    def _deeds(self) -> dict[str, Callable[[], None]]:
        return {
            "polls": self.polls,
            "polls again": self.polls,
            "hears": lambda: self._hears(self.maestro.events[self._published :]),
            "hears old things": self._hears_old_things,
            "time passes": self._time_passes,
            "much time passes": lambda: self._passes(timedelta(minutes=self.chance.randint(20, 90))),
            "something goes wrong": self._goes_wrong,
            "it dies soon": self._dies_soon,
            "it dies in a call": self._dies_in_a_call,
            "a run of ours goes well": lambda: self._ends(self.by_us(), good=True),
            "a run of ours fails": lambda: self._ends(self.by_us(), good=False),
            "maria restarts it": self._maria_restarts,
            "maria kills what lives": self._maria_kills,
            "ana wants a rerun": self._ana_wants,
            "ana approves": self._ana_approves,
            "a tick comes": self._tick,
            "a version is pushed": lambda: self._quietly(lambda: self.maestro.push(JOB.name, strategy=self.rule)),
            "the workers are slow": lambda: setattr(self.maestro, "prompt", False),
            "the workers work": self.maestro.works,
        }

    def _survives(self, deed: Callable[[], None]) -> None:
        try:
            deed()
        except Killed:
            self.happened.append("- dies")
            self._restarts()

    def _calm(self) -> None:
        """Nothing goes wrong any more: everything is read, ends well, and what is due falls due."""
        self.maestro.faults.clear()
        self.maestro.prompt = True
        self.wire.lets_live()
        self._dying.dies_when = None
        for _ in range(5):
            self._passes(timedelta(minutes=11))
            for run in list(self.maestro.workflow(JOB.name).runs):
                if run.alive and not run.queued:
                    self.maestro.succeeds(run)
            self._hears(self.maestro.events[self._published :])
            self.polls()

    def _settles(self) -> None:
        storage = self.process.storage
        for _ in range(SETTLED):
            timer_at, effect_at = storage.next_timer_at(), storage.next_effect_at(now=self.clock.now)
            if timer_at is not None and timer_at <= self.clock.now:
                self.process.fires()
            elif effect_at is not None and effect_at <= self.clock.now:
                self.process.delivers()
            else:
                return
        raise AssertionError("there is always something due now")

    def _passes(self, span: timedelta) -> None:
        """In steps, so that what falls due is done when it does."""
        until = self.clock.now + span
        while self.clock.now < until:
            storage = self.process.storage
            due = (storage.next_timer_at(), storage.next_effect_at(now=self.clock.now))
            soonest = min((at for at in due if at is not None and at > self.clock.now), default=until)
            self.maestro.moves_to(min(soonest, until))
            self._settles()

    def _time_passes(self) -> None:
        self._passes(timedelta(seconds=self.chance.choice((10, 45, 120, 330, 600))))

    def _hears(self, events: list[Json]) -> None:
        self._published = len(self.maestro.events)
        instances = {event["workflow_instance_id"] for event in events if "workflow_instance_id" in event}
        for number in sorted(instances, key=lambda _: self.chance.random()):
            self._looks_at(number)

    def _looks_at(self, number: int) -> None:
        """As the queue's door does it: what cannot be read now comes again later."""
        try:
            self.poller.look_at({JOB.name: (number,)}, self.clock.now)
        except Exception as trouble:  # noqa: BLE001 the door keeps whatever it cannot take in
            self.happened.append(f"- not heard: {type(trouble).__name__}")

    def _hears_old_things(self) -> None:
        self._hears(self.chance.choices(self.maestro.events, k=5))

    def _goes_wrong(self) -> None:
        kind, path = self.chance.choice(FAULTS), self.chance.choice(PATHS)
        self.happened.append(f"- {kind} at {path or 'everything'}")
        fault = Fault(kind=kind, path=path, times=self.chance.randint(1, 3), after=self.chance.randint(0, 2))
        self.maestro.faults.append(fault)

    def _threatens_the_request(self) -> None:
        """What this is about: something goes wrong with the restart or start itself."""
        match self.chance.choice(("nothing", "fault", "fault", "death", "death")):
            case "fault":
                kind = self.chance.choice(FAULTS)
                self.happened.append(f"- {kind} at the request")
                times = self.chance.randint(1, 3)
                self.maestro.faults.append(Fault(kind=kind, path="/(restart|start)$", method="POST", times=times))
            case "death":
                self.wire.dies_at, self.wire.dies_after = "/actions/(restart|start)$", self.chance.random() < 0.5

    def _dies_soon(self) -> None:
        looks = iter(range(self.chance.randint(1, 25), 0, -1))
        self._dying.dies_when = lambda: next(looks, 0) == 1

    def _dies_in_a_call(self) -> None:
        self.wire.dies_in, self.wire.dies_after = self.chance.randint(1, 12), self.chance.random() < 0.5

    def _fails(self, run: Run) -> None:
        log = self.chance.choice((RESET, RESET, STRANGE)).strip().splitlines()
        self.maestro.fails_for_good(run, "load", message=log[-1], errors=tuple(log))

    def _ends(self, runs: list[Run], *, good: bool) -> None:
        for run in runs:
            if run.alive and not run.queued:
                self.maestro.succeeds(run) if good else self._fails(run)

    def _maria_restarts(self) -> None:
        run = self.maestro.workflow(JOB.name).instances[4][-1]
        if not run.alive:
            self.maestro.restarts(run, user="maria")

    def _maria_kills(self) -> None:
        for run in self.maestro.workflow(JOB.name).runs:
            if run.alive:
                self.maestro.kills(run, user="maria")

    def _tick(self) -> None:
        self.maestro.scheduled(JOB.name, self.clock.now.replace(second=0, microsecond=0))

    def _quietly(self, deed: Callable[[], object]) -> None:
        deed()

    def _ana_wants(self) -> None:
        self._says(partial(RerunWanted, confirmed=True), Status.OPEN)

    def _ana_approves(self) -> None:
        for incident in self.incidents():
            if incident.proposal is not None:
                self._says(
                    partial(Approved, proposal=incident.proposal.number, confirmed=True), Status.AWAITING_APPROVAL
                )

    def _says(self, word: Callable[..., PersonEvent], while_it_is: Status) -> None:
        found = [one for one in self.incidents() if one.status is while_it_is]
        if found:
            self.clock.tick()
            self.wishes += 1
            self.process.is_told(word(by=By(person=ANA, at=self.clock.now)), found[0])
            self._settles()

    def _reports(self, events: Sequence[SourceEvent]) -> None:
        self.process.hears_all(*events)

    def _restarts(self) -> None:
        self.place.reopened()
        self.wire.lets_live()
        self._starts()
        self._survives(self._settles)

    def _starts(self) -> None:
        """A process on what the last one left: its database, and what its poller wrote down."""
        self._dying = ProcessClock(self.clock)
        storage = self.place.storage
        spec = MaestroSpec(name=JOB.scheduler, url=URL, user="ontrack", workflows=(JOB.name,), poll=POLL)
        self.scheduler = MaestroScheduler(spec, clock=self._dying, wire=self.wire)
        people, groups = directory()
        settings: dict[str, Any] = {"scheduler": self.scheduler, "clock": self._dying}
        self.process = Process(
            storage=storage,
            room=self.room,
            policies=loaded(POLICIES),
            people=People(people=people, groups=groups),
            **settings,
        )
        self.poller = MaestroPoller(
            self.scheduler,
            state=self.place.path / "state",
            report=self._reports,
            asked=lambda job: storage.reads.rerun_keys(job, most=200),
        )
