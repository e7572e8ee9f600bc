"""Who is downstream of a job: what policies name, what reads the datasets that it writes, what schedulers tell, joined.

Level by level with indexed looks, never the whole graph; cycles and jobs that name themselves are harmless. Changes nothing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot import cron
from bot.incidents.downstream import Downstream, waiting
from bot.incidents.keys import JobKey
from bot.incidents.memory import JobMemory
from bot.incidents.policy import RecoversBy, Schedule
from bot.incidents.situation import Waiting
from bot.incidents.waits import MOST_WAITS
from bot.intake.worlds import Worlds
from bot.store.waits import WaitReads

MOST_EDGES_A_LEVEL = 1000
MOST_LEVELS = 20
_JUST_BEFORE = timedelta(microseconds=1)

Told = Callable[[Sequence[JobKey]], Mapping[JobKey, Sequence[JobKey]]]
"""A scheduler's own word on who runs after its jobs; from memory, no I/O."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Below:
    """Jobs downstream of one, the nearest first, each with how many steps away it is; `beyond`: so many more, at least."""

    jobs: tuple[tuple[JobKey, int], ...] = ()
    beyond: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependents:
    """The jobs downstream as they stand to a run that is owed; of `beyond` more nothing is known but that they are there."""

    jobs: tuple[Waiting, ...] = ()
    beyond: int = 0


class Graph:
    """Joins the sources of the graph; `told` are those beside policies and datasets."""

    def __init__(self, *, worlds: Worlds, reads: WaitReads, told: Sequence[Told] = ()) -> None:
        self._worlds = worlds
        self._reads = reads
        self._told = tuple(told)

    def below(self, job: JobKey, now: datetime, *, deep: bool, most: int = MOST_WAITS) -> Below:
        """The jobs downstream of `job`: the direct ones, and breadth first those further down where it goes `deep`."""
        found: list[tuple[JobKey, int]] = []
        seen, level, beyond = {job}, [job], 0
        for depth in range(1, MOST_LEVELS + 1 if deep else 2):
            following, more = self._next(level, now)
            new = [one for one in dict.fromkeys(following) if one not in seen]
            seen.update(new)
            room = most - len(found)
            found += [(one, depth) for one in new[:room]]
            beyond += max(0, len(new) - room) + int(more)
            level = new[:room]
            if not level or len(found) >= most:
                break
        return Below(jobs=tuple(found), beyond=beyond)

    def dependents(self, job: JobKey, now: datetime, *, owed_since: datetime | None, deep: bool = True) -> Dependents:
        """The jobs downstream, each with the run of it that needs what is owed since then (None: nothing is)."""
        below = self.below(job, now, deep=deep)
        memories = self._reads.memories_of(jobs=[one for one, _ in below.jobs]) if below.jobs else {}
        known = (
            replace(self._known(one, memories.get(one), owed_since, now), depth=depth) for one, depth in below.jobs
        )
        return Dependents(jobs=waiting(known, owed_since, now), beyond=below.beyond)

    def _next(self, level: Sequence[JobKey], now: datetime) -> tuple[Iterable[JobKey], bool]:
        read = self._reads.readers_of(jobs=level, now=now, limit=MOST_EDGES_A_LEVEL)
        told = [source(level) for source in self._told]
        following: list[JobKey] = []
        for job in level:
            following += [_key(name) for name in self._worlds.policy_of(job).downstream]
            following += read.downstream.get(job, ())
            following += [one for source in told for one in source.get(job, ())]
        return following, read.more

    def _known(self, key: JobKey, memory: JobMemory | None, owed_since: datetime | None, now: datetime) -> Downstream:
        policy = self._worlds.policy_of(key)
        schedule = self._worlds.schedule_of(key, policy) or (memory.schedule if memory else None)
        gone = memory is not None and memory.deleted
        return Downstream(
            job=str(key),
            memory=memory,
            due_at=_due_at(schedule, memory, owed_since) if schedule and owed_since and not gone else None,
            next_run_at=cron.next_after(schedule, now) if schedule and not gone else None,
            later=policy.recovers_by is RecoversBy.ANY_LATER_RUN,
        )


def _due_at(schedule: Schedule, memory: JobMemory | None, owed_since: datetime) -> datetime | None:
    """The first nominal time from `owed_since` on. A scheduler that tells its next run alone has gone past those that are
    due already: what is known of them are their runs."""
    told = cron.next_after(schedule, owed_since - _JUST_BEFORE)
    if memory is None or schedule.cron is not None or schedule.every is not None:
        return told
    good = memory.last_good.run.nominal_time if memory.last_good else None
    failed = (one.run.nominal_time for one in memory.streak)
    times = (told, good, memory.latest_started, *(one.run.nominal_time for one in memory.live), *failed)
    return min((one for one in times if one is not None and one >= owed_since), default=None)


def _key(name: str) -> JobKey:
    scheduler, _, job = name.partition("/")
    return JobKey(scheduler=scheduler, name=job)
