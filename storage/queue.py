"""The outbox as delivery works it: claim, begin, settle, retry, bury. Each method is a transaction of its own.

A row is worked under a lease. `sending` is committed before the call, so that a row found so after its lease lapsed is
known to be uncertain. Whoever brings the true end of a row may settle it, lease or not: what was sent was sent.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, bindparam, exists, func, not_, or_, select, text

from bot.store import EVERYTHING, Committed, EffectRow, EffectState, Lane, Share
from bot.store.share import REQUESTS
from storage import following, pace
from storage.effects import PACE, settle_if_unsettled
from storage.leases import LEASE
from storage.part import Part
from storage.queue_tables import IS_UNSETTLED, conversations, outbox
from storage.rows import effect_row
from storage.tables import jobs

_EARLIER = outbox.alias("earlier")
_NOTHING_EARLIER = not_(
    exists().where(
        _EARLIER.c.conversation_id == outbox.c.conversation_id,
        _EARLIER.c.id < outbox.c.id,
        text(f"earlier.{IS_UNSETTLED}"),
    )
)
_IS_CLAIMABLE: ColumnElement[bool] = and_(
    text("outbox.state = 'waiting' AND outbox.leased_by IS NULL"),
    or_(outbox.c.conversation_id.is_(None), and_(conversations.c.root_ts.is_not(None), _NOTHING_EARLIER)),
)
EFFECTS = (
    select(outbox, jobs.c.scheduler, jobs.c.name, conversations.c.channel, conversations.c.root_ts)
    .outerjoin(jobs, jobs.c.id == outbox.c.job_id)
    .outerjoin(conversations, conversations.c.id == outbox.c.conversation_id)
)
_CLAIMABLE = (
    EFFECTS.where(_IS_CLAIMABLE, outbox.c.due_at <= bindparam("now"))
    .order_by(outbox.c.lane, outbox.c.due_at, outbox.c.id)
    .limit(bindparam("most"))
    .with_for_update(of=outbox, skip_locked=True)
)
_NEXT = (
    select(func.min(outbox.c.due_at))
    .select_from(outbox.outerjoin(conversations, conversations.c.id == outbox.c.conversation_id))
    .where(_IS_CLAIMABLE)
)
_THEIR_REQUESTS = and_(
    outbox.c.kind.in_(sorted(REQUESTS)),
    outbox.c.job_id.in_(select(jobs.c.id).where(jobs.c.scheduler.in_(bindparam("schedulers", expanding=True)))),
)
_LEASE = (
    outbox.update()
    .where(outbox.c.id.in_(bindparam("ids", expanding=True)))
    .values(leased_by=bindparam("by"), leased_until=bindparam("until"))
)
_OURS = and_(outbox.c.id == bindparam("of_id"), outbox.c.leased_by == bindparam("me"))
_BEGIN_IF_OURS = (
    outbox.update()
    .where(_OURS, outbox.c.state == EffectState.WAITING, outbox.c.leased_until > bindparam("now"))
    .values(
        state=EffectState.SENDING,
        attempt=outbox.c.attempt + 1,
        begun_at=bindparam("now"),
        leased_until=bindparam("until"),
    )
)
_RETURN_IF_OURS = (
    outbox.update()
    .where(_OURS, text(IS_UNSETTLED))
    .values(
        state=EffectState.WAITING,
        due_at=bindparam("at"),
        code=bindparam("to_code"),
        leased_by=None,
        leased_until=None,
    )
)
_BURY_IF_OURS = (
    outbox.update()
    .where(_OURS, text(IS_UNSETTLED))
    .values(
        state=EffectState.BURIED,
        settled_at=bindparam("now"),
        code=bindparam("to_code"),
        leased_by=None,
        leased_until=None,
    )
)
_RETURN_CERTAIN = _RETURN_IF_OURS.values(uncertain_at=None)
_RETURN_UNCERTAIN = _RETURN_IF_OURS.values(uncertain_at=func.coalesce(outbox.c.uncertain_at, outbox.c.begun_at))
_RETURN_EARLIER = _RETURN_IF_OURS.values(uncertain_at=outbox.c.begun_at)


@dataclass(frozen=True, slots=True)
class _Shared:
    """A statement about all rows of the outbox, prebuilt for each kind of share."""

    everything: "Select[Any]"
    without: "Select[Any]"
    only: "Select[Any]"

    @classmethod
    def by(cls, everything: "Select[Any]") -> "_Shared":
        return cls(everything, everything.where(not_(_THEIR_REQUESTS)), everything.where(_THEIR_REQUESTS))

    def of(self, share: Share) -> "tuple[Select[Any], dict[str, Any]]":
        """The statement of this share, and the values that it needs for it."""
        if share.only is not None:
            return self.only, {"schedulers": sorted(share.only)}
        if share.without:
            return self.without, {"schedulers": sorted(share.without)}
        return self.everything, {}


_CLAIM = _Shared.by(_CLAIMABLE)
_NEXT_OF = _Shared.by(_NEXT)


def begin_if_ours(connection: Connection, *, id: int, me: str | None, now: datetime) -> bool:
    """Write `sending` over a leased row; also inside a unit of work that first checks that the effect is still wanted."""
    values = {"of_id": id, "me": me, "now": now, "until": now + LEASE}
    return bool(connection.execute(_BEGIN_IF_OURS, values).rowcount == 1)


class EffectQueue(Part):
    """The part of `bot.store.Storage` about the outbox."""

    def claim_effects(self, *, now: datetime, limit: int, share: Share = EVERYTHING) -> tuple[EffectRow, ...]:
        me = self._me
        if me is None:
            return ()
        with self._database.transaction() as connection:
            statement, values = _CLAIM.of(share)
            rows = connection.execute(statement, {"now": now, "most": limit, **values}).all()
            if rows:
                ids = [row.id for row in rows]
                connection.execute(_LEASE, {"ids": ids, "by": me, "until": now + LEASE})
        return tuple(effect_row(row) for row in rows)

    def begin_sending(self, *, id: int, now: datetime, lane: Lane | None = None) -> datetime | None:
        with self._database.transaction() as connection:
            free_at = pace.take(connection, lane, now)
            if free_at <= now:
                return free_at if begin_if_ours(connection, id=id, me=self._me, now=now) else None
            values = {"of_id": id, "me": self._me, "at": free_at, "to_code": PACE}
            return free_at if connection.execute(_RETURN_CERTAIN, values).rowcount == 1 else None

    def settle(self, *, row: EffectRow, result: Mapping[str, Any], now: datetime) -> Committed | None:
        with self._database.transaction() as connection:
            if row.conversation is not None:
                following.hold(connection, row.conversation)
            if not settle_if_unsettled(connection, id=row.id, state=EffectState.SETTLED, result=result, at=now):
                return None
            if row.conversation is None:
                return Committed()
            return following.lease_next(connection, row.conversation, me=self._me, now=now)

    def retry(self, *, id: int, at: datetime, uncertain: bool, code: str, earlier: bool = False) -> bool:
        statement = _RETURN_EARLIER if earlier else _RETURN_UNCERTAIN if uncertain else _RETURN_CERTAIN
        return self._change(statement, {"of_id": id, "me": self._me, "at": at, "to_code": code})

    def bury(self, *, id: int, code: str, now: datetime) -> bool:
        return self._change(_BURY_IF_OURS, {"of_id": id, "me": self._me, "now": now, "to_code": code})

    def _next_effect_at(self, share: Share) -> datetime | None:
        statement, values = _NEXT_OF.of(share)
        with self._database.read() as connection:
            found: datetime | None = connection.execute(statement, values).scalar_one()
        return found

    def _change(self, statement: Any, values: dict[str, Any]) -> bool:
        with self._database.transaction() as connection:
            return bool(connection.execute(statement, values).rowcount == 1)
