"""Which downstream jobs wait for an owed run. Pure; the graph itself comes from policies and sources."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from bot.incidents.memory import JobMemory
from bot.incidents.situation import Waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class Downstream:
    """A downstream job as known now: `due_at` is its latest nominal time that has come (None: no schedule)."""

    job: str
    memory: JobMemory | None
    due_at: datetime | None
    next_run_at: datetime | None


def waiting(jobs: Iterable[Downstream], owed_since: datetime | None) -> tuple[Waiting, ...]:
    """The downstream jobs, each with whether it waits for a run that is owed since that nominal time (None: nothing is).

    A job waits when its own nominal time has come since and no good run of it has; without a schedule it runs when the
    upstream is there, so that it waits from the start.
    """
    return tuple(_waiting(one, owed_since) for one in jobs)


def _waiting(one: Downstream, owed_since: datetime | None) -> Waiting:
    if owed_since is None:
        return Waiting(job=one.job, waits=False, next_run_at=one.next_run_at)
    since = one.due_at if one.next_run_at is not None or one.due_at is not None else owed_since
    good = one.memory.last_good if one.memory else None
    good_at = (good.run.nominal_time or good.ended_at) if good else None
    waits = since is not None and since >= owed_since and (good_at is None or good_at < since)
    return Waiting(job=one.job, waits=waits, since=since if waits else None, next_run_at=one.next_run_at)
