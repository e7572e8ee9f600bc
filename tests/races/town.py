"""The product as several processes on one database, without its doors: what an actor of a race acts through.

Everything between intake and the ports is real; people, workspace and scheduler stand in memory.
"""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from copy import deepcopy
from dataclasses import dataclass, field, fields
from datetime import timedelta
from functools import lru_cache
from typing import Any

from bot.delivery import Deliverer, Pace
from bot.delivery.messages import Messenger
from bot.delivery.moving import Mover
from bot.delivery.requests import Requester
from bot.delivery.views import Views
from bot.incidents.events import PersonEvent
from bot.incidents.keys import JobKey
from bot.incidents.model import Incident
from bot.incidents.people import By, Person
from bot.incidents.policy import Door, JobPolicy
from bot.intake import Inbound, Intake, Outcome
from bot.intake.inbound import PolicyChanged
from bot.intake.worlds import Worlds
from bot.people import People
from bot.policies import Policies, load
from bot.reads import Records
from bot.sources import SourceEvent
from bot.store import Committed, EffectRow, GroupRow, PersonRow, ViewRow, Which
from bot.timers import Timers
from storage.opening import SqlStorage, open_storage
from tests.races.edges import Room, Scheduler
from tests.races.policies import ANA, BEN, GIL, GROUPS, POLICIES
from tests.races.probes import Probes
from tests.races.reports import SCHEDULER
from tests.races.rewinding import Rewind, rewind_of
from tests.world.clock import MONDAY_MIDNIGHT, Clock

AT_ONCE = Pace(post=timedelta(0), update=timedelta(0))
NO_END = 50


@lru_cache
def loaded(text: str) -> Policies:
    return load(text, env={})


class ByHand(Executor):
    """An executor that performs what it was given when it is told to, in the thread that tells it."""

    def __init__(self) -> None:
        self.given: list[Callable[[], Any]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        self.given.append(lambda: fn(*args, **kwargs))
        return Future()

    def perform(self) -> None:
        while self.given:
            self.given.pop(0)()


@dataclass(slots=True)
class Process:
    """One process; with `born_leased` it sends what it commits itself, when `delivers_its_own` is called."""

    storage: SqlStorage
    room: Room
    scheduler: Scheduler
    clock: Clock
    policies: Policies
    people: People
    born_leased: bool = False
    intake: Intake = field(init=False)
    timers: Timers = field(init=False)
    deliverer: Deliverer = field(init=False)
    requester: Requester = field(init=False)
    own: ByHand = field(default_factory=ByHand)

    def __post_init__(self) -> None:
        worlds = Worlds(
            policies=lambda: self.policies,
            people=lambda: self.people,
            schedulers=lambda: {SCHEDULER: self.scheduler},
            doors=frozenset({Door.CHANNEL, Door.DM}),
        )
        reads = self.storage.reads
        records = Records(
            reads=reads,
            worlds=worlds,
            people=lambda: self.people,
            clock=self.clock,
            thread_url=lambda channel, ts: None,
        )
        self.intake = Intake(
            storage=self.storage,
            reads=reads,
            worlds=worlds,
            clock=self.clock,
            committed=self._dispatch,
            born_leased=self.born_leased,
        )
        self.timers = Timers(storage=self.storage, take_in=self.intake.take_in)
        self.requester = Requester(
            storage=self.storage,
            schedulers=lambda: {SCHEDULER: self.scheduler},
            take_in=self.intake.take_in,
            clock=self.clock,
            policy_of=self._policy_of,
        )
        mover = Mover(storage=self.storage, take_in=self.intake.take_in, fallback=lambda: None)
        self.deliverer = Deliverer(
            storage=self.storage,
            messenger=Messenger(chat=self.room, snapshot_of=records.snapshot),
            requester=self.requester,
            views=Views(
                storage=self.storage,
                chat=self.room,
                snapshot_of=records.snapshot,
                storm_of=records.storm,
                storm_page_of=records.storm_page,
                clock=self.clock,
                pace=AT_ONCE,
                mover=mover,
            ),
            take_in=self.intake.take_in,
            clock=self.clock,
            pace=AT_ONCE,
            mover=mover,
            executor=self.own if self.born_leased else None,
        )

    def _policy_of(self, job: JobKey) -> JobPolicy:
        return self.policies.job(job)

    def _dispatch(self, left: Committed) -> None:
        self.deliverer.dispatch(left)

    def hears(self, event: SourceEvent) -> Outcome:
        """A source's report arrives here."""
        return self.takes_in(Inbound(key=event.key, event=event))

    def hears_all(self, *events: SourceEvent) -> list[Outcome]:
        """Reports that arrive in one batch."""
        return self.intake.take_in([Inbound(key=event.key, event=event) for event in events])

    def is_told(self, event: PersonEvent, incident: Incident) -> Outcome:
        """A person's word about the occurrence arrives here."""
        key = f"{type(event).__name__}:{event.by.person.id}:{event.by.at.isoformat()}"
        return self.takes_in(Inbound(key=key, event=event, occurrence=(incident.record, incident.number)))

    def takes_in(self, inbound: Inbound) -> Outcome:
        (outcome,) = self.intake.take_in([inbound])
        return outcome

    def follows(self, policies: Policies, *jobs: JobKey) -> list[Outcome]:
        """Other policies hold here from now on."""
        self.policies = policies
        told = [PolicyChanged(job=job, reason=f"policies {policies.version}") for job in jobs]
        return self.intake.take_in([Inbound(key=f"policies:{policies.version}:{one.job}", event=one) for one in told])

    def fires(self) -> None:
        """All timers that are due here."""
        self.timers.step(self.clock())

    def delivers(self) -> None:
        """Everything that can be claimed is claimed and sent."""
        self.deliverer.step(self.clock())
        self.own.perform()

    def shows(self, view: ViewRow) -> None:
        """This leased view is sent, and what follows it in its thread."""
        self.deliverer.dispatch(Committed(views=(view,)))
        self._works()

    def sends(self, row: EffectRow) -> None:
        """This leased row is sent, and what follows it in its thread."""
        self.deliverer.dispatch(Committed(effects=(row,)))
        self._works()

    def _works(self) -> None:
        self.deliverer._do_here()
        self.own.perform()

    def delivers_its_own(self) -> None:
        """What was born leased by this process is sent."""
        self.own.perform()


@dataclass(slots=True)
class Town:
    """One database, what stands around it, and the processes that were started on it."""

    url: str
    policies: Policies = field(default_factory=lambda: loaded(POLICIES))
    clock: Clock = field(default_factory=Clock)
    room: Room = field(default_factory=Room)
    scheduler: Scheduler = field(default_factory=lambda: Scheduler(SCHEDULER))
    probes: Probes = field(init=False)
    _storages: list[SqlStorage] = field(default_factory=list)
    _processes: list[Process] = field(default_factory=list)
    _rewind: Rewind | None = None
    _kept: list[tuple[Any, dict[str, Any]]] = field(default_factory=list)
    _handed: list[tuple[Process, Policies, list[Callable[[], Any]]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.probes = Probes(self.url)

    def keeps(self) -> None:
        """Remember everything as it is now, in the database and around it."""
        self._rewind = rewind_of(self.url)
        standing = [self.room, self.scheduler, *{id(one.clock): one.clock for one in self._processes}.values()]
        self._kept = [(one, deepcopy(_held(one))) for one in standing]
        self._handed = [(one, one.policies, list(one.own.given)) for one in self._processes]

    def goes_back(self) -> None:
        """Everything is as it was kept."""
        assert self._rewind is not None
        self._rewind.go_back()
        for one, held in self._kept:
            for name, value in held.items():
                setattr(one, name, deepcopy(value))
        for process, policies, given in self._handed:
            process.policies, process.own.given = policies, list(given)

    @property
    def sqlite(self) -> bool:
        return self.url.startswith("sqlite")

    def process(self, *, clock: Clock | None = None, born_leased: bool = False) -> Process:
        """A process more; on SQLite, which has only one, another thread of it."""
        people, groups = directory()
        process = Process(
            storage=self._storage(),
            room=self.room,
            scheduler=self.scheduler,
            clock=clock or self.clock,
            policies=self.policies,
            people=People(people=people, groups=groups),
            born_leased=born_leased,
        )
        self._processes.append(process)
        return process

    def incident(self, job: JobKey) -> Incident:
        """The job's newest occurrence."""
        return self.incidents(job)[0]

    def incidents(self, job: JobKey | None = None) -> tuple[Incident, ...]:
        return self._storages[0].reads.incidents(which=Which.ALL, jobs=str(job or "*"), limit=100)

    @property
    def storage(self) -> SqlStorage:
        return self._storages[0]

    def by(self, person: Person) -> By:
        return By(person=person, at=self.clock.now)

    def passes(self, process: Process, **span: float) -> None:
        """Time goes by, and everything that falls due is done by this process."""
        self.clock.now += timedelta(**span)
        self.settles(process)

    def settles(self, process: Process) -> None:
        """This process does everything that is due, until nothing is."""
        for _ in range(NO_END):
            process.fires()
            process.delivers()
            due = (process.storage.next_timer_at(), process.storage.next_effect_at(now=self.clock.now))
            if all(at is None or at > self.clock.now for at in due):
                return
        raise AssertionError("there is always something due now")

    def close(self) -> None:
        self.probes.close()
        if self._rewind is not None:
            self._rewind.close()
        for storage in self._storages:
            storage.close()

    def _storage(self) -> SqlStorage:
        if self.sqlite and self._storages:
            return self._storages[0]
        storage = open_storage(self.url, instance=f"process-{len(self._storages)}")
        self.probes.watch(storage._database)
        self._storages.append(storage)
        return storage


def _held(one: Any) -> dict[str, Any]:
    return {each.name: getattr(one, each.name) for each in fields(one)}


def directory() -> tuple[list[PersonRow], list[GroupRow]]:
    """Everybody, read so late that nothing of it grows stale."""
    now = MONDAY_MIDNIGHT + timedelta(days=30)
    people = [
        PersonRow(id=one.id, name=one.name, email=f"{one.name}@example.com", active=True, read_at=now)
        for one in (ANA, BEN, GIL)
    ]
    groups = [GroupRow(id=id, members=members, exists=True, read_at=now) for id, members in GROUPS.items()]
    return people, groups
