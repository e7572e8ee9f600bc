"""Every order of the actors' steps that can make a difference, fewest changes of actor first. It drives nothing itself.

An order that only swaps neighbouring steps which do not meet is left out (sleep sets). Where there are more orders than
wanted, those with few changes are all played, and of those with more a sample that its seed fixes.
"""

import heapq
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tests.races.steps import Step


class Diverged(AssertionError):
    """The same choices led elsewhere: something but the order decided."""


@dataclass(slots=True, kw_only=True)
class Path:
    """Choices to begin with, and who need not be chosen after them until something meets their step."""

    choices: tuple[str, ...] = ()
    asleep: Mapping[str, Step] = field(default_factory=dict)
    changes: int = 0


class Walk:
    """Follows a path to its end, then keeps to whoever moves already; notes the other ways that it passes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._asleep = dict(path.asleep)
        self._changes = 0
        self._last: str | None = None
        self.taken: list[str] = []
        self.others: list[Path] = []
        self.redundant = False

    def choose(self, ready: Sequence[Step], *, waiting: bool) -> Step:
        """Implements `conductor.Chooser`."""
        if len(self.taken) < len(self._path.choices):
            chosen = self._given(ready)
        else:
            chosen = self._free(ready, waiting=waiting)
        self._changes += self._leaves(chosen, ready)
        self._last = chosen.actor
        self.taken.append(chosen.actor)
        return chosen

    def _given(self, ready: Sequence[Step]) -> Step:
        wanted = self._path.choices[len(self.taken)]
        found = next((step for step in ready if step.actor == wanted), None)
        if found is None:
            raise Diverged(f"{wanted} cannot go on after {self.taken}, only {[str(step) for step in ready]}")
        return found

    def _free(self, ready: Sequence[Step], *, waiting: bool) -> Step:
        if waiting:
            self._asleep.clear()
        awake = [step for step in ready if step.actor not in self._asleep]
        if not awake:
            self.redundant = True
            return ready[0]
        chosen = next((step for step in awake if step.actor == self._last), awake[0])
        explored = {**self._asleep, chosen.actor: chosen}
        for other in awake:
            if other is chosen or self.redundant:
                continue
            asleep = {name: step for name, step in explored.items() if not step.footprint.meets(other.footprint)}
            changes = self._changes + self._leaves(other, ready)
            self.others.append(Path(choices=(*self.taken, other.actor), asleep=asleep, changes=changes))
            explored[other.actor] = other
        self._asleep = {name: step for name, step in self._asleep.items() if not step.footprint.meets(chosen.footprint)}
        return chosen

    def _leaves(self, chosen: Step, ready: Sequence[Step]) -> bool:
        """Whether this choice takes the turn from an actor that could have gone on."""
        return self._last not in (None, chosen.actor) and any(step.actor == self._last for step in ready)


@dataclass(slots=True)
class Orders:
    """The walks through a race; `complete` once there is no other order."""

    limit: int
    seed: int = 0
    complete: bool = False

    def __iter__(self) -> Iterator[Walk]:
        """Each walk is to be taken before the next one is asked for."""
        chance = random.Random(self.seed)
        waiting = [(0, 0.0, 0, Path())]
        number = 0
        for _ in range(self.limit):
            if not waiting:
                break
            walk = Walk(heapq.heappop(waiting)[-1])
            yield walk
            for other in walk.others:
                number += 1
                heapq.heappush(waiting, (other.changes, chance.random(), number, other))
        self.complete = not waiting
