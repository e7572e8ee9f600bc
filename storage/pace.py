"""The pace of sends: a row a lane says when it is free next, and rows that wait have their slots in it. Sends nothing."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Connection, and_, bindparam, case, func, or_, select, type_coerce
from sqlalchemy.dialects.postgresql import insert

from bot.store import EffectKind, EffectState, Lane
from storage.columns import Instant
from storage.effects import PACE
from storage.part import Part
from storage.queue_tables import conversations, outbox, pace, views

POST, DIRECT = "chat.postMessage", "direct"

MICROSECOND = timedelta(microseconds=1)


def _later(column: ColumnElement[datetime]) -> Any:
    return type_coerce(type_coerce(column, BigInteger) + bindparam("wait", type_=BigInteger), Instant)


_PACE = insert(pace)
_NOW = bindparam("now", type_=Instant)
_TAKE = _PACE.on_conflict_do_update(
    index_elements=["method", "scope"],
    set_={"free_at": _later(case((pace.c.free_at > _NOW, pace.c.free_at), else_=_NOW))},
).returning(pace.c.free_at)
_HOLD = _PACE.on_conflict_do_update(
    index_elements=["method", "scope"],
    set_={"free_at": _PACE.excluded.free_at},
    where=pace.c.free_at < _PACE.excluded.free_at,
)
_IN_CHANNEL = select(conversations.c.id).where(conversations.c.channel == bindparam("of_scope"))
_UNPOSTED = select(conversations.c.id).where(conversations.c.root_ts.is_(None))
_REPLIES = or_(
    outbox.c.conversation_id.in_(_IN_CHANNEL),
    and_(outbox.c.kind == EffectKind.DIRECT, bindparam("of_scope") == DIRECT),
)
_WAITING_REPLIES = and_(outbox.c.state == EffectState.WAITING, outbox.c.code == PACE, _REPLIES)
_NEW_ROOTS = and_(
    views.c.code == PACE, views.c.conversation_id.in_(_IN_CHANNEL), views.c.conversation_id.in_(_UNPOSTED)
)
_UPDATES = and_(views.c.code == PACE, views.c.conversation_id.not_in(_UNPOSTED))


_FREE_AT = select(pace.c.free_at).where(pace.c.method == bindparam("of_method"), pace.c.scope == bindparam("of_scope"))


def stand_aside(connection: Connection, lane: Lane | None, now: datetime) -> datetime | None:
    """When to come again, for who gives way while the lane is taken; None: it may take a slot."""
    if lane is None or lane.gives_way is None:
        return None
    free_at = connection.execute(_FREE_AT, {"of_method": lane.method, "of_scope": lane.scope}).scalar_one_or_none()
    return free_at + lane.gives_way if free_at is not None and free_at > now else None


def take(connection: Connection, lane: Lane | None, now: datetime) -> datetime:
    """The next free instant of that lane at or after now, reserved by moving the lane on by its gap; no lane: now."""
    if lane is None:
        return now
    values = {"method": lane.method, "scope": lane.scope, "free_at": now + lane.gap}
    after: datetime = connection.execute(_TAKE, {**values, "now": now, "wait": lane.gap // MICROSECOND}).scalar_one()
    return after - lane.gap


class Pace(Part):
    """The part of `bot.store.Storage` that spaces sends."""

    def hold_pace(self, *, method: str, scope: str, until: datetime) -> None:
        lane = ((outbox, _WAITING_REPLIES), (views, _NEW_ROOTS)) if method == POST else ((views, _UPDATES),)
        values = {"of_method": method, "of_scope": scope}
        with self._database.transaction() as connection:
            wait = _wait(connection, lane, values, until)
            connection.execute(_HOLD, {"method": method, "scope": scope, "free_at": until})
            if wait:
                for table, waits in lane:
                    later = {"due_at": _later(table.c.due_at)}
                    connection.execute(table.update().where(waits).values(later), {**values, "wait": wait})
                connection.execute(_MOVE_BY, {**values, "wait": wait})


_MOVE_BY = (
    pace.update()
    .where(pace.c.method == bindparam("of_method"), pace.c.scope == bindparam("of_scope"))
    .values(free_at=_later(pace.c.free_at))
)


def _wait(connection: Connection, lane: Any, values: dict[str, str], until: datetime) -> int:
    """By how many microseconds the rows of the lane must move, so that its first slot is `until`."""
    firsts = [
        connection.execute(select(func.min(table.c.due_at)).where(waits), values).scalar() for table, waits in lane
    ]
    first = min((at for at in firsts if at is not None), default=until)
    return max(0, (until - first) // MICROSECOND)
