"""Statements about what waits downstream of occurrences. A wait's own job tells what it did in a transaction of its own."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, bindparam, false, func, or_, select, text, true
from sqlalchemy.dialects.postgresql import insert

from bot.incidents.keys import JobKey
from bot.incidents.memory import GoodRun
from bot.incidents.model import Status
from bot.incidents.waits import Hung, Wait
from bot.store import RunState
from bot.store.waits import EndedWait, WaitRow
from storage.columns import AnyRow
from storage.incidents import Known
from storage.part import Part
from storage.tables import jobs, occurrences, runs
from storage.wait_tables import IS_OPEN, downstream_waits

KEEP_LAGS = 20
_MICROSECOND = timedelta(microseconds=1)

_waits = downstream_waits
_OWN = jobs.alias("own")
_OWED_BY = jobs.alias("owed_by")
_KEY = tuple(_waits.primary_key.columns)
_INSERT = insert(_waits)
_PUT = _INSERT.on_conflict_do_update(
    index_elements=[column.name for column in _KEY],
    set_={
        name: _INSERT.excluded[name]
        for name in ("told", "alone", "cleared_at", "ended_at", "without", "delay", "lag", "learned_from")
    },
)
_HANG = (
    _waits.update()
    .where(
        _waits.c.record == bindparam("of_record"),
        _waits.c.number == bindparam("of_number"),
        _waits.c.scheduler == bindparam("of_scheduler"),
        _waits.c.job == bindparam("of_job"),
        _waits.c.nominal_time == bindparam("of_time"),
        _waits.c.hung.is_(None),
    )
    .values(hung=bindparam("as_hung"), hung_at=bindparam("at"))
)
_RENAME = (
    _waits.update()
    .where(_waits.c.scheduler == bindparam("of_scheduler"), _waits.c.name == bindparam("was"), text(IS_OPEN))
    .values(name=bindparam("to"))
)


def _looked(*where: ColumnElement[bool]) -> Select[Any]:
    return (
        select(
            _waits,
            occurrences.c.status,
            occurrences.c.opened_at,
            _OWED_BY.c.scheduler.label("up_scheduler"),
            _OWED_BY.c.name.label("up_job"),
        )
        .join(occurrences, and_(occurrences.c.record == _waits.c.record, occurrences.c.number == _waits.c.number))
        .join(_OWED_BY, _OWED_BY.c.id == occurrences.c.job_id)
        .where(text(f"downstream_waits.{IS_OPEN}"), *where)
    )


_SINCE = _waits.c.since >= bindparam("since")
_OF_JOB = _looked(_waits.c.scheduler == bindparam("of_scheduler"), _waits.c.name == bindparam("of_name"))
_HUNG = _looked(_waits.c.hung.is_not(None), _waits.c.told == false()).limit(bindparam("most"))
_STUCK = _looked(
    _SINCE,
    _waits.c.hung.in_((Hung.LATE, Hung.FAILED)),
    _waits.c.told == true(),
    _waits.c.alone == false(),
    _waits.c.cleared_at.is_not(None),
).limit(bindparam("most"))
_DONE_AT = (
    select(func.min(func.coalesce(runs.c.ended_at, runs.c.at)))
    .where(runs.c.job_id == _OWN.c.id, runs.c.nominal_time == _waits.c.nominal_time, runs.c.state == RunState.SUCCEEDED)
    .correlate(_OWN, _waits)
    .scalar_subquery()
)
_OWN_JOB = and_(_OWN.c.scheduler == _waits.c.scheduler, _OWN.c.name == _waits.c.name)
_EXACT = (
    _looked(_SINCE, _waits.c.loose == false(), _DONE_AT.is_not(None))
    .join(_OWN, _OWN_JOB)
    .add_columns(_OWN.c.id.label("own_id"), _DONE_AT.label("done_at"))
    .limit(bindparam("most"))
)
_LOOSE = (
    _looked(_SINCE, _waits.c.loose == true())
    .join(_OWN, _OWN_JOB)
    .add_columns(_OWN.c.id.label("own_id"), _OWN.c.memory)
    .limit(bindparam("most"))
)
_LAGS = (
    select(runs.c.nominal_time, func.coalesce(runs.c.ended_at, runs.c.at).label("done_at"))
    .where(
        runs.c.job_id == bindparam("job"),
        runs.c.nominal_time < bindparam("before"),
        runs.c.nominal_time >= bindparam("after"),
        runs.c.state == RunState.SUCCEEDED,
        or_(runs.c.trigger == "schedule", runs.c.trigger == "rerun"),
    )
    .order_by(runs.c.nominal_time.desc())
    .limit(KEEP_LAGS)
)
_LEARNED_OVER = timedelta(days=366)


def put(connection: Connection, changed: Iterable[tuple[Known, Wait]]) -> None:
    """Write the waits of occurrences as they stand; what their own jobs told stays."""
    rows = [_values(known, wait) for known, wait in changed]
    if rows:
        connection.execute(_PUT, rows)


def of_job(connection: Connection, job: JobKey) -> tuple[WaitRow, ...]:
    """For what the job waits; the farthest up first, then the longest open."""
    found = connection.execute(_OF_JOB, {"of_scheduler": job.scheduler, "of_name": job.name})
    return tuple(sorted((_row(row) for row in found), key=lambda one: (-one.depth, one.opened_at, one.record)))


def hang_if_not_yet(connection: Connection, wait: WaitRow, *, what: Hung, at: datetime) -> None:
    """Its job did that because of the occurrence, which is told of it later."""
    values = {
        "of_record": wait.record,
        "of_number": wait.number,
        "of_scheduler": wait.job.scheduler,
        "of_job": wait.job.name,
        "of_time": wait.nominal_time,
    }
    connection.execute(_HANG, {**values, "as_hung": what, "at": at})


def rename(connection: Connection, *, scheduler: str, was: str, to: str) -> None:
    connection.execute(_RENAME, {"of_scheduler": scheduler, "was": was, "to": to})


class DownstreamRoom(Part):
    """Implements `bot.store.waits.WaitStore`."""

    def hung_waits(self, *, limit: int) -> tuple[WaitRow, ...]:
        return self._waits(_HUNG, most=limit)

    def stuck_waits(self, *, since: datetime, limit: int) -> tuple[WaitRow, ...]:
        return self._waits(_STUCK, since=since, most=limit)

    def ended_waits(self, *, since: datetime, limit: int) -> tuple[EndedWait, ...]:
        with self._database.read() as connection:
            values = {"since": since, "most": limit}
            done = [(row, row.done_at) for row in connection.execute(_EXACT, values)]
            loose = [(row, _done_at(row, row.memory.last_good)) for row in connection.execute(_LOOSE, values)]
            return tuple(
                EndedWait(wait=_row(row), ended_at=at, lags=_lags(connection, row))
                for row, at in (*done, *loose)
                if at is not None
            )

    def _waits(self, statement: Select[Any], **values: Any) -> tuple[WaitRow, ...]:
        with self._database.read() as connection:
            return tuple(_row(row) for row in connection.execute(statement, values))


def _done_at(row: AnyRow, good: GoodRun | None) -> datetime | None:
    """When a run ended that serves the wait as well as that of its own nominal time would."""
    if good is None:
        return None
    if row.nominal_time is None:
        return good.ended_at if row.cleared_at is not None and good.ended_at >= row.cleared_at else None
    time = good.run.nominal_time
    served = good.ended_at >= row.since if time is None else time >= row.nominal_time
    return good.ended_at if served else None


def _lags(connection: Connection, row: AnyRow) -> tuple[timedelta, ...]:
    if row.nominal_time is None:
        return ()
    values = {"job": row.own_id, "before": row.nominal_time, "after": row.nominal_time - _LEARNED_OVER}
    return tuple(known.done_at - known.nominal_time for known in connection.execute(_LAGS, values))


def _row(row: AnyRow) -> WaitRow:
    return WaitRow(
        record=row.record,
        number=row.number,
        upstream=JobKey(scheduler=row.up_scheduler, name=row.up_job),
        status=Status(row.status),
        opened_at=row.opened_at,
        job=JobKey(scheduler=row.scheduler, name=row.job),
        now_called=JobKey(scheduler=row.scheduler, name=row.name),
        nominal_time=row.nominal_time,
        since=row.since,
        depth=row.depth,
        cleared_at=row.cleared_at,
        hung=Hung(row.hung) if row.hung else None,
        hung_at=row.hung_at,
    )


def _values(known: Known, wait: Wait) -> Mapping[str, object]:
    scheduler, _, name = wait.job.partition("/")
    return {
        "record": known.incident.record,
        "number": known.incident.number,
        "scheduler": scheduler,
        "job": name,
        "nominal_time": wait.nominal_time,
        "name": name,
        "since": wait.since,
        "depth": wait.depth,
        "loose": wait.loose,
        "told": wait.hung is not None,
        "alone": wait.alone,
        "cleared_at": wait.cleared_at,
        "ended_at": wait.ended_at,
        "without": wait.without,
        "delay": _microseconds(wait.delay),
        "lag": _microseconds(wait.lag),
        "learned_from": wait.learned_from,
    }


def _microseconds(span: timedelta | None) -> int | None:
    return None if span is None else span // _MICROSECOND


def changed(before: Known | None, after: Known) -> Collection[Wait]:
    """The waits that are not as they were stored."""
    if before is None or not before.incident.waits:
        return after.incident.waits
    known = set(before.incident.waits)
    return tuple(wait for wait in after.incident.waits if wait not in known)
