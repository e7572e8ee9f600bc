"""The read side of graphs: who reads what whom writes, a level at a time and by index. It never reads a whole graph."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, false, or_, select, true, tuple_

from bot.incidents.keys import JobKey
from bot.incidents.memory import JobMemory
from bot.store.waits import Level
from storage.database import Database
from storage.lineage_edges import BELIEVED, believed
from storage.lineage_tables import lineage_uses
from storage.tables import jobs

_WRITER, _READER = lineage_uses.alias("writer"), lineage_uses.alias("reader")
_READERS = (
    select(_WRITER.c.scheduler.label("up_scheduler"), _WRITER.c.job.label("up_job"), _READER.c.scheduler, _READER.c.job)
    .where(
        tuple_(_WRITER.c.scheduler, _WRITER.c.job).in_(bindparam("jobs", expanding=True)),
        _WRITER.c.writes == true(),
        believed(_WRITER),
        _READER.c.dataset == _WRITER.c.dataset,
        _READER.c.writes == false(),
        believed(_READER),
        or_(_READER.c.scheduler != _WRITER.c.scheduler, _READER.c.job != _WRITER.c.job),
    )
    .limit(bindparam("most"))
)
_MEMORIES = select(jobs.c.scheduler, jobs.c.name, jobs.c.memory).where(
    tuple_(jobs.c.scheduler, jobs.c.name).in_(bindparam("jobs", expanding=True))
)


class SqlGraphReads:
    """Implements `bot.store.waits.WaitReads`."""

    _database: Database

    def readers_of(self, *, jobs: Collection[JobKey], now: datetime, limit: int) -> Level:
        values = {"jobs": _named(jobs), "since": now - BELIEVED, "most": limit}
        found: dict[JobKey, set[JobKey]] = {}
        with self._database.read() as connection:
            rows = connection.execute(_READERS, values).all() if jobs else ()
        for row in rows:
            upstream = JobKey(scheduler=row.up_scheduler, name=row.up_job)
            found.setdefault(upstream, set()).add(JobKey(scheduler=row.scheduler, name=row.job))
        return Level(downstream={job: tuple(sorted(known)) for job, known in found.items()}, more=len(rows) >= limit)

    def memories_of(self, *, jobs: Collection[JobKey]) -> dict[JobKey, JobMemory]:
        if not jobs:
            return {}
        with self._database.read() as connection:
            rows = connection.execute(_MEMORIES, {"jobs": _named(jobs)})
            return {JobKey(scheduler=row.scheduler, name=row.name): row.memory for row in rows}


def _named(jobs: Collection[JobKey]) -> list[tuple[Any, Any]]:
    return [(job.scheduler, job.name) for job in sorted(jobs)]
