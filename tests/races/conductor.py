"""Drives actors, each a thread of its own, one step at a time; one that waits for a lock is left alone until it is free.

It knows neither the product nor the database: whoever is asked to stop calls `stop`, whoever knows tells who waits.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tests.races.steps import Footprint, Step

LOOK_AGAIN = 0.0005
STUCK_AFTER = 20.0


class Stuck(AssertionError):
    """No actor gets any further, and nobody ends it."""


class Abandoned(BaseException):
    """The order is given up: the actor ends where it stands."""


class Chooser(Protocol):
    """Says who takes the next step."""

    def choose(self, ready: Sequence[Step], *, waiting: bool) -> Step:
        """One of `ready`; `waiting`: another actor waits for a lock."""


@dataclass(slots=True, eq=False)
class Actor:
    """One thread of the race. `session` is whatever tells who waits (the process id of its database session)."""

    name: str
    work: Callable[[], Any]
    step: Step | None = None
    session: int | None = None
    thread: threading.Thread = field(init=False)
    done: bool = False
    result: Any = None
    error: BaseException | None = None


_current = threading.local()


def stop(does: str, footprint: Footprint, *, session: int | None = None) -> None:
    """Stop here when the calling thread is an actor's; elsewhere nothing happens."""
    stage: Conductor | None = getattr(_current, "conductor", None)
    if stage is not None:
        stage.park(_current.actor, does, footprint, session)


class Conductor:
    """One run of all actors, in one order. `waits` tells which of these actors wait for a lock that another one holds."""

    def __init__(
        self, actors: Mapping[str, Callable[[], Any]], waits: Callable[[Sequence[Actor]], frozenset[str]]
    ) -> None:
        self._waits = waits
        self._moved = threading.Condition()
        self._let_go: Actor | None = None
        self._abandoned = False
        self.actors = {name: Actor(name=name, work=work) for name, work in actors.items()}
        self.taken: list[Step] = []

    def play(self, chooser: Chooser) -> None:
        """Let them run to their ends in the order that `chooser` wants. Raises `Stuck`."""
        for actor in self.actors.values():
            actor.thread = threading.Thread(target=self._act, args=(actor,), name=actor.name, daemon=True)
            actor.thread.start()
        try:
            while ready := self._settled():
                waiting = any(actor.step is None and not actor.done for actor in self.actors.values())
                chosen = chooser.choose(ready, waiting=waiting)
                self.taken.append(chosen)
                self._release(self.actors[chosen.actor])
        except BaseException:
            self._abandon()
            raise
        for actor in self.actors.values():
            actor.thread.join()

    def park(self, actor: Actor, does: str, footprint: Footprint, session: int | None) -> None:
        """Called by the actor's own thread: wait until it is let go."""
        with self._moved:
            actor.session = session if session is not None else actor.session
            actor.step = Step(actor=actor.name, does=does, footprint=footprint)
            self._moved.notify_all()
            self._moved.wait_for(lambda: self._let_go is actor or self._abandoned)
            if self._abandoned:
                raise Abandoned
            self._let_go = None
            actor.step = None
            self._moved.notify_all()

    def _act(self, actor: Actor) -> None:
        _current.conductor, _current.actor = self, actor
        try:
            self.park(actor, "begins", Footprint(), None)
            actor.result = actor.work()
        except BaseException as failed:  # noqa: BLE001 whatever it is, the test that asked for it is told
            actor.error = failed
        finally:
            with self._moved:
                actor.done = True
                self._moved.notify_all()

    def _settled(self) -> list[Step]:
        """The steps to choose from, once every actor stands, waits for another one, or is done; none: all are done."""
        until = time.monotonic() + STUCK_AFTER
        while time.monotonic() < until:
            with self._moved:
                self._moved.wait_for(lambda: not self._moving(), timeout=LOOK_AGAIN)
                moving = self._moving()
            waits = self._waits(moving) if moving else frozenset()
            with self._moved:
                if self._moving() != moving or any(actor.name not in waits for actor in moving):
                    continue
                ready = [actor.step for actor in self.actors.values() if actor.step is not None and not actor.done]
            if ready or not moving:
                return ready
        raise Stuck("nobody moves: " + ", ".join(actor.name for actor in self._moving()))

    def _moving(self) -> list[Actor]:
        return [actor for actor in self.actors.values() if actor.step is None and not actor.done]

    def _release(self, actor: Actor) -> None:
        with self._moved:
            self._let_go = actor
            self._moved.notify_all()
            self._moved.wait_for(lambda: self._let_go is not actor)

    def _abandon(self) -> None:
        with self._moved:
            self._abandoned = True
            self._moved.notify_all()
        for actor in self.actors.values():
            actor.thread.join(timeout=STUCK_AFTER)
