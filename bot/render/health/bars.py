"""Which bars are drawn, whatever draws them: days folded to at most so many, measures before and after. It must not draw."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from bot.incidents.health import Comparison, Day
from bot.render.health.saying import day_words, title_of, value_words
from bot.render.text import shortened

MOST_BARS = 20
MOST_PAIRS = 8
MOST_LABEL = 20
Series = dict[str, list[float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """Failures that opened and settled in `columns` days (or weeks) from `begins` on."""

    begins: date
    label: str
    opened: int
    settled: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A measure before and after, as shares of the larger of the two, with what each of them says."""

    title: str
    before: float
    after: float
    before_words: str
    after_words: str
    index: float | None
    verdict: str


def bars_of(days: Sequence[Day], *, most: int = MOST_BARS) -> tuple[Bar, ...]:
    """The days in order, neighbours put together where there are more than `most`."""
    together = max(1, -(-len(days) // most))
    chunks = [days[start : start + together] for start in range(0, len(days), together)]
    years = {day.begins.year for day in days}
    return tuple(
        Bar(
            begins=chunk[0].begins,
            label=day_words(chunk[0].begins, year=len(years) > 1),
            opened=sum(day.opened for day in chunk),
            settled=sum(day.settled for day in chunk),
        )
        for chunk in chunks
    )


def bar_length(days: Sequence[Day], bars: Sequence[Bar]) -> str:
    """What one bar stands for: `a day`, `2 days`, `a week`."""
    if len(days) < 2:
        return "a day"
    step = (days[1].begins - days[0].begins).days * -(-len(days) // max(1, len(bars)))
    return (
        "a day" if step == 1 else "a week" if step == 7 else f"{step // 7} weeks" if step % 7 == 0 else f"{step} days"
    )


def pairs_of(comparisons: Sequence[Comparison]) -> tuple[Pair, ...]:
    """The measures that have something to draw on both sides."""
    return tuple(
        _pair(one)
        for one in comparisons
        if one.before is not None and one.after is not None and one.before + one.after > 0
    )[:MOST_PAIRS]


def _pair(one: Comparison) -> Pair:
    before, after = one.before or 0.0, one.after or 0.0
    most = max(before, after)
    return Pair(
        title=title_of(one.measure),
        before=before / most,
        after=after / most,
        before_words=f"{value_words(one, one.before, one.n_before)} (n={one.n_before})",
        after_words=f"{value_words(one, one.after, one.n_after)} (n={one.n_after})",
        index=round(100 * after / before, 1) if before > 0 else None,
        verdict=str(one.verdict),
    )


def chart_blocks(
    days: Sequence[Day], comparisons: Sequence[Comparison], *, opened: str, index: str
) -> list[dict[str, object]]:
    """At most two charts that Slack draws itself; `opened` and `index` are their titles."""
    bars, blocks = bars_of(days), list[dict[str, object]]()
    if any(bar.opened or bar.settled for bar in bars):
        series: Series = {"Failed": [bar.opened for bar in bars], "Settled": [bar.settled for bar in bars]}
        blocks.append(_chart(opened, [bar.label for bar in bars], series, x=f"One bar: {bar_length(days, bars)}"))
    pairs = [pair for pair in pairs_of(comparisons) if pair.index is not None]
    if pairs:
        labels = _apart([shortened(pair.title, MOST_LABEL) for pair in pairs])
        series = {"Before": [100.0 for _ in pairs], "Now": [pair.index or 0.0 for pair in pairs]}
        blocks.append(_chart(index, labels, series, x="Before is 100"))
    return blocks


def _chart(title: str, labels: Sequence[str], series: Series, *, x: str) -> dict[str, object]:
    points = {
        name: [{"label": label, "value": value} for label, value in zip(labels, values, strict=True)]
        for name, values in series.items()
    }
    return {
        "type": "data_visualization",
        "title": shortened(title, 50),
        "chart": {
            "type": "bar",
            "series": [{"name": name, "data": data} for name, data in points.items()],
            "axis_config": {"categories": list(labels), "x_label": shortened(x, 50)},
        },
    }


def _apart(labels: Sequence[str]) -> list[str]:
    """Labels of which no two are the same."""
    found: list[str] = []
    for label in labels:
        found.append(label if label not in found else f"{label[: MOST_LABEL - 3]} {len(found)}")
    return found
