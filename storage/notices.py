"""Statements about notices: messages of ontrack itself to a channel. They run inside a caller's transaction; they send nothing.

A notice is a row of the outbox like any other; its key is what keeps it from being said twice.
"""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import Connection, bindparam, select
from sqlalchemy.dialects.postgresql import insert

from bot.store import EffectKind, EffectState, NewNotice
from storage.queue_tables import outbox

LANE = 6

_PUT_IF_NEW = insert(outbox).on_conflict_do_nothing(index_elements=["key"]).returning(outbox.c.id)
_WRITTEN_AT = select(outbox.c.key, outbox.c.created_at).where(outbox.c.key.in_(bindparam("keys", expanding=True)))


def put_if_new(connection: Connection, notice: NewNotice, *, now: datetime) -> bool:
    values = {
        "key": notice.key,
        "kind": EffectKind.NOTICE,
        "lane": LANE,
        "content": {**notice.content, "channel": notice.channel},
        "state": EffectState.WAITING,
        "due_at": notice.due_at,
        "attempt": 0,
        "created_at": now,
    }
    return connection.execute(_PUT_IF_NEW, values).first() is not None


def written_at(connection: Connection, keys: Collection[str]) -> dict[str, datetime]:
    """When the notices with these keys were written; those that are not there are left out."""
    if not keys:
        return {}
    return {row.key: row.created_at for row in connection.execute(_WRITTEN_AT, {"keys": sorted(keys)})}
