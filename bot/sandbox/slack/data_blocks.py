"""The blocks that draw figures, as rules: a sortable table and charts. It must not judge a message as a whole."""

from typing import Any

from bot.sandbox.slack.rules import Check, Walk, integer, items, number, one_of, record, string, tagged, typed

MOST_CHARTS = 2
MOST_ROWS, MOST_COLUMNS = 101, 20
MOST_TABLE = 20_000
SERIES, POINTS, LABEL = 6, 20, 20

_cell = tagged(
    {
        "raw_text": typed("raw_text", required={"text": string(most=MOST_TABLE, counted=True)}),
        "raw_number": typed("raw_number", required={"value": number, "text": string(most=100, counted=True)}),
    }
)
TABLE_REQUIRED = {
    "rows": items(items(_cell, most=MOST_COLUMNS), most=MOST_ROWS, least=2),
    "caption": string(most=MOST_TABLE),
}
TABLE_OPTIONAL = {
    "page_size": integer(least=1, most=100),
    "row_header_column_index": integer(least=0, most=MOST_COLUMNS - 1),
}
_label = string(most=LABEL)
_series = record(
    required={"name": _label, "data": items(record(required={"label": _label, "value": number}), most=POINTS)}
)
_axes = record(
    required={"categories": items(_label, most=POINTS)},
    optional={"x_label": string(most=50), "y_label": string(most=50)},
)
_segment = record(required={"label": _label, "value": number})


def _axis_chart(kind: str) -> Check:
    return record(required={"type": one_of(kind), "series": items(_series, most=SERIES), "axis_config": _axes})


_pie = record(required={"type": one_of("pie"), "segments": items(_segment, most=SERIES)})
_chart = tagged({"pie": _pie, **{kind: _axis_chart(kind) for kind in ("bar", "line", "area")}})
CHART_REQUIRED = {"title": string(most=50), "chart": _chart}


def one_length(value: Any, walk: Walk, at: str) -> None:
    """Every row has as many cells as the head."""
    rows = value.get("rows")
    if isinstance(rows, list) and len({len(row) for row in rows if isinstance(row, list)}) > 1:
        walk.refuse(f"{at}/rows", "bad_value", "all rows must have the same number of cells")


def every_category_once(value: Any, walk: Walk, at: str) -> None:
    """Every series has one point for every category, in its order; categories differ."""
    chart = value.get("chart")
    if not isinstance(chart, dict) or not isinstance(chart.get("axis_config"), dict):
        return
    categories = chart["axis_config"].get("categories")
    if not isinstance(categories, list) or len(set(map(str, categories))) != len(categories):
        walk.refuse(f"{at}/chart/axis_config/categories", "bad_value", "must be unique")
        return
    for index, each in enumerate(chart.get("series") or []):
        points = each.get("data") if isinstance(each, dict) else None
        labels = [point.get("label") for point in points or [] if isinstance(point, dict)]
        if labels != categories:
            walk.refuse(f"{at}/chart/series/{index}/data", "bad_value", "must have a point for every category")
