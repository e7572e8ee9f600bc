"""What a number usually was in the last good runs, by median and median deviation; one odd run moves neither.

It must not know what the number counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, TypeGuard

LEAST_RUNS = 5
SPREADS = 3.5
_TO_SIGMA = 1.4826


@dataclass(frozen=True, slots=True, kw_only=True)
class Usual:
    """The middle of `n` values and how far half of them lie from it."""

    middle: float
    deviation: float
    n: int

    def unlike(self, value: float, *, step: float) -> bool:
        """Whether `value` lies farther off than good runs do; never for less than `step` of the middle."""
        least = max(SPREADS * _TO_SIGMA * self.deviation, step * abs(self.middle))
        return abs(value - self.middle) > least


def usual(values: Sequence[Any]) -> Usual | None:
    """Return what these values say is usual; None when they are too few to say it."""
    known = [float(value) for value in values if is_number(value)]
    if len(known) < LEAST_RUNS:
        return None
    middle = median(known)
    return Usual(middle=middle, deviation=median(abs(value - middle) for value in known), n=len(known))


def is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
