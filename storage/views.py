"""The messages that show the newest state, as delivery works them. Each method is a transaction of its own.

Updates collapse: a view that changed while it was being sent is claimed once more. A root that was never seen posted is
uncertain once its lease lapsed; an update may simply be sent again.
"""

from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection, and_, bindparam, case, func, not_, or_, select, text

from bot.store import Committed, Lane, ViewRow
from storage import following, pace
from storage.effects import PACE, view_row
from storage.leases import LEASE
from storage.part import Part
from storage.queue_tables import conversations, views

GIVES_WAY = "gives_way"
_WANTED = text("views.wanted_version > views.shown_version AND views.leased_by IS NULL")
_PARENT = conversations.alias("parent")
_PLACES = views.join(conversations, conversations.c.id == views.c.conversation_id).outerjoin(
    _PARENT, _PARENT.c.id == conversations.c.parent_id
)
_HAS_PLACE = or_(conversations.c.parent_id.is_(None), _PARENT.c.root_ts.is_not(None))
"""A page of a thread waits for the root of the thread."""
_CLAIMABLE = (
    select(views, conversations.c.channel, conversations.c.root_ts, _PARENT.c.root_ts.label("thread_ts"))
    .select_from(_PLACES)
    .where(_WANTED, _HAS_PLACE, views.c.due_at <= bindparam("now"))
    .order_by(conversations.c.root_ts.is_not(None), views.c.due_at, views.c.id)
    .limit(bindparam("most"))
    .with_for_update(of=views, skip_locked=True)
)
_NEXT = select(func.min(views.c.due_at)).select_from(_PLACES).where(_WANTED, _HAS_PLACE)
_LEASE = (
    views.update()
    .where(views.c.id.in_(bindparam("ids", expanding=True)))
    .values(leased_by=bindparam("by"), leased_until=bindparam("until"))
)
_OURS = and_(views.c.id == bindparam("of_id"), views.c.leased_by == bindparam("me"))
_BEGIN_IF_OURS = (
    views.update()
    .where(_OURS, views.c.leased_until > bindparam("now"))
    .values(attempt=views.c.attempt + 1, begun_at=bindparam("now"), leased_until=bindparam("until"))
)
_SHOW_IF_OURS = (
    views.update()
    .where(_OURS)
    .values(
        shown_version=case(
            (and_(not_(views.c.repointed), views.c.shown_version < bindparam("version")), bindparam("version")),
            else_=views.c.shown_version,
        ),
        repointed=False,
        due_at=bindparam("now"),
        attempt=0,
        leased_by=None,
        leased_until=None,
        uncertain_at=None,
        code=None,
    )
    .returning(views.c.wanted_version, views.c.shown_version)
)
_THREAD = select(conversations).where(conversations.c.id == views.c.conversation_id)
_THREAD_ROOT = (
    select(_PARENT.c.root_ts)
    .where(_PARENT.c.id == _THREAD.with_only_columns(conversations.c.parent_id).correlate(views).scalar_subquery())
    .scalar_subquery()
)
_AGAIN = (
    views.update()
    .where(views.c.id == bindparam("of_id"), views.c.leased_by.is_(None))
    .values(leased_by=bindparam("by"), leased_until=bindparam("until"))
    .returning(
        *views.c,
        _THREAD.with_only_columns(conversations.c.channel).scalar_subquery().label("channel"),
        _THREAD.with_only_columns(conversations.c.root_ts).scalar_subquery().label("root_ts"),
        _THREAD_ROOT.label("thread_ts"),
    )
)
_ROOT_IF_UNKNOWN = (
    conversations.update()
    .where(conversations.c.id == bindparam("of_id"), conversations.c.root_ts.is_(None))
    .values(root_ts=bindparam("ts"))
)
_RETURN_IF_OURS = (
    views.update()
    .where(_OURS)
    .values(due_at=bindparam("at"), code=bindparam("to_code"), repointed=False, leased_by=None, leased_until=None)
)
_RETURN_CERTAIN = _RETURN_IF_OURS.values(uncertain_at=None)
_RETURN_UNCERTAIN = _RETURN_IF_OURS.values(
    uncertain_at=func.coalesce(views.c.uncertain_at, views.c.begun_at, views.c.created_at)
)
_MOVE_IF_THERE = (
    conversations.update()
    .where(
        conversations.c.id == bindparam("of_id"),
        conversations.c.channel == bindparam("left_channel"),
        conversations.c.root_ts.is_not_distinct_from(bindparam("left_root")),
    )
    .values(channel=bindparam("to_channel"), root_ts=None)
)
_AFRESH = (
    views.update()
    .where(views.c.conversation_id == bindparam("of_id"))
    .values(
        key=views.c.key + "+",
        shown_version=0,
        repointed=False,
        due_at=bindparam("now"),
        attempt=0,
        leased_by=None,
        leased_until=None,
        begun_at=None,
        uncertain_at=None,
        code=None,
    )
)


class _StandsElsewhere(Exception):
    """The thread has left the place that it was to leave: the transaction is undone."""


class ViewQueue(Part):
    """The part of `bot.store.Storage` about views and the conversations that they begin."""

    def claim_views(self, *, now: datetime, limit: int) -> tuple[ViewRow, ...]:
        me = self._me
        if me is None:
            return ()
        with self._database.transaction() as connection:
            rows = connection.execute(_CLAIMABLE, {"now": now, "most": limit}).all()
            if rows:
                ids = [row.id for row in rows]
                connection.execute(_LEASE, {"ids": ids, "by": me, "until": now + LEASE})
        return tuple(view_row(row, channel=row.channel, root_ts=row.root_ts) for row in rows)

    def begin_view(self, *, id: int, now: datetime, lane: Lane | None = None) -> datetime | None:
        ours = {"of_id": id, "me": self._me}
        with self._database.transaction() as connection:
            again_at = pace.stand_aside(connection, lane, now)
            if again_at is not None:
                connection.execute(_RETURN_IF_OURS, {**ours, "at": again_at, "to_code": GIVES_WAY})
                return again_at
            free_at = pace.take(connection, lane, now)
            if free_at <= now:
                begun = connection.execute(_BEGIN_IF_OURS, {**ours, "now": now, "until": now + LEASE})
            else:
                begun = connection.execute(_RETURN_IF_OURS, {**ours, "at": free_at, "to_code": PACE})
            return free_at if begun.rowcount == 1 else None

    def settle_view(self, *, row: ViewRow, root_ts: str, now: datetime) -> Committed:
        values = {"of_id": row.id, "me": self._me, "version": row.wanted_version, "now": now}
        with self._database.transaction() as connection:
            shown = connection.execute(_SHOW_IF_OURS, values).one_or_none()
            if shown is None:
                return Committed()
            if row.root_ts is None:
                connection.execute(_ROOT_IF_UNKNOWN, {"of_id": row.conversation, "ts": root_ts})
            return self._next(connection, row, behind=shown.wanted_version > shown.shown_version, now=now)

    def _next(self, connection: Connection, row: ViewRow, *, behind: bool, now: datetime) -> Committed:
        """What follows in the thread: its next note, and the root once more when it changed meanwhile."""
        notes = following.lease_next(connection, row.conversation, me=self._me, now=now)
        if not behind or self._me is None:
            return notes
        again = connection.execute(_AGAIN, {"of_id": row.id, "by": self._me, "until": now + LEASE}).one_or_none()
        views = (view_row(again, channel=again.channel, root_ts=again.root_ts),) if again is not None else ()
        return replace(notes, views=views)

    def retry_view(self, *, id: int, at: datetime, uncertain: bool, code: str) -> None:
        statement = _RETURN_UNCERTAIN if uncertain else _RETURN_CERTAIN
        with self._database.transaction() as connection:
            connection.execute(statement, {"of_id": id, "me": self._me, "at": at, "to_code": code})

    def move_conversation(
        self, *, conversation: int, left: tuple[str, str | None], channel: str, now: datetime
    ) -> bool:
        was = {"left_channel": left[0], "left_root": left[1]}
        try:
            with self._database.transaction() as connection:
                connection.execute(_AFRESH, {"of_id": conversation, "now": now})
                moved = connection.execute(_MOVE_IF_THERE, {"of_id": conversation, "to_channel": channel, **was})
                if moved.rowcount != 1:
                    raise _StandsElsewhere
        except _StandsElsewhere:
            return False
        return True

    def _next_view_at(self) -> datetime | None:
        with self._database.read() as connection:
            found: datetime | None = connection.execute(_NEXT).scalar_one()
        return found
