"""A clock that stands still until it is moved, and the instants that tests write as words. It must not read another."""

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
MONDAY_MIDNIGHT = datetime(2026, 11, 30, tzinfo=UTC)
WRITTEN = re.compile(r"(?:(?P<day>[A-Za-z]{3}) )?(?P<hour>\d{1,2}):(?P<minute>\d{2})")


@dataclass(slots=True)
class Clock:
    """Handed to everything that asks for the time; Monday 30 November 2026, 00:00 UTC, to begin with."""

    now: datetime = MONDAY_MIDNIGHT

    def __call__(self) -> datetime:
        return self.now

    def tick(self) -> None:
        """A moment later: nothing that people do happens at the very same instant."""
        self.now += timedelta(milliseconds=1)


class Killed(BaseException):
    """The process was killed: nothing in it may catch this."""


@dataclass(slots=True)
class ProcessClock:
    """The clock as one life of the process sees it; that life ends at the first look after `dies_when` came true.

    Only what is stepped dies so, not a request that is being answered: its thread is the server's.
    """

    clock: Clock
    dies_when: Callable[[], bool] | None = None

    def __call__(self) -> datetime:
        ours = threading.current_thread() is threading.main_thread()
        if self.dies_when is not None and ours and self.dies_when():
            raise Killed
        return self.clock()


def next_at(written: str, after: datetime) -> datetime:
    """The first instant at or after `after` that is so written: "03:15", or "Tue 03:15" (UTC)."""
    hour, minute, day = _parts(written)
    found = after.replace(hour=hour, minute=minute, second=0, microsecond=0)
    while found < after or (day is not None and found.weekday() != day):
        found += timedelta(days=1)
    return found


def last_at(written: str, before: datetime) -> datetime:
    """The last instant at or before `before` that is so written."""
    hour, minute, day = _parts(written)
    found = before.replace(hour=hour, minute=minute, second=0, microsecond=0)
    while found > before or (day is not None and found.weekday() != day):
        found -= timedelta(days=1)
    return found


def _parts(written: str) -> tuple[int, int, int | None]:
    found = WRITTEN.fullmatch(written)
    if found is None:
        raise ValueError(f"not an instant: {written}")
    day = DAYS.index(found["day"].lower()) if found["day"] else None
    return int(found["hour"]), int(found["minute"]), day
