"""What the database holds at one instant, read beside the product. It judges nothing and changes nothing."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, select, text
from sqlalchemy.exc import ProgrammingError

from bot.incidents.model import UNRESOLVED, Incident
from bot.store import StorageDown
from storage.columns import AnyRow
from storage.database import Database
from storage.queue_tables import IS_UNSETTLED, IS_WANTED, conversations, outbox, people, policies, timers, views
from storage.tables import evidence, jobs, occurrences, reruns, runs

MIGRATING = 7_231_604_118 & 0xFFFFFFFF
_KEYED = (jobs.c.scheduler, jobs.c.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """Rows as they stand in the tables, those of a job with its `scheduler` and `name`."""

    incidents: tuple[Incident, ...]
    outbox: tuple[AnyRow, ...]
    views: tuple[AnyRow, ...]
    timers: tuple[AnyRow, ...]
    reruns: tuple[AnyRow, ...]
    runs: tuple[AnyRow, ...]
    lost_evidence: int

    def of(self, scheduler: str, name: str) -> list[Incident]:
        """The job's occurrences."""
        return [one for one in self.incidents if (one.job.scheduler, one.job.name) == (scheduler, name)]


class Watch:
    """A connection that only reads, to a database that may not be there yet."""

    def __init__(self, url: str) -> None:
        self._database = Database(url, read_only=True)

    def close(self) -> None:
        self._database.close()

    def picture(self) -> Picture:
        with self._database.read() as connection:
            return Picture(
                incidents=tuple(_incidents(connection)),
                outbox=_all(connection, select(outbox).order_by(outbox.c.id)),
                views=_all(
                    connection, select(views, conversations.c.root_ts, conversations.c.channel).join(conversations)
                ),
                timers=_all(connection, select(timers)),
                reruns=_all(connection, select(reruns)),
                runs=_all(connection, select(runs, *_KEYED).join(jobs)),
                lost_evidence=_lost_evidence(connection),
            )

    def backlog(self, before: datetime) -> int:
        """Effects and roots of before that instant which are neither sent nor given up on."""
        rows = select(func.count()).select_from(outbox).where(text(IS_UNSETTLED), outbox.c.created_at < before)
        roots = (
            select(func.count())
            .select_from(views.join(conversations))
            .where(conversations.c.root_ts.is_(None), views.c.created_at < before)
        )
        return self._number(rows) + self._number(roots)

    def unsettled(self) -> int:
        """Effects and views that are still to be sent."""
        rows = select(func.count()).select_from(outbox).where(text(IS_UNSETTLED))
        return self._number(rows) + self._number(select(func.count()).select_from(views).where(text(IS_WANTED)))

    def people(self) -> int:
        """Those whom the product knows; until it has read the workspace for the first time, nobody may decide, and
        while the schema is being made nobody is known.
        """
        try:
            return self._number(select(func.count()).select_from(people))
        except (StorageDown, ProgrammingError):
            return 0

    def rerunning(self) -> int:
        found = select(func.count()).select_from(occurrences).where(occurrences.c.status == "rerunning")
        return self._number(found)

    def timers_before(self, instant: datetime) -> int:
        return self._number(select(func.count()).select_from(timers).where(timers.c.due_at < instant))

    def timer_of(self, job: str, kind: str) -> datetime | None:
        """When the job's occurrence has this timer due."""
        found = select(timers.c.due_at).join(jobs).where(jobs.c.name == job, timers.c.kind == kind)
        return self._one(found)  # type: ignore[no-any-return]

    def rows_of(self, job: str) -> int:
        """The outbox rows of the job."""
        return self._number(select(func.count()).select_from(outbox.join(jobs)).where(jobs.c.name == job))

    def is_resolved(self, job: str) -> bool:
        found = select(func.count()).select_from(occurrences.join(jobs))
        return self._number(found.where(jobs.c.name == job, occurrences.c.status.not_in(UNRESOLVED))) > 0

    def published(self) -> int:
        """How many versions of the policies were published."""
        return self._number(select(func.count()).select_from(policies))

    def is_acknowledged(self, job: str) -> bool:
        found = select(func.count()).select_from(occurrences.join(jobs))
        return self._number(found.where(jobs.c.name == job, occurrences.c.acknowledged_by.is_not(None))) > 0

    def is_being_migrated(self) -> bool:
        """Somebody holds the lock under which the schema is made."""
        if self._database.sqlite:
            return self._database.path.with_name(f"{self._database.path.name}.lock").exists()
        held = text("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = :key")
        return self._number(held.bindparams(key=MIGRATING)) > 0

    def _number(self, statement: Any) -> int:
        return int(self._one(statement) or 0)

    def _one(self, statement: Any) -> Any:
        """Before the schema is there, nothing is."""
        try:
            with self._database.read() as connection:
                return connection.execute(statement).scalar()
        except StorageDown:
            return None


def _all(connection: Connection, statement: Any) -> tuple[AnyRow, ...]:
    return tuple(connection.execute(statement).all())


def _incidents(connection: Connection) -> Iterator[Incident]:
    found = select(occurrences.c.document).order_by(occurrences.c.record, occurrences.c.number)
    return (row.document for row in connection.execute(found).all())


def _lost_evidence(connection: Connection) -> int:
    """Unresolved occurrences whose evidence is not there."""
    kept = {row.key for row in connection.execute(select(evidence.c.key))}
    found = [one for one in _incidents(connection) if one.failure.evidence and one.failure.evidence not in kept]
    return len(found)
