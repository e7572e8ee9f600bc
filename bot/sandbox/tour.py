"""Lets a few things go wrong in the demo's first minute, as a bad night would. It presses the same buttons as a viewer."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.sandbox.world import SampleAction

FIRST_MINUTE = (
    (12.0, "lose-column"),
    (14.0, "hold-ledger"),
    (17.0, "drop-payments"),
    (26.0, "drop-refunds"),
    (34.0, "break-rates"),
    (38.0, "miscount-stock"),
)


@dataclass(slots=True, kw_only=True)
class Tour:
    """The stops of the first minute, from a thread of its own until it is stopped."""

    actions: Mapping[str, SampleAction]
    stops: tuple[tuple[float, str], ...] = FIRST_MINUTE
    _ended: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        self._thread = threading.Thread(target=self._go, name="sandbox-tour", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def _go(self) -> None:
        gone = 0.0
        for at, name in self.stops:
            if self._ended.wait(at - gone):
                return
            gone = at
            self.actions[name].act()
