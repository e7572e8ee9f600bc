"""Plays a race in every order, each on a fresh database, and holds each end against what must hold for all of them."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from bot.incidents.keys import JobKey
from bot.store import TimelineRow
from tests.races.conductor import Conductor
from tests.races.invariants import broken, used
from tests.races.orders import Orders, Walk
from tests.races.steps import Step
from tests.races.town import Process, Town

Scene = TypeVar("Scene")
Databases = Callable[[], Any]


@dataclass(slots=True, kw_only=True)
class End(Generic[Scene]):
    """How one order ended: `order` is what was done, `results` what each actor's work returned.

    `afterwards` is a process that was in no race; it did what was left to do.
    """

    town: Town = field(repr=False)
    scene: Scene = field(repr=False)
    afterwards: Process = field(repr=False)
    results: Mapping[str, Any]
    order: tuple[Step, ...] = field(repr=False)

    def first_to(self, does: str) -> str:
        """The actor that did this first."""
        return next(step.actor for step in self.order if step.does == does)

    def timeline(self, job: JobKey) -> tuple[TimelineRow, ...]:
        one = self.town.incident(job)
        return self.town.storage.reads.timeline(record=one.record, number=one.number)

    def kinds(self, job: JobKey) -> set[str]:
        """The kinds of the rows in the timeline of the job's newest occurrence."""
        return {row.kind for row in self.timeline(job)}

    def used(self) -> float:
        """The run hours that are booked on the automatic allowances of all jobs."""
        return used(self.town, "job:")


@dataclass(slots=True)
class Races:
    """Hands out the ends of a race; `played` counts them, `complete`: there was no other order."""

    databases: Databases
    limit: int
    played: int = 0
    complete: bool = False
    last: tuple[Step, ...] = ()

    def __call__(self, before: Callable[[Town], Scene], /, **actors: Callable[[Scene], Any]) -> Iterator[End[Scene]]:
        """Each end, after everything that was left to do is done (`town.settles`) and every rule was found kept."""
        orders = Orders(limit=self.limit)
        with self._town() as town:
            scene = before(town)
            afterwards = town.process()
            town.keeps()
            works = {name: _bound(work, scene) for name, work in actors.items()}
            for walk in orders:
                end = self._end(town, walk, scene, works, afterwards)
                self.last = end.order
                yield end
                self.played += not walk.redundant
                town.goes_back()
        self.complete = orders.complete

    def _end(
        self, town: Town, walk: Walk, scene: Scene, works: Mapping[str, Callable[[], Any]], afterwards: Process
    ) -> End[Scene]:
        conductor = Conductor(works, town.probes.waits)
        conductor.play(walk)
        order = tuple(conductor.taken)
        for actor in conductor.actors.values():
            if actor.error is not None:
                actor.error.add_note(written(order))
                raise actor.error
        results = {name: actor.result for name, actor in conductor.actors.items()}
        town.settles(afterwards)
        found = broken(town)

        assert not found, f"{found}\nin the order\n{written(order)}"
        return End(town=town, scene=scene, afterwards=afterwards, results=results, order=order)

    @contextmanager
    def _town(self) -> Iterator[Town]:
        with self.databases() as url:
            town = Town(url)
            try:
                yield town
            finally:
                town.close()


def _bound(work: Callable[[Scene], Any], scene: Scene) -> Callable[[], Any]:
    return lambda: work(scene)


def written(order: tuple[Step, ...]) -> str:
    return "\n".join(str(step) for step in order)
