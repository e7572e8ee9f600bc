"""What measures need of an occurrence beside what decides about it. Values only; nothing is decided by them."""

from dataclasses import dataclass
from datetime import datetime

from bot.incidents.keys import Cost


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """`team` answers it (empty: none does). `failed_at`: the end of its first failure, or the deadline first missed.

    `good_at`: when the good run that settled it ended. `estimate`: what one rerun would have cost when it opened.
    `late_runs`: how many of its runs missed a deadline.
    """

    team: str = ""
    failed_at: datetime | None = None
    good_at: datetime | None = None
    estimate: Cost | None = None
    late_runs: int = 0
