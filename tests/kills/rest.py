"""Waits until everything has come to rest after a life began, and says how long that took. It kills nothing."""

import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tests.kills.load import Load
from tests.kills.picture import Watch
from tests.kills.town import Town

BOUND = 60.0
SOON = timedelta(seconds=4)
PATIENCE = 150.0
LOOK_EVERY = 0.05


class NotAtRest(Exception):
    """It did not come to rest in time; the text says what is still to be done."""


@dataclass(slots=True)
class Rest:
    """`backlog_took`: after each beginning, the seconds until all that was due then was sent, looked up or handed over."""

    town: Town
    load: Load
    watch: Watch
    backlog_took: list[float]
    _pause: threading.Event

    @classmethod
    def of(cls, town: Town, load: Load, watch: Watch) -> "Rest":
        return cls(town, load, watch, [], threading.Event())

    def after_beginning(self, begun_at: datetime) -> None:
        """Call it when the processes are ready that were begun at that instant, with no new stories coming."""
        while self.watch.backlog(before=begun_at):
            self._wait_since(begun_at, PATIENCE, "what was due at the beginning is not done")
        self.backlog_took.append(_since(begun_at))
        self.load.ended(within=PATIENCE)
        last = datetime.now(UTC)
        while self._still_busy():
            self._wait_since(last, PATIENCE, "it does not come to rest")

    def _still_busy(self) -> bool:
        watch = self.watch
        return bool(
            watch.unsettled()
            or watch.rerunning()
            or watch.timers_before(datetime.now(UTC) + SOON)
            or not self.town.scheduler.is_idle()
            or watch.unsettled()
        )

    def _wait_since(self, instant: datetime, longest: float, what: str) -> None:
        self._pause.wait(LOOK_EVERY)
        if _since(instant) > longest:
            left = self.watch.picture()
            rows = [
                (row.key, row.kind, row.state, row.code, row.due_at) for row in left.outbox if row.settled_at is None
            ]
            raise NotAtRest(f"{what}: {rows}; {[view.key for view in left.views if view.root_ts is None]}")


def _since(instant: datetime) -> float:
    return (datetime.now(UTC) - instant).total_seconds()


def until(look: object, *, within: float, what: str) -> None:
    """Ask again and again, without a pause, since the moment matters."""
    assert callable(look)
    ends = time.monotonic() + within
    while not look():
        if time.monotonic() > ends:
            raise NotAtRest(what)
