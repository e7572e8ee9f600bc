"""The door for Maestro's events: takes them from the queue and has what they tell of read from Maestro. Only the leader does.

It must not trust an event further than the names in it, or give one up before what it tells of was taken in.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Protocol

from bot.evidence.masking import mask
from bot.ports import Clock
from bot.schedulers.maestro.heard import Unreadable, heard_in
from bot.schedulers.maestro.queue import Message, QueueDown
from bot.store import StorageDown
from bot.wire.exchange import NoAnswer, NotSent, Refused, Unwell

logger = logging.getLogger(__name__)

WAITED = timedelta(seconds=2)
"""How long a step waits for an event: so long the end of the process may wait for it."""
A_MOMENT = timedelta(milliseconds=10)
FIRST_WAIT, LONGEST_WAIT = timedelta(seconds=1), timedelta(seconds=60)
TRIES_UNKNOWN = 3
SHOWN = 200
OK = "ok"

LookAt = Callable[[Mapping[str, Collection[int]], datetime], None]
"""Reads these instances of a workflow and reports what is new of them; a workflow without any is read as a whole."""


class Queue(Protocol):
    """Both raise `QueueDown` and nothing else."""

    def receive(self, *, wait: timedelta) -> tuple[Message, ...]: ...

    def give_up(self, messages: Collection[Message]) -> None: ...

    def close(self) -> None: ...


class MaestroEvents:
    """`step` takes what is there, or waits up to `waited` for it, in whose thread that may be.

    The same event twice, late or out of order changes nothing: it only says where to look. One that is no event is given up,
    loudly: it would come again as it is. One about what Maestro does not show (yet) comes again a few times.
    """

    def __init__(
        self,
        *,
        queue: Queue,
        name: str,
        look_at: LookAt,
        leads: Callable[[], bool],
        clock: Clock,
        waited: timedelta = WAITED,
    ) -> None:
        self._queue = queue
        self._name = name
        self._look_at = look_at
        self._leads = leads
        self._clock = clock
        self._waited = waited
        self._again_at: datetime | None = None
        self._failures = 0
        self._closed = False
        self._state = "not read yet"

    def state(self) -> str:
        """What readiness says of it: "ok", or why no event is read."""
        return self._state

    def step(self, now: datetime) -> datetime | None:
        """Take what is there; returns when to be called again."""
        if self._closed or not self._leads():
            self._queue.close()
            self._state, self._failures, self._again_at = OK, 0, None
            return None
        if self._again_at is not None and now < self._again_at:
            return self._again_at
        try:
            messages = self._queue.receive(wait=self._waited)
            self._take(messages)
        except QueueDown as down:
            return self._failed(f"the queue is not read: {down}")
        except StorageDown:
            return self._failed("nothing can be stored; no event is lost, they stay in the queue")
        except (Unwell, NotSent, NoAnswer, Refused) as trouble:
            return self._failed(f"Maestro is not read: {trouble}; no event is lost, they stay in the queue")
        if self._state != OK:
            logger.info("events are read", extra={"scheduler": self._name})
        self._state, self._failures, self._again_at = OK, 0, None
        return self._clock() if messages else self._clock() + A_MOMENT

    def close(self) -> None:
        """Read no more. Called before the thread that steps is waited for."""
        self._closed = True

    def _take(self, messages: Sequence[Message]) -> None:
        told: dict[str, dict[Message, int | None]] = defaultdict(dict)
        done: list[Message] = []
        for message in messages:
            try:
                heard = heard_in(message.body)
            except Unreadable as why:
                shown = mask(message.body[:SHOWN])
                logger.warning("no event of maestro's", extra={"scheduler": self._name, "why": str(why), "body": shown})
                heard = None
            if heard is None:
                done.append(message)
            else:
                told[heard.workflow][message] = heard.instance
        self._queue.give_up(done)
        for workflow, about in told.items():
            if not self._leads():
                return
            self._read(workflow, about)

    def _read(self, workflow: str, about: Mapping[Message, int | None]) -> None:
        instances = {number for number in about.values() if number is not None}
        try:
            self._look_at({workflow: instances}, self._clock())
        except Refused as no:
            if no.status != HTTPStatus.NOT_FOUND:
                raise
            old = [message for message in about if message.received >= TRIES_UNKNOWN]
            told = {"scheduler": self._name, "workflow": workflow, "given_up": len(old)}
            logger.warning("maestro does not show what its event tells of", extra=told)
            self._queue.give_up(old)
            return
        self._queue.give_up(tuple(about))

    def _failed(self, why: str) -> datetime:
        if why != self._state:
            logger.warning("events are not read", extra={"scheduler": self._name, "why": why})
        self._state = why
        self._again_at = self._clock() + min(FIRST_WAIT * (1 << min(self._failures, 10)), LONGEST_WAIT)
        self._failures += 1
        return self._again_at
