"""Statements about jobs and their runs. They run inside a caller's transaction and commit nothing."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    Connection,
    and_,
    bindparam,
    case,
    exists,
    false,
    func,
    not_,
    or_,
    select,
    true,
    tuple_,
)
from sqlalchemy.dialects.postgresql import insert

from bot.incidents.keys import Cost, JobKey, RunRef, Trigger
from bot.incidents.memory import JobMemory
from bot.store import JobRow, RunRow, RunState
from storage.columns import AnyRow
from storage.tables import jobs, runs
from storage.wait_tables import downstream_waits


def _unended(state: ColumnElement[str]) -> ColumnElement[bool]:
    return or_(state == RunState.STARTED, state == RunState.RETRYING)


_WAITS = (
    exists()
    .where(
        downstream_waits.c.scheduler == jobs.c.scheduler,
        downstream_waits.c.name == jobs.c.name,
        downstream_waits.c.ended_at.is_(None),
    )
    .correlate(jobs)
    .label("waits")
)
_LOCK = (
    select(
        jobs.c.id,
        jobs.c.scheduler,
        jobs.c.name,
        jobs.c.created_at,
        jobs.c.has_occurrences,
        jobs.c.memory,
        jobs.c.renamed_to,
        _WAITS,
    )
    .where(tuple_(jobs.c.scheduler, jobs.c.name).in_(bindparam("keys", expanding=True)))
    .order_by(jobs.c.id)
    .with_for_update(key_share=True)
)
_CREATE = insert(jobs).on_conflict_do_nothing(index_elements=["scheduler", "name"])
_REMEMBER = (
    jobs.update()
    .where(jobs.c.id == bindparam("job"))
    .values(
        memory=bindparam("memory"), has_occurrences=or_(jobs.c.has_occurrences, bindparam("troubled", type_=Boolean))
    )
)
_MARK = jobs.update().where(jobs.c.id.in_(bindparam("ids", expanding=True))).values(has_occurrences=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Locked:
    """The rows by key; the ids of those that ever had trouble, and the keys of those that wait for another's."""

    rows: dict[JobKey, JobRow]
    troubled: frozenset[int]
    waiting: frozenset[JobKey]


def lock_jobs(connection: Connection, *, keys: Collection[JobKey], now: datetime) -> Locked:
    """Lock the rows in ascending id, creating what is missing."""
    found = _lock(connection, keys)
    missing = set(keys) - {JobKey(scheduler=row.scheduler, name=row.name) for row in found}
    if missing:
        fresh = JobMemory()
        connection.execute(
            _CREATE,
            [
                {"scheduler": key.scheduler, "name": key.name, "created_at": now, "memory": fresh}
                for key in sorted(missing)
            ],
        )
        found = _lock(connection, keys)
    rows = [job_row(row) for row in found]
    return Locked(
        rows={row.key: row for row in rows},
        troubled=frozenset(row.id for row in found if row.has_occurrences),
        waiting=frozenset(known.key for known, row in zip(rows, found, strict=True) if row.waits),
    )


def _lock(connection: Connection, keys: Collection[JobKey]) -> Sequence[AnyRow]:
    if not keys:
        return ()
    return connection.execute(_LOCK, {"keys": [(key.scheduler, key.name) for key in keys]}).all()


def job_row(row: AnyRow) -> JobRow:
    return JobRow(
        id=row.id,
        key=JobKey(scheduler=row.scheduler, name=row.name),
        memory=row.memory,
        renamed_to=row._mapping.get("renamed_to"),
        created_at=row._mapping.get("created_at"),
    )


def save_jobs(connection: Connection, rows: Collection[JobRow], *, troubled: Collection[int]) -> None:
    """Write the memories; the jobs in `troubled` have occurrences from now on, whether or not their memory changed."""
    if rows:
        values = [{"job": row.id, "memory": row.memory, "troubled": row.id in troubled} for row in rows]
        connection.execute(_REMEMBER, values)
    others = set(troubled) - {row.id for row in rows}
    if others:
        connection.execute(_MARK, {"ids": sorted(others)})


RUN_COLUMNS = tuple(column for column in runs.c if column is not runs.c.facts)
_KNOWN = (
    select(*RUN_COLUMNS)
    .where(tuple_(runs.c.job_id, runs.c.nominal_time).in_(bindparam("wanted", expanding=True)))
    .order_by(runs.c.job_id, runs.c.nominal_time, runs.c.generation, runs.c.at, runs.c.id)
)


def run_rows(
    connection: Connection, *, wanted: Collection[tuple[int, datetime | None]]
) -> dict[tuple[int, datetime | None], tuple[RunRow, ...]]:
    """All generations known of these nominal times, oldest first; every wanted key is there."""
    found: dict[tuple[int, datetime | None], list[RunRow]] = {key: [] for key in wanted}
    if found:
        for row in connection.execute(_KNOWN, {"wanted": list(found)}):
            found[row.job_id, row.nominal_time].append(run_row(row))
    return {key: tuple(rows) for key, rows in found.items()}


def run_row(row: AnyRow) -> RunRow:
    return RunRow(
        job_id=row.job_id,
        run=RunRef(
            run_id=row.run_id,
            nominal_time=row.nominal_time,
            generation=row.generation,
            attempt=row.attempt,
            trigger=Trigger(row.trigger),
            url=row.url,
        ),
        state=RunState(row.state),
        at=row.at,
        started_at=row.started_at,
        ended_at=row.ended_at,
        cost=Cost(amount=row.cost, unit=row.unit) if row.unit is not None else None,
        rerun_key=row.rerun_key,
        by=row.by,
        fingerprint=row.fingerprint,
        cause=row.cause,
    )


_INSERT_RUN = insert(runs)
_NEW = _INSERT_RUN.excluded
_NOT_OLDER = or_(
    _NEW.attempt > runs.c.attempt,
    and_(_NEW.attempt == runs.c.attempt, _NEW.at >= runs.c.at),
)
_ADVANCES = case(
    (runs.c.state == RunState.SUCCEEDED, and_(_NEW.state == RunState.SUCCEEDED, _NOT_OLDER)),
    (and_(_unended(runs.c.state), not_(_unended(_NEW.state))), true()),
    (and_(not_(_unended(runs.c.state)), _unended(_NEW.state)), false()),
    else_=_NOT_OLDER,
)
_REPLACED = (runs.c.state, runs.c.at, runs.c.attempt, runs.c.trigger, runs.c.fingerprint, runs.c.cause)
_KEPT_WHEN_SILENT = (
    *(runs.c.url, runs.c.started_at, runs.c.ended_at, runs.c.cost, runs.c.unit),
    *(runs.c.rerun_key, runs.c.by, runs.c.facts),
)


def _kept(column: Column[object]) -> object:
    return func.coalesce(_NEW[column.name], column, type_=column.type)


_SAVE_RUN = _INSERT_RUN.on_conflict_do_update(
    index_elements=["job_id", "nominal_time", "run_id", "generation"],
    set_={column.name: _NEW[column.name] for column in _REPLACED}
    | {column.name: _kept(column) for column in _KEPT_WHEN_SILENT},
    where=_ADVANCES,
)


def save_runs(connection: Connection, rows: Iterable[RunRow]) -> None:
    """Insert or advance; an older word about a generation, and one that would undo its end, change nothing."""
    connection.execute(_SAVE_RUN, [_run_values(row) for row in rows])


def _run_values(row: RunRow) -> Mapping[str, object]:
    return {
        "job_id": row.job_id,
        "nominal_time": row.run.nominal_time,
        "run_id": row.run.run_id,
        "generation": row.run.generation,
        "attempt": row.run.attempt,
        "trigger": row.run.trigger,
        "url": row.run.url,
        "state": row.state,
        "at": row.at,
        "started_at": row.started_at,
        "ended_at": row.ended_at,
        "cost": row.cost.amount if row.cost else None,
        "unit": row.cost.unit if row.cost else None,
        "rerun_key": row.rerun_key,
        "by": row.by,
        "fingerprint": row.fingerprint,
        "cause": row.cause,
        "facts": dict(row.facts) or None,
    }
