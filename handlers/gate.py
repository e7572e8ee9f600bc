"""Bounds what is in flight at once: requests, and the bytes of their bodies. It must be used on the event loop only."""

from collections.abc import Iterator
from contextlib import contextmanager

from handlers.wire import overloaded


class Gate:
    """Turns away what is too much at once, so that the rest is served in time."""

    def __init__(self, *, requests: int, body_bytes: int) -> None:
        self._free_requests = requests
        self._free_bytes = body_bytes
        self.in_flight = 0

    @contextmanager
    def enter(self) -> Iterator["Hold"]:
        """The request's place; raises `Refused` with 503 when there is none."""
        if self.in_flight >= self._free_requests:
            raise overloaded()
        self.in_flight += 1
        hold = Hold(self)
        try:
            yield hold
        finally:
            self.in_flight -= 1
            self._free_bytes += hold.held

    def take(self, count: int) -> None:
        if count > self._free_bytes:
            raise overloaded()
        self._free_bytes -= count


class Hold:
    """One request's share of the bytes in flight."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self.held = 0

    def add(self, count: int) -> None:
        """Hold `count` more bytes; raises `Refused` with 503 when all in flight would be too much."""
        self._gate.take(count)
        self.held += count
