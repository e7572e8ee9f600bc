"""Renames a job: all that is kept of it goes on under the new name, and the old one leads there. Inside a caller's transaction."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection, bindparam, exists, func, or_, select
from sqlalchemy.dialects.postgresql import insert

from bot.incidents.keys import JobKey
from bot.incidents.memory import JobMemory
from bot.store import Scope
from storage import waits
from storage.lineage_tables import lineage_uses
from storage.queue_tables import timers
from storage.tables import BookingState, budgets, jobs, occurrences, reruns, runs

_HISTORY = select(
    or_(
        exists().where(runs.c.job_id == bindparam("job")),
        exists().where(occurrences.c.job_id == bindparam("job")),
    )
)
_TIMERS = timers.delete().where(timers.c.job_id == bindparam("job"))
_DROP = jobs.delete().where(jobs.c.id == bindparam("job"))
_NAME = jobs.update().where(jobs.c.id == bindparam("job")).values(name=bindparam("to"))
_LEAD = jobs.update().where(jobs.c.scheduler == bindparam("of"), jobs.c.renamed_to == bindparam("was"))
_LEAD_ON = _LEAD.values(renamed_to=bindparam("to"))
_DOCUMENTS = select(occurrences.c.record, occurrences.c.number, occurrences.c.document).where(
    occurrences.c.job_id == bindparam("job")
)
_REWRITE = (
    occurrences.update()
    .where(occurrences.c.record == bindparam("of_record"), occurrences.c.number == bindparam("of_number"))
    .values(document=bindparam("document"))
)
_SCOPE = budgets.update().where(budgets.c.scope == bindparam("was")).values(scope=bindparam("to"))
_BOOKINGS = select(reruns.c.key, reruns.c.scopes).where(
    reruns.c.job_id == bindparam("job"), reruns.c.state == BookingState.RESERVED
)
_REBOOK = reruns.update().where(reruns.c.key == bindparam("of_key")).values(scopes=bindparam("scopes"))
_USES = select(lineage_uses).where(lineage_uses.c.scheduler == bindparam("of"), lineage_uses.c.job == bindparam("was"))
_NEW_USE = insert(lineage_uses)
_USE = _NEW_USE.on_conflict_do_update(
    index_elements=["scheduler", "job", "writes", "dataset"],
    set_={name: func.coalesce(lineage_uses.c[name], _NEW_USE.excluded[name]) for name in ("seen_at", "told_at")},
)
_FORGET_USES = lineage_uses.delete().where(
    lineage_uses.c.scheduler == bindparam("of"), lineage_uses.c.job == bindparam("was")
)


def has_history(connection: Connection, *, job: int) -> bool:
    """Whether runs or occurrences of the job are known."""
    return bool(connection.execute(_HISTORY, {"job": job}).scalar_one())


def rename(connection: Connection, *, job: int, was: JobKey, to: JobKey, instead_of: int, now: datetime) -> None:
    """`job` bears the name of the job `instead_of`, which has no history, from now on; its old name leads to it."""
    connection.execute(_TIMERS, {"job": instead_of})
    connection.execute(_DROP, {"job": instead_of})
    connection.execute(_NAME, {"job": job, "to": to.name})
    connection.execute(_LEAD_ON, {"of": was.scheduler, "was": was.name, "to": to.name})
    sign = {"scheduler": was.scheduler, "name": was.name, "created_at": now, "memory": JobMemory()}
    connection.execute(jobs.insert(), {**sign, "renamed_to": to.name})
    _documents(connection, job, to)
    _allowances(connection, job, was, to)
    _edges(connection, was, to)
    waits.rename(connection, scheduler=was.scheduler, was=was.name, to=to.name)


def _documents(connection: Connection, job: int, to: JobKey) -> None:
    found = connection.execute(_DOCUMENTS, {"job": job}).all()
    rows = [
        {"of_record": row.record, "of_number": row.number, "document": replace(row.document, job=to)} for row in found
    ]
    if rows:
        connection.execute(_REWRITE, rows)


def _allowances(connection: Connection, job: int, was: JobKey, to: JobKey) -> None:
    old, new = f"job:{was}", f"job:{to}"
    connection.execute(_SCOPE, {"was": old, "to": new})
    booked = connection.execute(_BOOKINGS, {"job": job}).all()
    rows = [{"of_key": row.key, "scopes": tuple(_scopes(row.scopes, old, new))} for row in booked]
    if rows:
        connection.execute(_REBOOK, rows)


def _scopes(scopes: Iterable[Scope], old: str, new: str) -> Iterable[Scope]:
    return (replace(scope, name=new) if scope.name == old else scope for scope in scopes)


def _edges(connection: Connection, was: JobKey, to: JobKey) -> None:
    values = {"of": was.scheduler, "was": was.name}
    rows = [{**row, "job": to.name} for row in connection.execute(_USES, values).mappings()]
    if rows:
        connection.execute(_USE, rows)
        connection.execute(_FORGET_USES, values)
