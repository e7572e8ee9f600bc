"""Statements that write what a decision asks for: threads, views and outbox rows, some of them born leased.

They run inside a caller's transaction and send nothing.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, bindparam, exists, select, text, tuple_

from bot.incidents.model import Incident
from bot.store import EffectRow, EffectState, NewEffect, Share, ViewRow
from storage.columns import AnyRow
from storage.incidents import Name
from storage.leases import LEASE
from storage.queue_tables import CONTENT, IS_UNSETTLED, conversations, outbox, views
from storage.tables import occurrences

MAIN = "thread"
PACE = "pace"
BORN_LEASED_MOST = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """A conversation as it stands: `busy` when notes of it are still unsettled."""

    id: int
    channel: str
    root_ts: str | None = None
    busy: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right that rows are born with, if they are in the share."""

    by: str
    until: datetime
    share: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """An effect on its way into the outbox."""

    effect: NewEffect
    incident: Incident
    job_id: int
    conversation_id: int | None


_OPEN = conversations.insert().returning(conversations.c.id)
_ADD_VIEW = views.insert().returning(*views.c)
_REPOINT = (
    views.update()
    .where(views.c.conversation_id == bindparam("conversation"))
    .values(
        record=bindparam("to_record"),
        number=bindparam("to_number"),
        wanted_version=bindparam("version"),
        shown_version=0,
        repointed=views.c.leased_by.is_not(None),
        due_at=bindparam("due"),
    )
)
_THREADS = select(
    conversations.c.id,
    conversations.c.channel,
    conversations.c.root_ts,
    exists().where(outbox.c.conversation_id == conversations.c.id, text(f"outbox.{IS_UNSETTLED}")).label("busy"),
).where(conversations.c.id.in_(bindparam("ids", expanding=True)))
_THREAD_OF = select(occurrences.c.conversation_id).where(
    occurrences.c.record == bindparam("record"), occurrences.c.number == bindparam("number")
)
_VERSION = (
    select(occurrences.c.version)
    .where(occurrences.c.record == views.c.record, occurrences.c.number == views.c.number)
    .scalar_subquery()
)
_OF_THESE = and_(
    tuple_(views.c.record, views.c.number).in_(bindparam("names", expanding=True)), views.c.storm.is_(None)
)
_RAISE = views.update().where(_OF_THESE).values(wanted_version=_VERSION)
_RAISE_AND_LEASE_IF_FREE = (
    views.update()
    .where(_OF_THESE, views.c.leased_by.is_(None), views.c.due_at <= bindparam("now"))
    .values(wanted_version=_VERSION, leased_by=bindparam("by"), leased_until=bindparam("until"))
    .returning(*views.c)
)
_PUT = outbox.insert().returning(outbox.c.id, outbox.c.key)
_PUT_IN_ORDER = outbox.insert().returning(outbox.c.id, outbox.c.key, sort_by_parameter_order=True)
_CANCEL_IF_WAITING = (
    outbox.update()
    .where(outbox.c.key == bindparam("of_key"), outbox.c.state == EffectState.WAITING)
    .values(state=EffectState.CANCELLED, settled_at=bindparam("at"), leased_by=None, leased_until=None)
)
_SETTLE_IF_UNSETTLED = (
    outbox.update()
    .where(outbox.c.id == bindparam("of_id"), text(IS_UNSETTLED))
    .values(
        state=bindparam("to_state"),
        result=bindparam("result"),
        settled_at=bindparam("at"),
        leased_by=None,
        leased_until=None,
    )
)


def open_conversation(connection: Connection, *, channel: str, at: datetime) -> Thread:
    values = {"destination": MAIN, "channel": channel, "created_at": at}
    return Thread(id=connection.execute(_OPEN, values).scalar_one(), channel=channel)


def thread_of(connection: Connection, *, record: int, number: int) -> int | None:
    """The conversation of an earlier occurrence of the record."""
    return connection.execute(_THREAD_OF, {"record": record, "number": number}).scalar_one_or_none()


def threads(connection: Connection, ids: Collection[int]) -> dict[int, Thread]:
    if not ids:
        return {}
    found = connection.execute(_THREADS, {"ids": list(ids)})
    return {row.id: Thread(id=row.id, channel=row.channel, root_ts=row.root_ts, busy=bool(row.busy)) for row in found}


def add_view(
    connection: Connection, *, incident: Incident, thread: Thread, now: datetime, lease: Lease | None
) -> ViewRow:
    """The root message of a new thread."""
    row = connection.execute(
        _ADD_VIEW,
        {
            "conversation_id": thread.id,
            "record": incident.record,
            "number": incident.number,
            "key": f"{incident.id}/root",
            "wanted_version": incident.version,
            "shown_version": 0,
            "repointed": False,
            "due_at": now,
            "attempt": 0,
            "created_at": now,
            "leased_by": lease.by if lease else None,
            "leased_until": lease.until if lease else None,
        },
    ).one()
    return view_row(row, channel=thread.channel, root_ts=None)


def repoint_view(connection: Connection, *, conversation: int, incident: Incident, now: datetime) -> None:
    """The root of the record's thread shows this occurrence from now on; what is under way showed the earlier one."""
    connection.execute(
        _REPOINT,
        {
            "conversation": conversation,
            "to_record": incident.record,
            "to_number": incident.number,
            "version": incident.version,
            "due": now,
        },
    )


def raise_views(
    connection: Connection, names: Collection[Name], *, now: datetime, lease: Lease | None
) -> tuple[AnyRow, ...]:
    """These occurrences' roots must show a newer version; the rows that were leased with it come back."""
    pending = set(names)
    leased: tuple[AnyRow, ...] = ()
    if lease:
        values = {"names": list(pending), "now": now, "by": lease.by, "until": lease.until}
        leased = tuple(connection.execute(_RAISE_AND_LEASE_IF_FREE, values))
        pending -= {(row.record, row.number) for row in leased}
    if pending:
        connection.execute(_RAISE, {"names": list(pending)})
    return leased


def view_row(row: AnyRow, *, channel: str, root_ts: str | None) -> ViewRow:
    return ViewRow(
        id=row.id,
        conversation=row.conversation_id,
        record=row.record,
        number=row.number,
        channel=channel,
        root_ts=root_ts,
        wanted_version=row.wanted_version,
        shown_version=row.shown_version,
        key=row.key,
        attempt=row.attempt,
        uncertain_at=row.uncertain_at,
        created_at=row.created_at,
        paced=row.code == PACE,
        storm=row.storm,
        page=row.page,
        thread_ts=getattr(row, "thread_ts", None),
    )


def put(
    connection: Connection, asked: Sequence[Asked], *, now: datetime, lease: Lease | None, threads: Mapping[int, Thread]
) -> tuple[EffectRow, ...]:
    """Write the rows in this order, and return those that were born leased.

    Ids must rise in this order, since a thread is sent by them: SQLite numbers the rows of one INSERT one after another,
    PostgreSQL has to be told.
    """
    free = _free_to_go(asked, now=now, threads=threads, share=lease.share) if lease else frozenset()
    values = [_values(one, now=now, lease=lease if one.effect.key in free else None) for one in asked]
    numbers_in_order = connection.dialect.name == "sqlite"
    ids = {row.key: row.id for row in connection.execute(_PUT if numbers_in_order else _PUT_IN_ORDER, values)}
    return tuple(
        _row(one, id=ids[one.effect.key], now=now, thread=threads.get(one.conversation_id or 0))
        for one in asked
        if one.effect.key in free
    )


def _free_to_go(
    asked: Iterable[Asked], *, now: datetime, threads: Mapping[int, Thread], share: Share
) -> frozenset[str]:
    """The keys of what is due, ours, and waits for nothing: no thread, or first in one whose root is there."""
    free: list[str] = []
    busy = {thread.id for thread in threads.values() if thread.busy or thread.root_ts is None}
    for one in asked:
        elsewhere = one.effect.in_storm is not None and one.effect.in_thread
        waits = elsewhere or (one.conversation_id in busy if one.conversation_id is not None else False)
        ours = share.holds(one.effect.kind, one.incident.job.scheduler)
        if ours and one.effect.due_at <= now and not waits and len(free) < BORN_LEASED_MOST:
            free.append(one.effect.key)
        if one.conversation_id is not None:
            busy.add(one.conversation_id)
    return frozenset(free)


def _values(asked: Asked, *, now: datetime, lease: Lease | None) -> dict[str, Any]:
    effect = asked.effect
    return {
        "key": effect.key,
        "kind": effect.kind,
        "lane": effect.lane,
        "job_id": asked.job_id,
        "record": asked.incident.record,
        "number": asked.incident.number,
        "conversation_id": asked.conversation_id,
        "content": dict(effect.content),
        "state": EffectState.WAITING,
        "due_at": effect.due_at,
        "attempt": 0,
        "created_at": now,
        "leased_by": lease.by if lease else None,
        "leased_until": lease.until if lease else None,
    }


def _row(asked: Asked, *, id: int, now: datetime, thread: Thread | None) -> EffectRow:
    return EffectRow(
        id=id,
        key=asked.effect.key,
        kind=asked.effect.kind,
        record=asked.incident.record,
        number=asked.incident.number,
        job=asked.incident.job,
        content=CONTENT.as_read(asked.effect.content),
        due_at=asked.effect.due_at,
        state=EffectState.WAITING,
        conversation=asked.conversation_id,
        channel=thread.channel if thread else None,
        root_ts=thread.root_ts if thread else None,
        created_at=now,
    )


def cancel_if_waiting(connection: Connection, keys: Iterable[str], *, at: datetime) -> None:
    """Cancel what has not begun to be sent; what is leased may not begin any more."""
    connection.execute(_CANCEL_IF_WAITING, [{"of_key": key, "at": at} for key in sorted(keys)])


def settle_if_unsettled(
    connection: Connection, *, id: int, state: EffectState, result: Mapping[str, Any], at: datetime
) -> bool:
    values = {"of_id": id, "to_state": state, "result": dict(result), "at": at}
    return connection.execute(_SETTLE_IF_UNSETTLED, values).rowcount == 1


def lease_of(me: str, now: datetime, share: Share) -> Lease:
    return Lease(by=me, until=now + LEASE, share=share)
