"""Statements about events that were taken in before, by idempotency key, and what became of them. They run inside a caller's
transaction; what was recorded of an event is read back in `replaying.py`.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, bindparam, select
from sqlalchemy.dialects.postgresql import insert

from storage.tables import ledger

_KNOWN = select(ledger.c.key, ledger.c.outcome).where(ledger.c.key.in_(bindparam("keys", expanding=True)))
_REMEMBER = insert(ledger).on_conflict_do_nothing(index_elements=["key"]).returning(ledger.c.key)
_BATCH_BITS = 20
_KEY = itemgetter(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """An event that was taken in: what became of it, and its record where it can be played again (`event`)."""

    outcome: Mapping[str, Any]
    at: datetime
    event: str | None = None


def outcomes(connection: Connection, keys: Collection[str]) -> dict[str, Mapping[str, Any]]:
    if not keys:
        return {}
    return {row.key: row.outcome for row in connection.execute(_KNOWN, {"keys": list(keys)})}


def remember_if_new(connection: Connection, found: Mapping[str, Taken], *, batch: int) -> bool:
    """Write what became of the events, in their order in `batch`; False: another transaction took one of them in meanwhile."""
    places = {key: place_of(batch, position) for position, key in enumerate(found)}
    rows = [
        {"key": key, "outcome": dict(taken.outcome), "at": taken.at, "event": taken.event, "place": places[key]}
        for key, taken in sorted(found.items(), key=_KEY)
    ]
    return len(connection.execute(_REMEMBER, rows).all()) == len(rows)


def place_of(batch: int, position: int) -> int:
    """Where an event stands among those of its instant: by its process's transactions, then in its own."""
    return batch << _BATCH_BITS | position


def batch_of(place: int) -> int:
    return place >> _BATCH_BITS
