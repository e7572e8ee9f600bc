"""The read side of chronic failures. Changes nothing."""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import bindparam, func, select, tuple_

from bot.incidents.keys import JobKey
from bot.incidents.model import Outcome
from bot.store import Chronic
from storage.database import Database
from storage.tables import jobs, occurrences

PORTION = 2000
_CHRONIC = (
    select(
        jobs.c.scheduler,
        jobs.c.name,
        occurrences.c.fingerprint,
        func.max(occurrences.c.cause).label("cause"),
        func.count().label("times"),
        func.max(occurrences.c.closed_at).label("last_at"),
        func.max(occurrences.c.record).label("record"),
    )
    .join(jobs, jobs.c.id == occurrences.c.job_id)
    .where(
        tuple_(jobs.c.scheduler, jobs.c.name).in_(bindparam("jobs", expanding=True)),
        occurrences.c.closed_at >= bindparam("since"),
        occurrences.c.outcome == Outcome.RECOVERED,
    )
    .group_by(jobs.c.scheduler, jobs.c.name, occurrences.c.fingerprint)
    .having(func.count() >= bindparam("times"))
)


class SqlChronicReads:
    """Implements `bot.store.chronic_reads.ChronicReads`."""

    _database: Database

    def chronic(self, jobs: Collection[JobKey], *, since: datetime, times: int) -> tuple[Chronic, ...]:
        names = sorted((job.scheduler, job.name) for job in jobs)
        found: list[Chronic] = []
        with self._database.read() as connection:
            for first in range(0, len(names), PORTION):
                values = {"jobs": names[first : first + PORTION], "since": since, "times": times}
                found += [
                    Chronic(
                        job=JobKey(scheduler=row.scheduler, name=row.name),
                        fingerprint=row.fingerprint,
                        cause=row.cause,
                        times=row.times,
                        last_at=row.last_at,
                        record=row.record,
                    )
                    for row in connection.execute(_CHRONIC, values)
                ]
        return tuple(sorted(found, key=lambda one: (-one.times, one.job, one.fingerprint)))
