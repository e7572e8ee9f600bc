"""Asks that could not be put into their thread in time, and which of them that was made known of. It tells nobody.

They are read by the indexes of what is still to be sent, of which there is little while the chat can be written to.
"""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import BindParameter, ColumnElement, bindparam, case, cast, func, select, text, union
from sqlalchemy.dialects.postgresql import JSON

from bot.incidents.effects import ReplyKind
from bot.store import EffectKind, LateAsk
from storage.part import Part
from storage.queue import EFFECTS
from storage.queue_tables import IS_UNSETTLED, IS_WANTED, conversations, outbox, views
from storage.rows import effect_row

ASKS = (ReplyKind.ASK, ReplyKind.APPROVAL, ReplyKind.STORM_ASK)
TO_THE_CHAT = (EffectKind.REPLY, EffectKind.FILE, EffectKind.DIRECT, EffectKind.NOTICE)

_FIRST = outbox.alias("first")
_SAID_OF_THE_FIRST = (
    select(_FIRST.c.code)
    .where(_FIRST.c.conversation_id == outbox.c.conversation_id, text(f"first.{IS_UNSETTLED}"))
    .order_by(_FIRST.c.id)
    .limit(1)
    .scalar_subquery()
)
_SAID_OF_THE_ROOT = select(views.c.code).where(views.c.conversation_id == outbox.c.conversation_id).scalar_subquery()
_SAID = case((conversations.c.root_ts.is_(None), _SAID_OF_THE_ROOT), else_=_SAID_OF_THE_FIRST).label("said")
_LATE = (
    EFFECTS.add_columns(_SAID)
    .where(
        text(f"outbox.{IS_UNSETTLED}"),
        outbox.c.conversation_id.is_not(None),
        outbox.c.kind == EffectKind.REPLY,
        outbox.c.late_at.is_(None),
        outbox.c.created_at < bindparam("before"),
    )
    .order_by(outbox.c.created_at, outbox.c.id)
    .limit(bindparam("most"))
)
_MARK_IF_UNSENT = (
    outbox.update()
    .where(outbox.c.id == bindparam("of_id"), text(IS_UNSETTLED), outbox.c.late_at.is_(None))
    .values(late_at=bindparam("at"))
)
_CODES: BindParameter[str] = bindparam("codes", expanding=True)
_SAID_OF_WAITING = union(
    select(outbox.c.code).where(
        text(f"outbox.{IS_UNSETTLED}"), outbox.c.kind.in_(sorted(TO_THE_CHAT)), outbox.c.code.in_(_CODES)
    ),
    select(views.c.code).where(text(f"views.{IS_WANTED}"), views.c.code.in_(_CODES)),
)


def _is_ask(kind: ColumnElement[str]) -> ColumnElement[bool]:
    return kind.in_([str(one) for one in ASKS])


_LATE_ON = {
    "sqlite": _LATE.where(_is_ask(func.json_extract(outbox.c.content, text("'$.kind'")))),
    "postgresql": _LATE.where(_is_ask(cast(outbox.c.content, JSON)["kind"].astext)),
}


class LateMessages(Part):
    """The part of `bot.store.Storage` about asks that are late."""

    def late_asks(self, *, before: datetime, limit: int) -> tuple[LateAsk, ...]:
        with self._database.read() as connection:
            statement = _LATE_ON[connection.dialect.name]
            rows = connection.execute(statement, {"before": before, "most": limit}).all()
        return tuple(LateAsk(row=effect_row(row), code=row.said or "") for row in rows)

    def mark_late(self, *, id: int, now: datetime) -> bool:
        with self._database.transaction() as connection:
            return bool(connection.execute(_MARK_IF_UNSENT, {"of_id": id, "at": now}).rowcount == 1)

    def said_of_waiting(self, *, codes: Collection[str]) -> frozenset[str]:
        with self._database.read() as connection:
            found = connection.execute(_SAID_OF_WAITING, {"codes": sorted(codes)}).scalars()
            return frozenset(found)
