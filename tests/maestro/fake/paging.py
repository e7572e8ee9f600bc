"""Pages as Maestro's pagination makes them: `first` or `last`, a cursor that is left out, the newest first."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from tests.maestro.fake.faults import Asked
from tests.maestro.fake.records import Json, No

T = TypeVar("T")


def page(asked: Asked, rows: Sequence[tuple[int, T]], show: Callable[[T], Json]) -> Json:
    """`rows` by their number, which is also the cursor."""
    first, last = number(asked, "first"), number(asked, "last")
    if first is not None and last is not None:
        raise No(400, "Either first or last need to be provided, but not both")
    size = first if first is not None else last
    if size is None:
        raise No(400, "Either first or last need to be provided, both cannot be null")
    if not 1 <= size <= 200:
        raise No(400, f"{'first' if first is not None else 'last'} must be between 1 and 200")
    by_number = dict(rows)
    cursor = number(asked, "cursor")
    if not by_number:
        none: Json = {"has_previous_page": False, "has_next_page": False}
        return {"page_info": none, "total_count": 0, "elements": []}
    earliest, latest = min(by_number), max(by_number)
    if first is not None:
        high = latest if cursor is None else cursor - 1
        low = max(earliest, high + 1 - size)
    else:
        low = earliest if cursor is None else cursor + 1
        high = min(latest, low - 1 + size)
    shown = [one for one in sorted(by_number, reverse=True) if low <= one <= high]
    if not shown:
        none = {"has_previous_page": False, "has_next_page": False}
        return {"page_info": none, "total_count": latest, "elements": []}
    info: Json = {
        "start_cursor": str(shown[0]),
        "end_cursor": str(shown[-1]),
        "has_previous_page": shown[0] < latest,
        "has_next_page": shown[-1] > earliest,
        "start_index": latest + 1 - shown[0],
    }
    return {
        "page_info": info,
        "total_count": latest - earliest + 1,
        "elements": [show(by_number[one]) for one in shown],
    }


def number(asked: Asked, name: str) -> int | None:
    given = asked.query.get(name)
    if given is None or given == "":
        return None
    if not given.lstrip("-").isdecimal():
        raise No(400, f'Failed to convert value "{given}" of parameter {name}')
    return int(given)


def flag(asked: Asked, name: str, *, default: bool) -> bool:
    return {"true": True, "false": False}.get(asked.query.get(name, "").lower(), default)
