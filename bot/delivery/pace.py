"""How fast a chat workspace may be written to. Values only; the rows that enforce it are storage's."""

from dataclasses import dataclass
from datetime import timedelta

PACED = "pace"
"""The code of a row that waits for its slot in its lane."""

LIMITED = frozenset({"ratelimited", "rate_limited"})
"""How the workspace says that it was written to too fast."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """The least distance between two calls: posts in one channel, updates in the workspace (Slack: 1/s, 50/min)."""

    post: timedelta = timedelta(seconds=1)
    update: timedelta = timedelta(milliseconds=1200)
