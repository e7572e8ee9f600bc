"""The run history of a job as a drawing: one bar a run, as high as it took, marked by how it ended. Geometry only."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from bot.render.moments import span
from bot.render.pages.model import RunRow

WIDTH, STEP = 10, 14
HEIGHT, LOWEST = 120, 3
TOP, BOTTOM = 14, 18
MARKS = {"failed": "×", "retrying": "×", "cancelled": "–", "skipped": "–", "started": "…"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One run; `mark` says how it ended without a colour."""

    run: RunRow
    x: int
    y: int
    height: int
    mark: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """The bars from the oldest run to the newest, and the scale: `longest` is as high as the drawing."""

    bars: tuple[Bar, ...]
    width: int
    height: int
    floor: int
    longest: str
    summary: str


def drawn(runs: Sequence[RunRow]) -> Drawing | None:
    """The drawing of these runs, the newest of which comes first; None without any."""
    if not runs:
        return None
    longest = max((run.took for run in runs if run.took is not None), default=timedelta())
    floor = TOP + HEIGHT
    bars = [_bar(run, index * STEP, longest, floor) for index, run in enumerate(reversed(runs))]
    return Drawing(
        bars=tuple(bars),
        width=len(bars) * STEP,
        height=floor + BOTTOM,
        floor=floor,
        longest=span(longest) if longest else "",
        summary=_summary(runs),
    )


def _bar(run: RunRow, x: int, longest: timedelta, floor: int) -> Bar:
    share = run.took / longest if run.took is not None and longest else 0.0
    height = max(LOWEST, round(HEIGHT * share))
    return Bar(run=run, x=x, y=floor - height, height=height, mark=MARKS.get(run.state, ""))


def _summary(runs: Sequence[RunRow]) -> str:
    good = sum(run.state == "succeeded" for run in runs)
    bad = sum(run.state == "failed" for run in runs)
    return f"The last {len(runs)} runs: {good} went well, {bad} failed, {len(runs) - good - bad} ended otherwise or run"
