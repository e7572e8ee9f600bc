"""One JSON line a figure, the median of several runs. It measures nothing itself."""

import json
import statistics
import sys
from collections.abc import Callable, Iterable
from typing import Any

RUNS = 5


def median_of(measure: Callable[[], float], *, runs: int = RUNS) -> float:
    """The median of `runs` measurements."""
    return statistics.median(measure() for _ in range(runs))


def quantile(values: Iterable[float], share: float) -> float:
    """The value below which `share` of the values lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def emit(figure: str, value: float, unit: str, **more: Any) -> None:
    """Print the figure on standard output."""
    print(json.dumps({"figure": figure, "value": round(value, 3), "unit": unit, **more}), flush=True)


def say(text: str) -> None:
    """Tell about the progress on standard error."""
    print(text, file=sys.stderr, flush=True)
