"""What the stand-in for Airflow was asked, how that fails where a test says so, and what it holds against a question."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tests.schedulers.airflow.records import No

RANGES = {"limit", "offset", "order_by"}


@dataclass(slots=True)
class Fault:
    """The next `times` requests that match fail so: `lose` does it and answers nothing, `drop` does nothing and answers
    nothing, `garbage` does it and answers no JSON, `late` does it and answers 500, a number answers that and does nothing.
    """

    kind: str | int
    path: str = ""
    method: str = ""
    times: int = 1
    headers: dict[str, str] = field(default_factory=dict)
    body_holds: str = ""


@dataclass(slots=True)
class Asked:
    method: str
    path: str
    query: list[tuple[str, str]]
    body: dict[str, Any]


def only(found: dict[str, Any], names: set[str]) -> None:
    """Airflow's bodies are strict; its queries are not, and are so here, since a name nobody reads filters nothing."""
    extra = sorted(set(found) - names)
    if extra:
        raise No(422, [{"loc": ["body", extra[0]], "msg": "Extra inputs are not permitted"}])


def paged(asked: Asked, rows: list[Any], *, limit: int, orders: set[str], names: set[str]) -> tuple[list[Any], int]:
    query = dict(asked.query)
    only(query, RANGES | names)
    if query.get("order_by", next(iter(orders))).lstrip("-") not in orders:
        raise No(400, f"Ordering with '{query['order_by']}' is disallowed")
    wanted, offset = int(query.get("limit", 50)), int(query.get("offset", 0))
    return rows[offset : offset + min(wanted, limit)], len(rows)


def instant(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    if found.tzinfo is None:
        raise No(422, [{"loc": ["query"], "msg": "Input should have timezone info"}])
    return found
