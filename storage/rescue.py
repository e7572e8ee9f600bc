"""Returns rows whose lease lapsed or whose holder is gone; what was being sent becomes uncertain. Sends nothing."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Table,
    and_,
    bindparam,
    case,
    func,
    or_,
    select,
    type_coerce,
    union_all,
)

from bot.store import EffectState
from storage.columns import Instant
from storage.part import Part
from storage.queue_tables import conversations, outbox, views

_LEASES = union_all(
    *(
        select(table.c.leased_by, func.min(table.c.leased_until).label("first_until"))
        .where(table.c.leased_by.is_not(None))
        .group_by(table.c.leased_by)
        for table in (outbox, views)
    )
)
_UNPOSTED = views.c.conversation_id.in_(select(conversations.c.id).where(conversations.c.root_ts.is_(None)))
_POSTED = views.c.conversation_id.in_(select(conversations.c.id).where(conversations.c.root_ts.is_not(None)))

_BEGUN_FIRST = (EffectState.SENDING, EffectState.WAITING)


class Rescue(Part):
    """The part of `bot.store.Storage` that gives leases back."""

    def release_leases(self) -> None:
        with self._database.transaction() as connection:
            _return(connection, _RELEASED, {"me": self._me, "look_after": self._look_after})

    def void_leases(self, *, now: datetime) -> int:
        with self._database.read() as connection:
            leases = connection.execute(_LEASES).all()
        gone = self._holders.gone({lease.leased_by for lease in leases})
        if not gone and all(lease.first_until > now for lease in leases):
            return 0
        with self._database.transaction() as connection:
            return _return(connection, _VOIDED, {"now": now, "gone": sorted(gone), "look_after": self._look_after})

    @property
    def _look_after(self) -> int:
        return self._holders.look_after // timedelta(microseconds=1)


def _is_lapsed(table: Table) -> ColumnElement[bool]:
    of_the_gone = table.c.leased_by.in_(bindparam("gone", expanding=True))
    return and_(table.c.leased_by.is_not(None), or_(table.c.leased_until <= bindparam("now"), of_the_gone))


def _is_mine(table: Table) -> ColumnElement[bool]:
    return table.c.leased_by == bindparam("me")


def _look_at(table: Table) -> Any:
    """The look waits a little, since the other side may still be taking in what was sent."""
    earliest = type_coerce(
        type_coerce(table.c.begun_at, BigInteger) + bindparam("look_after", type_=BigInteger), Instant
    )
    return case((table.c.due_at < earliest, earliest), else_=table.c.due_at)


def _returns(outbox_row: ColumnElement[bool], view: ColumnElement[bool]) -> tuple[Any, ...]:
    """What was being sent first; then what only waited for its turn. A row that somebody works on just now is left alone.

    Each statement names its rows by itself: one that the first has left alone must not be given back as certain by the next.
    """
    freed: dict[str, Any] = {"leased_by": None, "leased_until": None}
    sending, waiting = (_free(outbox, outbox.c.state == state, outbox_row) for state in _BEGUN_FIRST)
    return (
        outbox.update()
        .where(sending)
        .values(
            state=EffectState.WAITING,
            uncertain_at=func.coalesce(outbox.c.uncertain_at, outbox.c.begun_at),
            due_at=_look_at(outbox),
            **freed,
        ),
        outbox.update().where(waiting).values(freed),
        views.update()
        .where(_free(views, _UNPOSTED, view))
        .values(
            uncertain_at=func.coalesce(views.c.uncertain_at, views.c.begun_at, views.c.created_at),
            due_at=_look_at(views),
            repointed=False,
            **freed,
        ),
        views.update().where(_free(views, _POSTED, view)).values(repointed=False, **freed),
    )


def _free(table: Table, *conditions: ColumnElement[bool]) -> ColumnElement[bool]:
    """The rows with these conditions that no other transaction holds, so that giving back waits for nobody."""
    return table.c.id.in_(select(table.c.id).where(*conditions).with_for_update(skip_locked=True))


_VOIDED = _returns(_is_lapsed(outbox), _is_lapsed(views))
_RELEASED = _returns(_is_mine(outbox), _is_mine(views))


def _return(connection: Connection, statements: tuple[Any, ...], values: dict[str, Any]) -> int:
    return sum(connection.execute(statement, values).rowcount for statement in statements)
