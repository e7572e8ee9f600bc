"""The read side of the web pages: lists of occurrences by keyset, the runs of a job, what is like a failure. Changes nothing.

No statement here grows with the table: lists of what is over take a look at so many rows and tell where to go on.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from sqlalchemy import Select, bindparam, literal, or_, select, text, tuple_

from bot.incidents.keys import JobKey, RunRef, Trigger
from bot.incidents.model import UNRESOLVED, Outcome, Status
from bot.store import RunState
from bot.store.page_reads import RecordLine, RecordLines, RecordPlace, RecordsWanted, RunLine
from storage.columns import AnyRow, Instant
from storage.database import Database
from storage.tables import IS_UNRESOLVED, MATTERS, jobs, occurrences, runs

LOOKED_AT = 10_000
ALIKE_LOOKED_AT = 5_000

_COLUMNS = (
    occurrences.c.record,
    occurrences.c.number,
    occurrences.c.status,
    occurrences.c.cause,
    occurrences.c.fingerprint,
    occurrences.c.opened_at,
    occurrences.c.closed_at,
    occurrences.c.outcome,
    occurrences.c.acknowledged_by,
    occurrences.c.acknowledged_until,
    jobs.c.scheduler,
    jobs.c.name,
)
_NAME = (occurrences.c.record, occurrences.c.number)
_OPENED_AT = occurrences.c.opened_at
_OPENED_AT_UNINDEXED = occurrences.c.opened_at.op("+")(text("0"))
"""For lists that a partial index holds: by its own index on `opened_at` a planner would walk through everything else."""
_LINES = select(*_COLUMNS).join(jobs, jobs.c.id == occurrences.c.job_id)
_UNRESOLVED_ONLY = text(f"occurrences.{IS_UNRESOLVED}")
_MATTERING_ONLY = text(f"occurrences.{MATTERS}")
_JOB = (
    select(jobs.c.id)
    .where(jobs.c.scheduler == bindparam("scheduler"), jobs.c.name == bindparam("name"))
    .scalar_subquery()
)
_OF_RECORD = (
    _LINES.where(occurrences.c.record == bindparam("record"))
    .order_by(occurrences.c.number.desc())
    .limit(bindparam("most"))
)
_OPEN_OF_JOB = _LINES.where(occurrences.c.job_id == _JOB, _UNRESOLVED_ONLY)
_CLOSED_OF_JOB = (
    _LINES.where(occurrences.c.job_id == _JOB, occurrences.c.closed_at.is_not(None))
    .order_by(occurrences.c.closed_at.desc(), occurrences.c.record.desc(), occurrences.c.number.desc())
    .limit(bindparam("most"))
)
_SAME = _CLOSED_OF_JOB.where(occurrences.c.fingerprint == bindparam("fingerprint"))
_LATELY = (
    select(occurrences)
    .where(occurrences.c.opened_at >= bindparam("since"))
    .order_by(occurrences.c.opened_at.desc())
    .limit(ALIKE_LOOKED_AT)
    .subquery()
)
_ALIKE = (
    select(*(_LATELY.c[column.name] if column.table is occurrences else column for column in _COLUMNS))
    .join(jobs, jobs.c.id == _LATELY.c.job_id)
    .where(
        or_(_LATELY.c.fingerprint == bindparam("fingerprint"), _LATELY.c.cause == bindparam("cause")),
        or_(jobs.c.scheduler != bindparam("scheduler"), jobs.c.name != bindparam("name")),
    )
    .order_by(_LATELY.c.opened_at.desc(), _LATELY.c.record.desc(), _LATELY.c.number.desc())
    .limit(bindparam("most"))
)
_RUN_COLUMNS = (
    runs.c.nominal_time,
    runs.c.run_id,
    runs.c.generation,
    runs.c.attempt,
    runs.c.trigger,
    runs.c.url,
    runs.c.state,
    runs.c.at,
    runs.c.started_at,
    runs.c.ended_at,
    runs.c.cause,
    runs.c.by,
)
_RUNS = select(*_RUN_COLUMNS).where(runs.c.job_id == _JOB).limit(bindparam("most"))
_TIMED_RUNS = _RUNS.where(runs.c.nominal_time > bindparam("nominal_time")).order_by(
    runs.c.nominal_time.desc(), runs.c.run_id.desc(), runs.c.generation.desc()
)
_UNTIMED_RUNS = _RUNS.where(runs.c.nominal_time == bindparam("nominal_time")).order_by(
    runs.c.at.desc(), runs.c.run_id.desc(), runs.c.generation.desc()
)


class SqlPageReads:
    """Implements `bot.store.page_reads.PageReads`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record_lines(
        self, wanted: RecordsWanted, *, keep: Callable[[JobKey], bool], before: RecordPlace | None, limit: int
    ) -> RecordLines:
        statement, looks = _listing(wanted, before)
        kept: list[RecordLine] = []
        known: dict[tuple[str, str], bool] = {}
        looked_at, last = 0, before
        with self._database.read() as connection, connection.execute(statement) as rows:
            for row in rows:
                looked_at, last = looked_at + 1, _place(row)
                name = (row.scheduler, row.name)
                if (wanted.cause is not None and row.cause != wanted.cause) or (
                    wanted.statuses and row.status not in wanted.statuses
                ):
                    continue
                if name not in known:
                    known[name] = keep(JobKey(scheduler=row.scheduler, name=row.name))
                if known[name]:
                    kept.append(_line(row))
                if len(kept) > limit:
                    return RecordLines(lines=tuple(kept[:limit]), older=_place(kept[limit - 1]), looked_at=looked_at)
        more = looks is not None and looked_at >= looks
        return RecordLines(lines=tuple(kept), older=last if more else None, looked_at=looked_at)

    def occurrence_lines(self, *, record: int, limit: int) -> tuple[RecordLine, ...]:
        return self._lines(_OF_RECORD, record=record, most=limit)

    def job_lines(self, *, job: JobKey, limit: int) -> tuple[RecordLine, ...]:
        named = {"scheduler": job.scheduler, "name": job.name}
        with self._database.read() as connection:
            rows = [
                *connection.execute(_OPEN_OF_JOB, named),
                *connection.execute(_CLOSED_OF_JOB, named | {"most": limit}),
            ]
        return tuple(_line(row) for row in rows)[:limit]

    def same_failure(self, *, job: JobKey, fingerprint: str, limit: int) -> tuple[RecordLine, ...]:
        return self._lines(_SAME, scheduler=job.scheduler, name=job.name, fingerprint=fingerprint, most=limit)

    def alike_elsewhere(
        self, *, job: JobKey, fingerprint: str, cause: str | None, since: datetime, limit: int
    ) -> tuple[RecordLine, ...]:
        return self._lines(
            _ALIKE,
            scheduler=job.scheduler,
            name=job.name,
            fingerprint=fingerprint,
            cause=cause or "",
            since=since,
            most=limit,
        )

    def newest_runs(self, *, job: JobKey, limit: int) -> tuple[RunLine, ...]:
        values: dict[str, Any] = {
            "scheduler": job.scheduler,
            "name": job.name,
            "nominal_time": None,
            "most": limit,
        }
        with self._database.read() as connection:
            found = [
                _run(row) for statement in (_TIMED_RUNS, _UNTIMED_RUNS) for row in connection.execute(statement, values)
            ]
        return tuple(sorted(found, key=_began, reverse=True)[:limit])

    def _lines(self, statement: Select[Any], **values: object) -> tuple[RecordLine, ...]:
        with self._database.read() as connection:
            return tuple(_line(row) for row in connection.execute(statement, values))


def _listing(wanted: RecordsWanted, before: RecordPlace | None) -> tuple[Select[Any], int | None]:
    """The statement, and at how many rows it looks (None: at all, since an index holds these few alone)."""
    few = bool(wanted.statuses) and Status.RESOLVED not in wanted.statuses
    opened_at = _OPENED_AT_UNINDEXED if few else _OPENED_AT
    order = (opened_at, *_NAME)
    statement = _LINES.order_by(*(column.desc() for column in order)).execution_options(yield_per=200)
    if before is not None:
        at = (before.opened_at, before.record, before.number)
        reached = tuple_(*(literal(value, column.type) for value, column in zip(at, order, strict=True)))
        statement = statement.where(tuple_(*order) < reached)
    if wanted.since is not None:
        statement = statement.where(opened_at >= literal(wanted.since, Instant()))
    if few:
        return statement.where(_UNRESOLVED_ONLY if wanted.statuses <= UNRESOLVED else _MATTERING_ONLY), None
    if before is not None:
        statement = statement.where(opened_at <= before.opened_at)
    return statement.limit(LOOKED_AT), LOOKED_AT


def _line(row: AnyRow) -> RecordLine:
    return RecordLine(
        record=row.record,
        number=row.number,
        job=JobKey(scheduler=row.scheduler, name=row.name),
        status=Status(row.status),
        cause=row.cause,
        fingerprint=row.fingerprint,
        opened_at=row.opened_at,
        closed_at=row.closed_at,
        outcome=Outcome(row.outcome) if row.outcome else None,
        held_by=row.acknowledged_by,
        held_until=row.acknowledged_until,
    )


def _place(row: RecordLine | AnyRow) -> RecordPlace:
    return RecordPlace(opened_at=row.opened_at, record=row.record, number=row.number)


def _run(row: AnyRow) -> RunLine:
    return RunLine(
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
        cause=row.cause,
        by=row.by,
    )


def _began(line: RunLine) -> tuple[datetime, int]:
    return line.run.nominal_time or line.started_at or line.at, line.run.generation
