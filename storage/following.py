"""What may go out next in a thread, once something of it is done: leased in the same transaction, so that nobody has to look."""

from datetime import datetime

from sqlalchemy import Connection, bindparam, func, select, text

from bot.store import Committed
from storage.leases import LEASE
from storage.queue_tables import IS_UNSETTLED, conversations, outbox, views
from storage.rows import effect_row
from storage.tables import jobs

_HOLD = select(views.c.id).where(views.c.conversation_id == bindparam("conversation")).with_for_update()
_EARLIER = outbox.alias("earlier")
_FIRST = (
    select(func.min(_EARLIER.c.id))
    .where(_EARLIER.c.conversation_id == bindparam("conversation"), text(f"earlier.{IS_UNSETTLED}"))
    .scalar_subquery()
)
_JOB = select(jobs).where(jobs.c.id == outbox.c.job_id)
_THREAD = select(conversations).where(conversations.c.id == outbox.c.conversation_id)
_ROOT = _THREAD.with_only_columns(conversations.c.root_ts).scalar_subquery()
_LEASE_NEXT = (
    outbox.update()
    .where(
        outbox.c.id == _FIRST,
        text("outbox.state = 'waiting' AND outbox.leased_by IS NULL"),
        outbox.c.due_at <= bindparam("now"),
        _ROOT.is_not(None),
    )
    .values(leased_by=bindparam("by"), leased_until=bindparam("until"))
    .returning(
        *outbox.c,
        _JOB.with_only_columns(jobs.c.scheduler).scalar_subquery().label("scheduler"),
        _JOB.with_only_columns(jobs.c.name).scalar_subquery().label("name"),
        _THREAD.with_only_columns(conversations.c.channel).scalar_subquery().label("channel"),
        _ROOT.label("root_ts"),
    )
)


def hold(connection: Connection, conversation: int) -> None:
    """Whoever adds to this thread at the same time either sees what is settled now, or is seen by `lease_next`.

    Every save of an occurrence writes its view. On SQLite writers take turns anyway.
    """
    if connection.dialect.name != "sqlite":
        connection.execute(_HOLD, {"conversation": conversation})


def lease_next(connection: Connection, conversation: int, *, me: str | None, now: datetime) -> Committed:
    """The first unsettled note of the thread, if it is due, nobody's, and the root is there."""
    if me is None:
        return Committed()
    values = {"conversation": conversation, "now": now, "by": me, "until": now + LEASE}
    return Committed(effects=tuple(effect_row(row) for row in connection.execute(_LEASE_NEXT, values)))
