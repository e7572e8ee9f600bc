"""What somebody asks of job health, already understood. Values only."""

from dataclasses import dataclass
from enum import StrEnum

from bot.incidents.health import Period, Scope


class Versus(StrEnum):
    """What the period is compared with: the recorded baseline, or the period of the same length just before it."""

    BASELINE = "baseline"
    PREVIOUS = "previous"


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A scope, a period, and what to compare it with (None: nothing)."""

    scope: Scope
    period: Period
    versus: Versus | None = None
