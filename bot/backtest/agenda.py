"""What is still to happen in a replay because of what it did: the ends of its reruns. In order; it lets nothing happen itself."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count

from bot.sources import SourceEvent

LAST = 2**62
"""The batch of what comes after everything that is told at the same instant."""


@dataclass(order=True, slots=True)
class Due:
    """Events that a scheduler will tell at `at`; `batch` orders them among what is told at the same instant."""

    at: datetime
    batch: int
    number: int
    event: SourceEvent | None = field(compare=False, default=None)


class Agenda:
    """A heap of what is due; an entry without an event only wakes whoever looks for work."""

    def __init__(self) -> None:
        self._heap: list[Due] = []
        self._numbers = count()

    def add(self, event: SourceEvent | None, *, at: datetime, batch: int = 0) -> None:
        heapq.heappush(self._heap, Due(at=at, batch=batch, number=next(self._numbers), event=event))

    @property
    def next(self) -> Due | None:
        return self._heap[0] if self._heap else None

    def take(self) -> Sequence[Due]:
        """What is due next, all that one transaction told together."""
        first = heapq.heappop(self._heap)
        found = [first]
        while self._heap and (self._heap[0].at, self._heap[0].batch) == (first.at, first.batch):
            found.append(heapq.heappop(self._heap))
        return found
