"""What the picture of an answer shows, as bare data that goes to another process. It must not draw: `drawing` does."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from bot.incidents.health import HealthReport
from bot.render.health.bars import bar_length, bars_of, pairs_of
from bot.render.health.saying import period_words, scope_words
from bot.render.text import one_line


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureData:
    """Bars by day, and pairs of bars before and after; every text is one short line."""

    title: str
    below: str
    labels: tuple[str, ...]
    opened: tuple[int, ...]
    settled: tuple[int, ...]
    pairs: tuple[tuple[str, float, float, str, str, str], ...] = ()

    def as_json(self) -> Mapping[str, Any]:
        return asdict(self)


def picture_of(report: HealthReport) -> PictureData:
    """The picture of this report."""
    bars, health = bars_of(report.days), report.health
    return PictureData(
        title=one_line(f"{scope_words(health.scope)}, {period_words(health.period)}", 90),
        below=f"failures that opened and settled; one bar: {bar_length(report.days, bars)}",
        labels=tuple(bar.label for bar in bars),
        opened=tuple(bar.opened for bar in bars),
        settled=tuple(bar.settled for bar in bars),
        pairs=tuple(
            (one_line(pair.title, 40), pair.before, pair.after, pair.before_words, pair.after_words, pair.verdict)
            for pair in pairs_of(report.comparisons)
        ),
    )
