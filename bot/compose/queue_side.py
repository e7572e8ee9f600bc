"""The doors for events that come by queues, one for each scheduler that declares one; kept in step with the policies.

It runs none of them by itself: whoever leads steps them, in a thread of their own, since they wait.
"""

import threading
from collections.abc import Callable
from datetime import datetime, timedelta

from bot.compose.schedulers import Schedulers
from bot.policies.specs import MaestroSpec
from bot.ports import Clock
from bot.schedulers.maestro.queue import SqsQueue
from handlers.maestro_events import WAITED, MaestroEvents

QUEUES = "queues"
LEAST_WAITED = timedelta(seconds=1)


class Queues:
    """A step serves each queue in turn, and waits the shorter at each the more there are."""

    def __init__(self, schedulers: Schedulers, *, leads: Callable[[], bool], clock: Clock) -> None:
        self._schedulers = schedulers
        self._leads = leads
        self._clock = clock
        self._doors: dict[MaestroSpec, MaestroEvents] = {}
        self._closed = threading.Event()

    def step(self, now: datetime) -> datetime | None:
        """Take what is there; returns when to be called again, None where there is no queue."""
        specs = tuple(self._schedulers.queues().values()) if not self._closed.is_set() else ()
        for gone in self._doors.keys() - set(specs):
            door = self._doors.pop(gone)
            door.close()
            door.step(now)
        due = [self._door(spec, max(LEAST_WAITED, WAITED / len(specs))).step(now) for spec in specs]
        return min((at for at in due if at is not None), default=None)

    def states(self) -> dict[str, str]:
        """How each queue is read: "ok", or why it is not."""
        return {spec.name: door.state() for spec, door in list(self._doors.items())}

    def close(self) -> None:
        """Read no more; a step that waits ends soon."""
        self._closed.set()
        for door in list(self._doors.values()):
            door.close()

    def _door(self, spec: MaestroSpec, waited: timedelta) -> MaestroEvents:
        known = self._doors.get(spec)
        if known is None:
            known = self._doors[spec] = MaestroEvents(
                queue=SqsQueue(spec.queue_url or ""),
                name=spec.name,
                look_at=lambda told, at: self._schedulers.look_at(spec.name, told, at),
                leads=self._leads,
                clock=self._clock,
                waited=waited,
            )
        return known
