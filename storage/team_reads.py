"""The read side of the Home tab and the digest: what is open, settled, put aside, marked, how reruns went. Changes nothing.

Jobs are asked for in portions, since a statement takes only so many values.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator
from datetime import datetime
from itertools import islice

from sqlalchemy import bindparam, case, func, or_, select, text, true, tuple_

from bot.incidents.effects import ReplyKind, RerunResult
from bot.incidents.keys import JobKey
from bot.incidents.model import Incident, Status, TimerKind
from bot.store import AskLine, EffectKind, JobRow, OpenLine, RerunRate
from storage import notices
from storage.columns import AnyRow
from storage.database import Database
from storage.jobs import job_row
from storage.queue_tables import outbox, timers
from storage.tables import IS_UNRESOLVED, jobs, occurrences, reruns

PORTION = 2000

_THESE_JOBS = tuple_(jobs.c.scheduler, jobs.c.name).in_(bindparam("jobs", expanding=True))
_LINES = (
    select(
        occurrences.c.record,
        occurrences.c.number,
        occurrences.c.status,
        occurrences.c.opened_at,
        occurrences.c.cause,
        occurrences.c.acknowledged_by,
        occurrences.c.acknowledged_until,
        jobs.c.scheduler,
        jobs.c.name,
    )
    .join(jobs, jobs.c.id == occurrences.c.job_id)
    .where(text(f"occurrences.{IS_UNRESOLVED}"))
    .order_by(occurrences.c.opened_at, occurrences.c.record, occurrences.c.number)
)
_JOB_KEYS = (
    select(jobs.c.scheduler, jobs.c.name).where(jobs.c.renamed_to.is_(None)).order_by(jobs.c.scheduler, jobs.c.name)
)
_JOBS = select(jobs.c.id, jobs.c.scheduler, jobs.c.name, jobs.c.memory).where(_THESE_JOBS)
_ENDING = (
    select(occurrences.c.document)
    .join(timers, (timers.c.record == occurrences.c.record) & (timers.c.number == occurrences.c.number))
    .where(
        timers.c.kind == TimerKind.UNTIL,
        timers.c.due_at < bindparam("before"),
        occurrences.c.status.in_([Status.PAUSED, Status.LEFT]),
    )
    .order_by(timers.c.due_at, timers.c.id)
)
_SETTLED = (
    select(occurrences.c.document)
    .join(jobs, jobs.c.id == occurrences.c.job_id)
    .where(
        _THESE_JOBS,
        occurrences.c.closed_at.is_not(None),
        occurrences.c.closed_at >= bindparam("since"),
        or_(occurrences.c.observed.is_not(true()), occurrences.c.conversation_id.is_not(None)),
    )
    .order_by(occurrences.c.closed_at, occurrences.c.record, occurrences.c.number)
)
_RATES = (
    select(
        reruns.c.cause,
        func.count().label("ended"),
        func.sum(case((reruns.c.result == RerunResult.SUCCEEDED, 1), else_=0)).label("worked"),
    )
    .join(jobs, jobs.c.id == reruns.c.job_id)
    .where(
        _THESE_JOBS,
        reruns.c.at >= bindparam("since"),
        reruns.c.result.in_([RerunResult.SUCCEEDED, RerunResult.FAILED]),
    )
    .group_by(reruns.c.cause)
)
_NEWEST = (
    select(jobs.c.scheduler, jobs.c.name, func.max(occurrences.c.record).label("record"))
    .join(occurrences, occurrences.c.job_id == jobs.c.id)
    .where(_THESE_JOBS)
    .group_by(jobs.c.scheduler, jobs.c.name)
)
_NUMBERS = (
    select(occurrences.c.record, func.max(occurrences.c.number).label("number"))
    .where(occurrences.c.record.in_(bindparam("records", expanding=True)))
    .group_by(occurrences.c.record)
)
_NOTES = (
    select(outbox.c.record, outbox.c.number, outbox.c.created_at, outbox.c.content)
    .where(
        tuple_(outbox.c.record, outbox.c.number).in_(bindparam("names", expanding=True)),
        outbox.c.kind.in_([EffectKind.REPLY, EffectKind.DIRECT]),
    )
    .order_by(outbox.c.id)
)


class SqlTeamReads:
    """Implements `bot.store.team_reads.TeamReads`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def open_lines(self) -> tuple[OpenLine, ...]:
        with self._database.read() as connection:
            return tuple(_line(row) for row in connection.execute(_LINES))

    def job_keys(self) -> tuple[JobKey, ...]:
        with self._database.read() as connection:
            return tuple(_key(row) for row in connection.execute(_JOB_KEYS))

    def jobs_of(self, jobs: Collection[JobKey]) -> tuple[JobRow, ...]:
        with self._database.read() as connection:
            found = [job_row(row) for names in _portions(jobs) for row in connection.execute(_JOBS, {"jobs": names})]
        return tuple(sorted(found, key=lambda row: row.key))

    def ending(self, *, before: datetime) -> tuple[Incident, ...]:
        with self._database.read() as connection:
            return tuple(row.document for row in connection.execute(_ENDING, {"before": before}))

    def settled_since(self, jobs: Collection[JobKey], *, since: datetime) -> tuple[Incident, ...]:
        with self._database.read() as connection:
            found = [
                row.document
                for names in _portions(jobs)
                for row in connection.execute(_SETTLED, {"jobs": names, "since": since})
            ]
        return tuple(sorted(found, key=lambda one: (one.closed_at or since, one.record, one.number)))

    def rerun_rates(self, jobs: Collection[JobKey], *, since: datetime) -> dict[str, RerunRate]:
        found: dict[str, RerunRate] = {}
        with self._database.read() as connection:
            for names in _portions(jobs):
                for row in connection.execute(_RATES, {"jobs": names, "since": since}):
                    known = found.get(row.cause, RerunRate())
                    found[row.cause] = RerunRate(worked=known.worked + int(row.worked), ended=known.ended + row.ended)
        return found

    def newest_of(self, jobs: Collection[JobKey]) -> dict[JobKey, tuple[int, int]]:
        with self._database.read() as connection:
            records = {
                row.record: _key(row)
                for names in _portions(jobs)
                for row in connection.execute(_NEWEST, {"jobs": names})
            }
            numbers = connection.execute(_NUMBERS, {"records": sorted(records)})
            return {records[row.record]: (row.record, row.number) for row in numbers}

    def asks_of(self, names: Collection[tuple[int, int]]) -> dict[tuple[int, int], tuple[AskLine, ...]]:
        found: defaultdict[tuple[int, int], tuple[AskLine, ...]] = defaultdict(tuple)
        with self._database.read() as connection:
            for row in connection.execute(_NOTES, {"names": sorted(names)}):
                if row.content.get("kind") == ReplyKind.ASK:
                    found[row.record, row.number] += (AskLine(at=row.created_at, content=row.content),)
        return dict(found)

    def written_at(self, keys: Collection[str]) -> dict[str, datetime]:
        with self._database.read() as connection:
            return notices.written_at(connection, keys)


def _line(row: AnyRow) -> OpenLine:
    return OpenLine(
        record=row.record,
        number=row.number,
        job=_key(row),
        status=Status(row.status),
        opened_at=row.opened_at,
        cause=row.cause,
        held_by=row.acknowledged_by,
        held_until=row.acknowledged_until,
    )


def _key(row: AnyRow) -> JobKey:
    return JobKey(scheduler=row.scheduler, name=row.name)


def _portions(wanted: Collection[JobKey]) -> Iterator[list[tuple[str, str]]]:
    names = iter(sorted((key.scheduler, key.name) for key in wanted))
    while portion := list(islice(names, PORTION)):
        yield portion
