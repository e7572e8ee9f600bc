"""What waits downstream of an occurrence: jobs that need the owed run, until when, and how late it made them. Values only.

It must not know where the graph comes from.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

MOST_WAITS = 200
FEWEST_LAGS = 3


class Hung(StrEnum):
    """What a downstream job did because of the owed run, so that it has no occurrence of its own."""

    LATE = "late"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """A run of a downstream job that needs an owed one: the first due at or after it (`nominal_time` None: it has no
    schedule and runs when its upstream is there).

    `since`: from then on it waits. `depth`: how many steps down the graph. `later`: any later run of it serves as well.
    `alone`: it has an occurrence of its own since. `cleared_at`: nothing that it needs is owed any more. `without`: it ran
    before that. `delay` is how much later than usual it was done; `lag` what is usual, from so many runs (None: too few,
    so that `delay` counts from `since`).
    """

    job: str
    nominal_time: datetime | None
    since: datetime
    depth: int = 1
    later: bool = False
    hung: Hung | None = None
    alone: bool = False
    cleared_at: datetime | None = None
    ended_at: datetime | None = None
    without: bool = False
    delay: timedelta | None = None
    lag: timedelta | None = None
    learned_from: int = 0

    @property
    def open(self) -> bool:
        return self.ended_at is None

    @property
    def loose(self) -> bool:
        """Another run than the one of its own nominal time may end it."""
        return self.later or self.nominal_time is None


def joined(waits: tuple[Wait, ...], more: Iterable[Wait]) -> tuple[tuple[Wait, ...], int]:
    """The waits with those that are new, the first of them, and how many could not be kept."""
    known = {(one.job, one.nominal_time) for one in waits}
    new = [one for one in more if (one.job, one.nominal_time) not in known]
    room = max(0, MOST_WAITS - len(waits))
    return (*waits, *new[:room]), max(0, len(new) - room)


def cleared(
    waits: tuple[Wait, ...], owed: Collection[datetime | None], *, over: bool, at: datetime
) -> tuple[Wait, ...]:
    """The waits as they stand with what is owed since `at`; `over`: whatever is owed, nobody brings it any more."""
    return tuple(one if not one.open else _cleared(one, over or not _needs(one, owed), at) for one in waits)


def ended(wait: Wait, at: datetime, *, lag: timedelta | None, learned_from: int) -> Wait:
    """The wait after its own good run, which ended `at`."""
    usual = lag if learned_from >= FEWEST_LAGS else None
    due = wait.since if usual is None or wait.nominal_time is None else wait.nominal_time + usual
    without = wait.cleared_at is None or at < wait.cleared_at
    delay = max(at - due, timedelta())
    return replace(wait, ended_at=at, without=without, delay=delay, lag=usual, learned_from=learned_from)


def total(waits: Iterable[Wait]) -> timedelta:
    """The delay of all of them together."""
    return sum((one.delay for one in waits if one.delay is not None), timedelta())


def median(lags: Collection[timedelta]) -> timedelta | None:
    return sorted(lags)[len(lags) // 2] if lags else None


def _needs(wait: Wait, owed: Collection[datetime | None]) -> bool:
    if wait.nominal_time is None:
        return bool(owed)
    return any(time is None or time <= wait.nominal_time for time in owed)


def _cleared(wait: Wait, clear: bool, at: datetime) -> Wait:
    if clear == (wait.cleared_at is not None):
        return wait
    return replace(wait, cleared_at=at if clear else None)
