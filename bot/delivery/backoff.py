"""When to try a delivery again. Pure arithmetic."""

from datetime import timedelta

LOOK_AFTER = timedelta(seconds=10)
FIRST = timedelta(seconds=1)
LONGEST = timedelta(seconds=60)
GIVE_UP_AFTER = timedelta(hours=24)


def wait(attempt: int, retry_after: timedelta | None = None) -> timedelta:
    """How long to wait after failed attempt number `attempt` (from 1): doubling, or what the other side asked for."""
    doubled = min(FIRST * 2 ** min(max(attempt - 1, 0), 10), LONGEST)
    return max(retry_after, FIRST) if retry_after is not None else doubled
