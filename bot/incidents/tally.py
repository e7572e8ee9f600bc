"""How often something happened lately, counted in steps of time, so that no count reads a row per happening. Pure values.

A step counts whole while any part of it lies in the window: what is counted is never less than what happened, and at most
one step (a twentieth of the window) too old.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

STEPS = 20
FIRST = datetime(2000, 1, 1, tzinfo=UTC)
SHORTEST = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """So many in the time that began then."""

    begins_at: datetime
    count: int


Tally = tuple[Step, ...]


def lately(tally: Tally, *, window: timedelta, now: datetime) -> int:
    """How many within the window that ends now."""
    return sum(step.count for step in _living(tally, window, now))


def counted(tally: Tally, *, window: timedelta, now: datetime) -> Tally:
    """The tally with one more, now; what the window has left behind is dropped."""
    begins_at = _step_of(now, window)
    living = _living(tally, window, now)
    same = next((step.count for step in living if step.begins_at == begins_at), 0)
    others = tuple(step for step in living if step.begins_at != begins_at)
    return (*others, Step(begins_at=begins_at, count=same + 1))


def _living(tally: Tally, window: timedelta, now: datetime) -> Tally:
    return tuple(step for step in tally if step.begins_at + _length(window) > now - window)


def _step_of(at: datetime, window: timedelta) -> datetime:
    length = _length(window)
    return FIRST + (at - FIRST) // length * length


def _length(window: timedelta) -> timedelta:
    return max(window / STEPS, SHORTEST)
