"""The table and the rows of job health as cells: for Slack's own table, for plain columns, for CSV. It must not sort or count.

A cell of the CSV that a spreadsheet would read as a formula gets an apostrophe first.
"""

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from bot.incidents.health import HealthRow
from bot.render.health.saying import middle_words
from bot.render.text import one_line, shortened_middle

MOST_ROWS = 100
MOST_TABLE = 5_000
MOST_PLAIN_ROWS = 15
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column: what it is called, what a row says in it, and by what it sorts (None: there is nothing)."""

    key: str
    title: str
    says: Callable[[HealthRow], str]
    value: Callable[[HealthRow], float | None]


def _seconds(duration: timedelta | None) -> float | None:
    return None if duration is None else duration.total_seconds()


def _share(row: HealthRow) -> float | None:
    first = row.first_reruns
    return first.yes / first.n if first.n else None


def _short_share(row: HealthRow) -> str:
    first = row.first_reruns
    return f"{first.yes} of {first.n}" if first.n else "–"


COLUMNS: tuple[Column, ...] = (
    Column(key="failures", title="Failures", says=lambda r: str(r.occurrences), value=lambda r: r.occurrences),
    Column(key="open", title="Open", says=lambda r: str(r.unresolved), value=lambda r: r.unresolved),
    Column(
        key="answered",
        title="Answered p50",
        says=lambda r: middle_words(r.acknowledged),
        value=lambda r: _seconds(r.acknowledged.p50),
    ),
    Column(key="n", title="n", says=lambda r: str(r.acknowledged.n), value=lambda r: r.acknowledged.n),
    Column(
        key="recovered",
        title="Recovered p50",
        says=lambda r: middle_words(r.recovery),
        value=lambda r: _seconds(r.recovery.p50),
    ),
    Column(key="reruns", title="First reruns", says=_short_share, value=_share),
    Column(key="repeats", title="Repeats", says=lambda r: str(r.repeats), value=lambda r: r.repeats),
    Column(key="late", title="Late", says=lambda r: str(r.late), value=lambda r: r.late),
)


def row_name(row: HealthRow, rows_of: str, most: int = 60) -> str:
    if not row.name:
        return "no team" if rows_of == "team" else "no job"
    return shortened_middle(one_line(row.name, 1000), most)


def head(rows_of: str) -> tuple[str, ...]:
    return ("Job" if rows_of == "job" else "Team", *(column.title for column in COLUMNS))


def data_table(rows: Sequence[HealthRow], rows_of: str, *, caption: str, room: int) -> dict[str, Any] | None:
    """The table that Slack sorts and pages; None without rows. As many rows as fit in `room` characters."""
    table = [[{"type": "raw_text", "text": title} for title in head(rows_of)]]
    room -= sum(len(title) for title in head(rows_of))
    for row in rows[: MOST_ROWS - 1]:
        cells = [{"type": "raw_text", "text": row_name(row, rows_of)}, *(_cell(column, row) for column in COLUMNS)]
        room -= sum(len(str(cell["text"])) for cell in cells)
        if room < 0:
            break
        table.append(cells)
    if len(table) < 2:
        return None
    return {"type": "data_table", "caption": caption, "rows": table, "page_size": 10, "row_header_column_index": 0}


def _cell(column: Column, row: HealthRow) -> dict[str, Any]:
    value, says = column.value(row), column.says(row)
    return {"type": "raw_text", "text": says} if value is None else {"type": "raw_number", "value": value, "text": says}


def plain_table(rows: Sequence[HealthRow], rows_of: str, *, most: int = MOST_PLAIN_ROWS, name_most: int = 34) -> str:
    """Aligned columns of bare text, for where nothing draws a table: the first of the rows."""
    short = ("Fail", "Open", "Answered", "n", "Recovered", "1st rerun", "Again", "Late")
    lines: list[tuple[str, ...]] = [(head(rows_of)[0], *short)]
    lines += [(row_name(row, rows_of, name_most), *(column.says(row) for column in COLUMNS)) for row in rows[:most]]
    widths = [max(len(line[index]) for line in lines) for index in range(len(lines[0]))]
    return "\n".join(_aligned(line, widths) for line in lines)


def _aligned(line: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = line
    cells = (cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
    return "  ".join((first.ljust(widths[0]), *cells)).rstrip()


def csv_text(rows: Iterable[Any]) -> str:
    """Rows (dataclasses of one kind, one an occurrence) as CSV with a head; empty without rows but for a line that says so."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    names: tuple[str, ...] = ()
    for row in rows:
        if not names:
            names = tuple(field.name for field in fields(row))
            writer.writerow(names)
        writer.writerow([_written(getattr(row, name)) for name in names])
    return out.getvalue() or "no occurrence\r\n"


def _written(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case datetime():
            return value.isoformat().replace("+00:00", "Z")
        case timedelta():
            return f"{value.total_seconds():.0f}"
        case int() | float():
            return str(value)
        case StrEnum():
            return value.value
        case _:
            text = str(value).replace("\0", "")
            return f"'{text}" if text.startswith(_FORMULA) else text
