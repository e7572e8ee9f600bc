"""Statements about events that were taken in before, by idempotency key. They run inside a caller's transaction."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, select
from sqlalchemy.dialects.postgresql import insert

from storage.tables import ledger

_KNOWN = select(ledger.c.key, ledger.c.outcome).where(ledger.c.key.in_(bindparam("keys", expanding=True)))
_REMEMBER = insert(ledger).on_conflict_do_nothing(index_elements=["key"]).returning(ledger.c.key)


def outcomes(connection: Connection, keys: Collection[str]) -> dict[str, Mapping[str, Any]]:
    if not keys:
        return {}
    return {row.key: row.outcome for row in connection.execute(_KNOWN, {"keys": list(keys)})}


def remember_if_new(connection: Connection, found: Mapping[str, tuple[Mapping[str, Any], datetime]]) -> bool:
    """Write the outcomes; False: another transaction took one of these events in meanwhile."""
    rows = [{"key": key, "outcome": dict(outcome), "at": at} for key, (outcome, at) in sorted(found.items())]
    return len(connection.execute(_REMEMBER, rows).all()) == len(rows)
