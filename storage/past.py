"""Statements about what went before: good runs to compare with, earlier failures of one kind, others of one cause.

They only read, on a caller's connection.
"""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, String, and_, bindparam, case, func, or_, select, type_coerce

from bot.incidents.keys import JobKey, RunRef, Trigger
from bot.incidents.memory import GoodRun
from bot.store import GoodRunFacts, JobRow, PastFailures, RunRow, RunState
from storage.columns import AnyRow
from storage.jobs import RUN_COLUMNS, run_row
from storage.tables import jobs, occurrences, runs

GOOD_RUNS = 20
BIG_FACTS = 32 * 1024
"""Characters; the facts of a run before the last good one are left out when they are longer."""

_IS_LAST = and_(
    runs.c.nominal_time == bindparam("nominal_time"),
    runs.c.run_id == bindparam("run_id"),
    runs.c.generation == bindparam("generation"),
)
_OF_JOB = and_(runs.c.job_id == bindparam("job"), runs.c.state == RunState.SUCCEEDED)
_LAST = select(runs.c.facts, runs.c.started_at, runs.c.ended_at).where(runs.c.job_id == bindparam("job"), _IS_LAST)
_GOOD = (
    select(
        case((or_(_IS_LAST, func.length(type_coerce(runs.c.facts, String)) <= BIG_FACTS), runs.c.facts)).label("facts"),
        runs.c.started_at,
        runs.c.ended_at,
        _IS_LAST.label("is_last"),
    )
    .where(_OF_JOB, runs.c.trigger != Trigger.BACKFILL, runs.c.nominal_time <= bindparam("nominal_time"))
    .order_by(runs.c.nominal_time.desc(), runs.c.run_id.desc(), runs.c.generation.desc())
    .limit(GOOD_RUNS)
)
_BEFORE = (
    select(runs)
    .where(_OF_JOB, runs.c.trigger != Trigger.BACKFILL, func.coalesce(runs.c.ended_at, runs.c.at) <= bindparam("until"))
    .order_by(runs.c.nominal_time.desc(), runs.c.run_id.desc(), runs.c.generation.desc())
    .limit(1)
)
_DUE_AT = select(func.max(runs.c.nominal_time)).where(
    runs.c.job_id == bindparam("job"), runs.c.run_id == bindparam("run_id")
)
_SAME = (
    select(occurrences.c.document, func.count().over().label("times"))
    .where(
        occurrences.c.job_id
        == select(jobs.c.id)
        .where(jobs.c.scheduler == bindparam("scheduler"), jobs.c.name == bindparam("name"))
        .scalar_subquery(),
        occurrences.c.fingerprint == bindparam("fingerprint"),
        occurrences.c.closed_at.is_not(None),
    )
    .order_by(occurrences.c.closed_at.desc(), occurrences.c.record.desc(), occurrences.c.number.desc())
    .limit(bindparam("most"))
)
_SAME_CAUSE = (
    select(jobs.c.scheduler, jobs.c.name)
    .join(occurrences, occurrences.c.job_id == jobs.c.id)
    .where(
        occurrences.c.opened_at >= bindparam("since"),
        occurrences.c.cause == bindparam("cause"),
        or_(jobs.c.scheduler != bindparam("scheduler"), jobs.c.name != bindparam("name")),
    )
    .order_by(occurrences.c.opened_at.desc(), occurrences.c.record.desc(), occurrences.c.number.desc())
    .limit(bindparam("most"))
)
_NEWEST_GOOD = (
    select(*RUN_COLUMNS)
    .where(_OF_JOB, runs.c.trigger != Trigger.BACKFILL)
    .order_by(runs.c.nominal_time.desc(), func.coalesce(runs.c.ended_at, runs.c.at).desc(), runs.c.generation.desc())
    .limit(bindparam("most"))
)
_SPANS = select(occurrences.c.opened_at, occurrences.c.closed_at).where(
    occurrences.c.job_id == bindparam("job"),
    or_(occurrences.c.closed_at.is_(None), occurrences.c.closed_at >= bindparam("since")),
)


def newest_good_runs(connection: Connection, *, job: int, limit: int) -> tuple[RunRow, ...]:
    """The last good runs, backfills aside, the oldest first."""
    rows = connection.execute(_NEWEST_GOOD, {"job": job, "most": limit}).all()
    return tuple(run_row(row) for row in reversed(rows))


def spans(connection: Connection, *, job: int, since: datetime) -> tuple[tuple[datetime, datetime | None], ...]:
    """When occurrences opened and were settled, those that were not over before `since`."""
    return tuple((row.opened_at, row.closed_at) for row in connection.execute(_SPANS, {"job": job, "since": since}))


def good_runs(connection: Connection, job: JobRow) -> tuple[GoodRunFacts, ...]:
    """The good run that the job's memory names as the last, then those before it, the newest first."""
    good = job.memory.last_good
    if good is None:
        return ()
    run = good.run
    named = {"job": job.id, "nominal_time": run.nominal_time, "run_id": run.run_id, "generation": run.generation}
    if run.nominal_time is None:
        row = connection.execute(_LAST, named).first()
        durations = [GoodRunFacts(took=sample.duration) for sample in job.memory.samples[:-1]]
        return (_good_run(row), *reversed(durations)) if row else ()
    rows = connection.execute(_GOOD, named).all()
    last = next((row for row in rows if row.is_last), None) or connection.execute(_LAST, named).first()
    if last is None:
        return ()
    return (_good_run(last), *(_good_run(row) for row in rows if not row.is_last))


def last_good_before(connection: Connection, job: JobRow, *, at: datetime) -> GoodRun | None:
    """The good run that was the last one at that instant."""
    row = connection.execute(_BEFORE, {"job": job.id, "until": at}).first()
    if row is None:
        return None
    ended_at: datetime = row.ended_at or row.at
    run = RunRef(
        run_id=row.run_id,
        nominal_time=row.nominal_time,
        generation=row.generation,
        attempt=row.attempt,
        trigger=Trigger(row.trigger),
        url=row.url,
    )
    return GoodRun(run=run, ended_at=ended_at)


def due_at(connection: Connection, job: JobRow, *, run_id: str) -> datetime | None:
    """The nominal time of the job's run with this id."""
    found: datetime | None = connection.execute(_DUE_AT, {"job": job.id, "run_id": run_id}).scalar_one_or_none()
    return found


def past_failures(connection: Connection, *, job: JobKey, fingerprint: str, limit: int) -> PastFailures:
    values: dict[str, Any] = {"scheduler": job.scheduler, "name": job.name, "fingerprint": fingerprint, "most": limit}
    rows = connection.execute(_SAME, values).all()
    return PastFailures(times=rows[0].times if rows else 0, newest=tuple(row.document for row in rows))


def others_with_cause(
    connection: Connection, *, cause: str, since: datetime, job: JobKey, limit: int
) -> tuple[JobKey, ...]:
    values = {"cause": cause, "since": since, "scheduler": job.scheduler, "name": job.name, "most": limit}
    rows = connection.execute(_SAME_CAUSE, values)
    return tuple(dict.fromkeys(JobKey(scheduler=row.scheduler, name=row.name) for row in rows))


def _good_run(row: AnyRow) -> GoodRunFacts:
    took: timedelta | None = row.ended_at - row.started_at if row.started_at and row.ended_at else None
    return GoodRunFacts(facts=row.facts or {}, took=took if took is not None and took >= timedelta() else None)
