"""The read side of storms: what a storm counts, and its rows page by page. Changes nothing."""

from typing import Any

from sqlalchemy import Connection, and_, bindparam, func, literal, select

from bot.incidents.model import Status
from bot.incidents.storm import ROWS_A_PAGE, Held
from bot.store import StormCount, StormRow, StormState
from storage.database import Database
from storage.queue_tables import conversations
from storage.tables import gates, occurrences, storm_rows, storms

_OCCURRENCE = and_(occurrences.c.record == storm_rows.c.record, occurrences.c.number == storm_rows.c.number)
_STORM = select(storms).where(storms.c.key == bindparam("key"))
_COUNTS = (
    select(
        occurrences.c.status,
        occurrences.c.cause,
        storm_rows.c.team,
        func.count().label("many"),
        func.max(occurrences.c.opened_at).label("last_at"),
        func.max(occurrences.c.closed_at).label("closed_at"),
    )
    .select_from(storm_rows.join(occurrences, _OCCURRENCE))
    .where(storm_rows.c.storm == bindparam("key"))
    .group_by(occurrences.c.status, occurrences.c.cause, storm_rows.c.team)
)
_NEWEST = (
    select(occurrences.c.document)
    .select_from(storm_rows.join(occurrences, _OCCURRENCE))
    .where(storm_rows.c.storm == bindparam("key"))
    .order_by(storm_rows.c.row.desc())
    .limit(1)
)
_GATE = (
    select(gates.c.storm)
    .select_from(storms.join(gates, gates.c.name == literal("channel:").concat(storms.c.channel)))
    .where(storms.c.key == bindparam("key"))
)
_ROWS = (
    select(
        storm_rows.c.row, storm_rows.c.team, occurrences.c.document, conversations.c.channel, conversations.c.root_ts
    )
    .select_from(
        storm_rows.join(occurrences, _OCCURRENCE).outerjoin(
            conversations, conversations.c.id == occurrences.c.conversation_id
        )
    )
    .where(storm_rows.c.storm == bindparam("key"), storm_rows.c.row.between(bindparam("first"), bindparam("last")))
    .order_by(storm_rows.c.row)
)
_THREAD_OF = (
    select(conversations.c.channel, conversations.c.root_ts)
    .join(storms, storms.c.conversation_id == conversations.c.id)
    .join(storm_rows, storm_rows.c.storm == storms.c.key)
    .where(storm_rows.c.record == bindparam("record"), storm_rows.c.number == bindparam("number"))
)


class SqlStormReads:
    """Implements `bot.store.StormReads`."""

    _database: Database

    def storm(self, *, key: str) -> StormState | None:
        with self._database.read() as connection:
            row = connection.execute(_STORM, {"key": key}).first()
            counts: Any = connection.execute(_COUNTS, {"key": key}).all()
            newest = connection.execute(_NEWEST, {"key": key}).scalar()
            held = _held(connection, key)
        if row is None or not counts:
            return None
        over = not any(Status(one.status).unresolved for one in counts)
        place = newest.storm if newest is not None else None
        closed = [one.closed_at for one in counts if one.closed_at is not None]
        return StormState(
            key=row.key,
            channel=row.channel,
            began_at=row.began_at,
            last_at=max(one.last_at for one in counts),
            settled_at=max(closed, default=None) if over else None,
            counts=tuple(
                StormCount(status=Status(one.status), cause=one.cause, team=one.team, count=one.many) for one in counts
            ),
            apart=place.apart if place is not None else 0,
            since=place.since if place is not None else None,
            held=held,
        )

    def storm_held(self, *, key: str) -> tuple[Held, ...]:
        with self._database.read() as connection:
            return _held(connection, key)

    def storm_rows(self, *, key: str, page: int) -> tuple[StormRow, ...]:
        values = {"key": key, "first": (page - 1) * ROWS_A_PAGE + 1, "last": page * ROWS_A_PAGE}
        with self._database.read() as connection:
            rows = connection.execute(_ROWS, values).all()
        return tuple(
            StormRow(row=row.row, incident=row.document, team=row.team, channel=row.channel, root_ts=row.root_ts)
            for row in rows
        )

    def storm_thread_of(self, *, record: int, number: int) -> tuple[str, str | None] | None:
        with self._database.read() as connection:
            row = connection.execute(_THREAD_OF, {"record": record, "number": number}).first()
        return (row.channel, row.root_ts) if row else None


def _held(connection: Connection, key: str) -> tuple[Held, ...]:
    """The channel knows of its newest storm alone who took it."""
    known = connection.execute(_GATE, {"key": key}).scalar()
    return known.held if known is not None and f"{known.channel}/{known.number}" == key else ()
