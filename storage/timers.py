"""Statements about timers: of occurrences, and deadlines of jobs. They run inside a caller's transaction."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, func, select, text
from sqlalchemy.dialects.postgresql import insert

from bot.incidents.keys import JobKey
from bot.incidents.model import Timer, TimerKind, timers_of
from bot.store import JobTimer, TimerRow
from storage.columns import AnyRow
from storage.incidents import Known, Name
from storage.queue_tables import OF_A_JOB, timers
from storage.tables import jobs

OWN = frozenset(TimerKind) - {TimerKind.RELEASE}
"""The timers that an occurrence has of itself; the other one is set from outside, and stays until it fires."""

_INSERT = insert(timers)
_SET = _INSERT.on_conflict_do_update(
    index_elements=["record", "number", "kind"], set_={"due_at": _INSERT.excluded.due_at}
)
_SET_OF_JOB = _INSERT.on_conflict_do_update(
    index_elements=["job_id", "kind", "nominal_time"],
    index_where=text(OF_A_JOB),
    set_={"due_at": _INSERT.excluded.due_at},
)
_UNSET = timers.delete().where(
    timers.c.record == bindparam("of_record"),
    timers.c.number == bindparam("of_number"),
    timers.c.kind == bindparam("of_kind"),
)
_CLEAR_OF_JOB = timers.delete().where(
    timers.c.record.is_(None),
    timers.c.job_id == bindparam("job"),
    timers.c.kind.in_(bindparam("kinds", expanding=True)),
)
_CONSUME = timers.delete().where(timers.c.id == bindparam("of_id"), timers.c.due_at == bindparam("of_due_at"))
_DUE = (
    select(timers, jobs.c.scheduler, jobs.c.name)
    .join(jobs, jobs.c.id == timers.c.job_id)
    .where(timers.c.due_at <= bindparam("now"))
    .order_by(timers.c.due_at, timers.c.id)
    .limit(bindparam("most"))
)
_NEXT = select(func.min(timers.c.due_at))
_POSTPONE = timers.update().where(timers.c.id == bindparam("of_id")).values(due_at=bindparam("to"))


def set_timers(connection: Connection, known: Iterable[Known], *, new: Collection[Name]) -> list[datetime]:
    """Make the timers of these occurrences what `timers_of` says, and return when they are due."""
    wanted: list[dict[str, Any]] = []
    unwanted: list[dict[str, Any]] = []
    for one in known:
        name = (one.incident.record, one.incident.number)
        living = timers_of(one.incident)
        wanted += [_values(one, timer) for timer in living]
        if name not in new:
            gone = sorted(OWN - {timer.kind for timer in living})
            unwanted += [{"of_record": name[0], "of_number": name[1], "of_kind": kind} for kind in gone]
    if unwanted:
        connection.execute(_UNSET, unwanted)
    if wanted:
        connection.execute(_SET, wanted)
    return [row["due_at"] for row in wanted]


def _values(known: Known, timer: Timer) -> dict[str, Any]:
    return {
        "job_id": known.job_id,
        "record": known.incident.record,
        "number": known.incident.number,
        "kind": timer.kind,
        "nominal_time": None,
        "due_at": timer.due_at,
    }


def set_job_timers(
    connection: Connection, *, job: int, deadlines: Sequence[JobTimer], kinds: Collection[str]
) -> list[datetime]:
    """Replace the job's deadlines of these kinds, and return when the new ones are due."""
    connection.execute(_CLEAR_OF_JOB, {"job": job, "kinds": sorted(kinds)})
    values = [
        {
            "job_id": job,
            "record": None,
            "number": None,
            "kind": timer.kind,
            "nominal_time": timer.nominal_time,
            "due_at": timer.due_at,
        }
        for timer in deadlines
    ]
    if values:
        connection.execute(_SET_OF_JOB, values)
    return [timer.due_at for timer in deadlines]


def consume_if_due_at(connection: Connection, *, id: int, due_at: datetime) -> bool:
    """Delete the timer unless somebody else did, or moved it."""
    return connection.execute(_CONSUME, {"of_id": id, "of_due_at": due_at}).rowcount == 1


def due(connection: Connection, *, now: datetime, limit: int) -> tuple[TimerRow, ...]:
    return tuple(_timer_row(row) for row in connection.execute(_DUE, {"now": now, "most": limit}))


def _timer_row(row: AnyRow) -> TimerRow:
    of_a_job = row.record is None
    return TimerRow(
        id=row.id,
        job=JobKey(scheduler=row.scheduler, name=row.name),
        due_at=row.due_at,
        record=row.record,
        number=row.number,
        timer=None if of_a_job else Timer(kind=TimerKind(row.kind), due_at=row.due_at),
        kind=row.kind if of_a_job else None,
        nominal_time=row.nominal_time if of_a_job else None,
    )


def next_at(connection: Connection) -> datetime | None:
    found: datetime | None = connection.execute(_NEXT).scalar_one()
    return found


def postpone(connection: Connection, *, id: int, to: datetime) -> None:
    connection.execute(_POSTPONE, {"of_id": id, "to": to})
