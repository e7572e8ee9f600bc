"""The read side of job health: figures of a scope and period in a few statements, whatever their number. Changes nothing."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, bindparam, func, select

from bot.incidents.absence import Absence
from bot.incidents.comparing import Ranks
from bot.incidents.health import Period, Scope
from bot.incidents.keys import JobKey
from bot.store.health import Compared, OccurrenceRow, Picture, RowsOf
from storage import health_statements as statements
from storage.columns import AnyRow
from storage.database import Database
from storage.health_folding import Folded, folded
from storage.health_lines import occurrence_row, occurrence_rows
from storage.health_parts import Within
from storage.health_ranks import DELAY, ranks
from storage.health_times import times
from storage.tables import jobs, occurrences
from storage.watch import absences

_JOB = select(jobs.c.id, jobs.c.renamed_to).where(
    jobs.c.scheduler == bindparam("scheduler"), jobs.c.name == bindparam("name")
)
_NAMES = select(jobs.c.id, jobs.c.scheduler, jobs.c.name).where(jobs.c.id.in_(bindparam("ids", expanding=True)))
_AWAY = (
    select(absences.c.began_at, absences.c.ended_at)
    .where(absences.c.ended_at > bindparam("since"))
    .order_by(absences.c.began_at)
)
_FIRST = select(func.min(occurrences.c.opened_at))
PORTION = 2000
TOLD_LATE = timedelta(days=30)
"""So long before it opened an occurrence may have failed, and ontrack been away since."""
DAY, WEEK, MICROSECOND = timedelta(days=1), timedelta(days=7), timedelta(microseconds=1)


class SqlHealthReads:
    """Implements `bot.store.health.HealthReads`."""

    _database: Database

    def picture(self, scope: Scope, period: Period, *, by: RowsOf, now: datetime) -> Picture:
        at, phase = min(period.until, now), _phase(period)
        with self._database.read() as connection:
            within = _within(connection, scope, since=period.since)
            shape, values = within.shape, within.values(period)
            aged = within.values(period, at=at, day_before=at - DAY, week_before=at - WEEK)
            found = Folded(
                period=period,
                at=at,
                opened=connection.execute(statements.opened(shape, by), values).all(),
                times=times(connection, shape, by, values),
                cases=connection.execute(statements.cases(shape), values).all(),
                ages=connection.execute(statements.ages(shape, by, over=at < now), aged).all(),
                reruns=connection.execute(statements.rerun_figures(shape, by), values).all(),
                repeating=connection.execute(statements.repeating(shape), values).all(),
            )
            names = _names(connection, found.jobs(by))
            hourly = within.values(period, phase=phase // MICROSECOND)
            hours = [
                connection.execute(statements.hours(shape, column), hourly).all()
                for column in ("opened_at", "closed_at")
            ]
        health, cohort, rows = folded(found, scope=scope, by=by, names=names, away=within.away)
        opened, settled = ({_hour(row.hour, phase): row.n for row in counted} for counted in hours)
        return Picture(health=health, cohort=cohort, rows=rows, opened=opened, settled=settled)

    def compared(self, scope: Scope, *, before: Period, after: Period) -> Compared:
        with self._database.read() as connection:
            within = _within(connection, scope, since=min(before.since, after.since))
            both = {"first": min(before.since, after.since), "last": max(before.until, after.until)}
            values = within.values(after, before_since=before.since, before_until=before.until, **both)
            found = {row.kind: _ranks(row) for row in connection.execute(ranks(within.shape), values)}
        acknowledged, recovery, delay = (
            found.get(kind, Ranks()) for kind in (statements.ANSWER, statements.RECOVERY, DELAY)
        )
        return Compared(acknowledged=acknowledged, recovery=recovery, delay=delay)

    def occurrence_rows(self, scope: Scope, period: Period, *, limit: int) -> tuple[OccurrenceRow, ...]:
        with self._database.read() as connection:
            within = _within(connection, scope, since=period.since)
            values = within.values(period, most=limit)
            return tuple(occurrence_row(row) for row in connection.execute(occurrence_rows(within.shape), values))

    def first_occurrence_at(self) -> datetime | None:
        with self._database.read() as connection:
            first: datetime | None = connection.execute(_FIRST).scalar_one()
            return first


def _within(connection: Connection, scope: Scope, *, since: datetime) -> Within:
    """The scope with its job's id, and when ontrack was away since then; an old name leads to the job that it is now."""
    job = _job(connection, scope.job) if scope.job is not None else None
    found = connection.execute(_AWAY, {"since": since - TOLD_LATE})
    away = tuple(Absence(began_at=row.began_at, ended_at=row.ended_at) for row in found)
    return Within(scope=scope, job=job, away=away)


def _job(connection: Connection, key: JobKey) -> int:
    name = {"scheduler": key.scheduler, "name": key.name}
    row = connection.execute(_JOB, name).one_or_none()
    if row is not None and row.renamed_to is not None:
        row = connection.execute(_JOB, name | {"name": row.renamed_to}).one_or_none()
    return row.id if row is not None else 0


def _names(connection: Connection, ids: Iterable[int]) -> dict[int, JobKey]:
    wanted = sorted(ids)
    return {
        row.id: JobKey(scheduler=row.scheduler, name=row.name)
        for first in range(0, len(wanted), PORTION)
        for row in connection.execute(_NAMES, {"ids": wanted[first : first + PORTION]})
    }


def _ranks(row: AnyRow) -> Ranks:
    return Ranks(before=int(row.before), after=int(row.after), doubled_sum=int(row.doubled_sum), ties=int(row.ties))


def _phase(period: Period) -> timedelta:
    """How far the hours of the period's zone begin after the full hour of UTC."""
    offset = period.since.astimezone(ZoneInfo(period.zone)).utcoffset() or timedelta()
    return -offset % timedelta(hours=1)


def _hour(number: int, phase: timedelta) -> datetime:
    return datetime.fromtimestamp(number * 3600, UTC) + phase
