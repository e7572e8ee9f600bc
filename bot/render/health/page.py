"""The answer about job health as a web page, its charts drawn as SVG without a script. It must not look anything up."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from bot.incidents.health import Day, HealthRow
from bot.render.health import saying
from bot.render.health.bars import Pair, bar_length, bars_of, pairs_of
from bot.render.health.blocks import compared_lines, figures_of, notes_of, nothing_compared, sentence_of
from bot.render.health.cells import COLUMNS, row_name
from bot.render.health.model import BaselineShown, HealthAnswer, HealthHelp
from bot.render.pages.html import rendered
from bot.render.pages.model import Frame

HIGH = 140
STEP, BAR = 30, 11
MOST_DRAWN = 62
PAIR, LONGEST = 46, 260


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthPage:
    """What the page shows: an answer, or help where the words were not understood; `of`, `period`, `versus` as asked.

    `sort`: the column by which the table is sorted (empty: as it came), `down`: the largest first.
    """

    answer: HealthAnswer | None = None
    help: HealthHelp | None = None
    baseline: BaselineShown | None = None
    of: str = ""
    period: str = ""
    versus: str = ""
    sort: str = ""
    down: bool = True
    teams: tuple[str, ...] = ()

    @property
    def query(self) -> str:
        """The question as the query of an address."""
        pairs = (("of", self.of), ("period", self.period), ("vs", self.versus))
        return urlencode([(name, value) for name, value in pairs if value], errors="replace")


def health_html(page: HealthPage, frame: Frame) -> str:
    """The page."""
    values: dict[str, Any] = {"page": page, "frame": frame, "zone": page.answer.zone if page.answer else "UTC"}
    values["key_query"] = "&".join(filter(None, (page.query, frame.key.removeprefix("?"))))
    if page.answer is not None:
        values |= _of_answer(page, page.answer)
    if page.baseline is not None and page.baseline.baseline is not None:
        values["base"] = saying.period_words(page.baseline.baseline.period)
        values["review"] = saying.period_words(page.baseline.baseline.review)
    return rendered("health", now=frame.now, **values)


def sort_rows(rows: Sequence[HealthRow], column: str, *, down: bool) -> tuple[HealthRow, ...]:
    """The rows by this column, those without a value last; as they came for an unknown column."""
    if column == "name":
        return tuple(sorted(rows, key=lambda row: row.name.lower(), reverse=down))
    value = next((each.value for each in COLUMNS if each.key == column), None)
    if value is None:
        return tuple(rows)
    known = [(number, row) for row in rows if (number := value(row)) is not None]
    ordered = [row for _, row in sorted(known, key=lambda pair: pair[0], reverse=down)]
    return (*ordered, *(row for row in rows if value(row) is None))


def _of_answer(page: HealthPage, answer: HealthAnswer) -> dict[str, Any]:
    report = answer.report
    return {
        "scope": saying.scope_words(report.health.scope),
        "period": saying.period_words(report.health.period),
        "sentence": sentence_of(answer),
        "notes": notes_of(answer),
        "figures": figures_of(report.health, zone=answer.zone),
        "compared": compared_lines(report.comparisons),
        "empty": nothing_compared(report.comparisons),
        "drawing": _days(report.days),
        "pairs": [_pair(row, pair) for row, pair in enumerate(pairs_of(report.comparisons))],
        "pairs_high": PAIR * len(pairs_of(report.comparisons)),
        "columns": COLUMNS,
        "rows": sort_rows(report.rows, page.sort, down=page.down),
        "name_of": lambda row: row_name(row, report.rows_of, 80),
        "row_query": _row_query(report.rows_of, page),
    }


def _row_query(rows_of: str, page: HealthPage) -> Any:
    def query(row: HealthRow) -> str:
        of = f'{rows_of}:"{row.name}"'
        return HealthPage(of=of, period=page.period, versus=page.versus).query if row.name else ""

    return query


def _days(days: Sequence[Day]) -> dict[str, Any] | None:
    """Where the bars stand; None where there is nothing to draw."""
    bars = bars_of(days, most=MOST_DRAWN)
    most = max((max(bar.opened, bar.settled) for bar in bars), default=0)
    if not most:
        return None
    every = max(1, -(-46 // STEP), -(-len(bars) // 16))
    drawn = [
        {
            "bar": bar,
            "x": 30 + index * STEP,
            "opened": _tall(bar.opened, most),
            "settled": _tall(bar.settled, most),
            "label": bar.label if index % every == 0 else "",
        }
        for index, bar in enumerate(bars)
    ]
    return {
        "bars": drawn,
        "most": most,
        "width": 40 + len(bars) * STEP,
        "high": HIGH,
        "wide": BAR,
        "each": bar_length(days, bars),
    }


def _tall(count: int, most: int) -> float:
    return max(2.0, round(HIGH * count / most, 1)) if count else 0.0


def _pair(row: int, pair: Pair) -> dict[str, Any]:
    return {
        "pair": pair,
        "y": row * PAIR,
        "before": max(1.0, round(LONGEST * pair.before, 1)),
        "after": max(1.0, round(LONGEST * pair.after, 1)),
    }
