"""The read side: looks for pages, commands, messages and figures, on connections that block no writer. Changes nothing."""

from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, bindparam, func, select, text

from bot.evidence.types import Evidence
from bot.incidents.keys import JobKey, RunRef
from bot.incidents.memory import GoodRun
from bot.incidents.model import UNRESOLVED, Incident
from bot.store import Booking, EffectRow, EffectState, GoodRunFacts, JobRow, PastFailures, Scope, TimelineRow, Which
from storage import budgets, incidents, ledger, past
from storage.chronic_reads import SqlChronicReads
from storage.columns import AnyRow
from storage.graph_reads import SqlGraphReads
from storage.health_reads import SqlHealthReads
from storage.jobs import job_row
from storage.page_reads import SqlPageReads
from storage.queue import EFFECTS
from storage.queue_tables import IS_UNSETTLED, IS_WANTED, conversations, outbox, timers, views
from storage.rows import effect_row
from storage.storm_reads import SqlStormReads
from storage.tables import IS_UNRESOLVED, evidence, jobs, occurrences, reruns, runs, timeline
from storage.team_reads import SqlTeamReads


def _of(table: Any) -> ColumnElement[bool]:
    return and_(table.c.record == bindparam("record"), table.c.number == bindparam("number"))


_JOBS = (
    select(jobs.c.id, jobs.c.scheduler, jobs.c.name, jobs.c.memory)
    .where(jobs.c.renamed_to.is_(None))
    .order_by(jobs.c.scheduler, jobs.c.name)
)
_JOB = _JOBS.where(jobs.c.scheduler == bindparam("scheduler"), jobs.c.name == bindparam("name"))
_NEWEST_FIRST = (
    select(occurrences.c.document, jobs.c.scheduler, jobs.c.name)
    .join(jobs, jobs.c.id == occurrences.c.job_id)
    .order_by(occurrences.c.opened_at.desc(), occurrences.c.record.desc(), occurrences.c.number.desc())
    .execution_options(yield_per=100)
)
_UNRESOLVED_ONLY = _NEWEST_FIRST.where(text(f"occurrences.{IS_UNRESOLVED}"))
_NEWEST_NUMBER = select(func.max(occurrences.c.number).label("newest")).where(
    occurrences.c.record == bindparam("record")
)
_CONVERSATION = (
    select(conversations.c.channel, conversations.c.root_ts)
    .join(occurrences, occurrences.c.conversation_id == conversations.c.id)
    .where(_of(occurrences))
)
_AT = (
    select(views.c.record, views.c.number)
    .join(conversations, conversations.c.id == views.c.conversation_id)
    .where(
        conversations.c.channel == bindparam("channel"),
        conversations.c.root_ts == bindparam("root_ts"),
        views.c.storm.is_(None),
    )
)
_TIMELINE = select(timeline).where(_of(timeline)).order_by(timeline.c.id)
_EVIDENCE = select(evidence.c.document).where(evidence.c.key == bindparam("key"))
_RERUNS = select(reruns).where(_of(reruns)).order_by(reruns.c.at, reruns.c.key)
_RERUN_KEYS = (
    select(reruns.c.key)
    .join(jobs, jobs.c.id == reruns.c.job_id)
    .where(jobs.c.scheduler == bindparam("scheduler"), jobs.c.name == bindparam("name"))
    .order_by(reruns.c.at.desc(), reruns.c.key)
    .limit(bindparam("most"))
)
_FACTS = (
    select(runs.c.facts)
    .join(jobs, jobs.c.id == runs.c.job_id)
    .where(
        jobs.c.scheduler == bindparam("scheduler"),
        jobs.c.name == bindparam("name"),
        runs.c.nominal_time == bindparam("nominal_time"),
        runs.c.run_id == bindparam("run_id"),
        runs.c.generation == bindparam("generation"),
    )
)
_OUTBOX = (
    EFFECTS.where(outbox.c.state.in_(bindparam("states", expanding=True)))
    .order_by(outbox.c.id.desc())
    .limit(bindparam("most"))
)
_COUNTS: tuple[tuple[str, Select[Any]], ...] = (
    (
        "incidents.",
        select(occurrences.c.status, func.count())
        .where(text(f"occurrences.{IS_UNRESOLVED}"))
        .group_by(occurrences.c.status),
    ),
    ("outbox.", select(outbox.c.state, func.count()).where(text(IS_UNSETTLED)).group_by(outbox.c.state)),
)
_ALL_NAMES = select(func.count()).select_from(jobs).scalar_subquery()
_OLD_NAMES = select(func.count()).select_from(jobs).where(jobs.c.renamed_to.is_not(None)).scalar_subquery()
_TOTALS: tuple[tuple[str, Select[Any]], ...] = (
    ("views", select(func.count()).select_from(views).where(text(IS_WANTED))),
    ("timers", select(func.count()).select_from(timers)),
    ("jobs", select(_ALL_NAMES - _OLD_NAMES)),
)


class SqlReads(SqlTeamReads, SqlStormReads, SqlChronicReads, SqlPageReads, SqlGraphReads, SqlHealthReads):
    """Implements `bot.store.Reads`, `bot.store.page_reads.PageReads` and `bot.store.health.HealthReads`."""

    def at_once(self) -> AbstractContextManager[object]:
        return self._database.read()

    def incident(self, *, record: int, number: int) -> Incident | None:
        with self._database.read() as connection:
            known = incidents.occurrence(connection, record=record, number=number)
        return known.incident if known else None

    def incidents(self, *, which: Which, jobs: str = "*", limit: int) -> tuple[Incident, ...]:
        statement = _UNRESOLVED_ONLY if which is Which.UNRESOLVED else _NEWEST_FIRST
        with self._database.read() as connection, connection.execute(statement) as rows:
            found = (row.document for row in rows if fnmatchcase(f"{row.scheduler}/{row.name}", jobs))
            return tuple(islice(found, limit))

    def occurrences_of(self, *, record: int) -> int:
        row = self._first(_NEWEST_NUMBER, record=record)
        return int(row.newest or 0) if row else 0

    def occurrence_at(self, *, channel: str, root_ts: str) -> tuple[int, int] | None:
        row = self._first(_AT, channel=channel, root_ts=root_ts)
        return (row.record, row.number) if row else None

    def conversation_of(self, *, record: int, number: int) -> tuple[str, str | None] | None:
        row = self._first(_CONVERSATION, record=record, number=number)
        return (row.channel, row.root_ts) if row else None

    def timeline(self, *, record: int, number: int) -> tuple[TimelineRow, ...]:
        with self._database.read() as connection:
            rows = connection.execute(_TIMELINE, {"record": record, "number": number}).all()
        return tuple(
            TimelineRow(
                id=row.id,
                at=row.at,
                version=row.version,
                key=row.key,
                kind=row.kind,
                reason=row.reason,
                by=row.by,
                facts=row.facts,
            )
            for row in rows
        )

    def evidence(self, *, key: str) -> Evidence | None:
        row = self._first(_EVIDENCE, key=key)
        return row.document if row else None

    def booked(self, *, scopes: Collection[Scope]) -> dict[Scope, float]:
        with self._database.read() as connection:
            return budgets.booked(connection, scopes)

    def reruns_of(self, *, record: int, number: int) -> tuple[Booking, ...]:
        with self._database.read() as connection:
            rows = connection.execute(_RERUNS, {"record": record, "number": number}).all()
        return tuple(budgets.booking_of(row) for row in rows)

    def rerun_keys(self, job: JobKey, *, most: int) -> tuple[str, ...]:
        asked = {"scheduler": job.scheduler, "name": job.name, "most": most}
        with self._database.read() as connection:
            return tuple(row.key for row in connection.execute(_RERUN_KEYS, asked))

    def outcomes(self, *, keys: Collection[str]) -> dict[str, Mapping[str, Any]]:
        with self._database.read() as connection:
            return ledger.outcomes(connection, keys)

    def job(self, *, key: JobKey) -> JobRow | None:
        with self._database.read() as connection:
            return _job(connection, key)

    def jobs(self) -> tuple[JobRow, ...]:
        with self._database.read() as connection:
            return tuple(job_row(row) for row in connection.execute(_JOBS))

    def run_facts(self, *, job: JobKey, run: RunRef) -> dict[str, Any] | None:
        with self._database.read() as connection:
            return _facts(connection, job, run)

    def good_runs(self, job: JobKey) -> tuple[GoodRunFacts, ...]:
        with self._database.read() as connection:
            row = _job(connection, job)
            return past.good_runs(connection, row) if row else ()

    def last_good_before(self, job: JobKey, *, at: datetime) -> GoodRun | None:
        with self._database.read() as connection:
            row = _job(connection, job)
            return past.last_good_before(connection, row, at=at) if row else None

    def due_at(self, job: JobKey, *, run_id: str) -> datetime | None:
        with self._database.read() as connection:
            row = _job(connection, job)
            return past.due_at(connection, row, run_id=run_id) if row else None

    def past_failures(self, *, job: JobKey, fingerprint: str, limit: int) -> PastFailures:
        with self._database.read() as connection:
            return past.past_failures(connection, job=job, fingerprint=fingerprint, limit=limit)

    def others_with_cause(self, *, cause: str, since: datetime, job: JobKey, limit: int) -> tuple[JobKey, ...]:
        with self._database.read() as connection:
            return past.others_with_cause(connection, cause=cause, since=since, job=job, limit=limit)

    def outbox(self, *, states: Collection[EffectState], limit: int) -> tuple[EffectRow, ...]:
        with self._database.read() as connection:
            rows = connection.execute(_OUTBOX, {"states": sorted(states), "most": limit}).all()
        return tuple(effect_row(row) for row in rows)

    def counts(self) -> dict[str, int]:
        found = {f"incidents.{status}": 0 for status in sorted(UNRESOLVED)}
        found |= {f"outbox.{state}": 0 for state in (EffectState.SENDING, EffectState.WAITING)}
        with self._database.read() as connection:
            for prefix, statement in _COUNTS:
                found |= {f"{prefix}{name}": count for name, count in connection.execute(statement)}
            for name, statement in _TOTALS:
                found[name] = connection.execute(statement).scalar_one()
        return found

    def _first(self, statement: Select[Any], **values: object) -> AnyRow | None:
        with self._database.read() as connection:
            return connection.execute(statement, values).first()


def _job(connection: Connection, key: JobKey) -> JobRow | None:
    row = connection.execute(_JOB, {"scheduler": key.scheduler, "name": key.name}).first()
    return job_row(row) if row else None


def _facts(connection: Connection, job: JobKey, run: RunRef) -> dict[str, Any] | None:
    row = connection.execute(
        _FACTS,
        {
            "scheduler": job.scheduler,
            "name": job.name,
            "nominal_time": run.nominal_time,
            "run_id": run.run_id,
            "generation": run.generation,
        },
    ).first()
    return (row.facts or {}) if row else None
