"""Compares this machine's clock with the database's, by which the processes of several machines meet. It corrects neither."""

from collections.abc import Callable
from datetime import datetime, timedelta

from bot.ports import Clock

APART_MOST = timedelta(seconds=5)


def clock_trouble(*, clock: Clock, database_now: Callable[[], datetime]) -> str | None:
    """What to say when the clocks are too far apart; the time that asking took counts in this machine's favour."""
    asked_at = clock()
    theirs = database_now()
    answered_at = clock()
    ahead = asked_at - theirs
    behind = theirs - answered_at
    if max(ahead, behind) <= APART_MOST:
        return None
    seconds = max(ahead, behind).total_seconds()
    return f"this machine's clock is {seconds:.1f} s {'ahead of' if ahead > behind else 'behind'} the database's: set it by NTP"
