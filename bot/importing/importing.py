"""Brings in the past of a scheduler, page by page: runs, what they usually take and cost, occurrences that ended back then.

Whatever was brought in before stays as it is, so that it may be broken off and begun again. It must not tell, ask or rerun
anything: `bot.intake.past` says what a page may do.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.incidents.keys import JobKey
from bot.incidents.memory import KEEP_SAMPLES
from bot.intake.batch import JobsMoved
from bot.intake.past import PastTransaction, Tally
from bot.intake.past_job import PastJob, with_past
from bot.intake.reading import ReadEvent, duration_of, read_source
from bot.intake.worlds import Worlds
from bot.ports import Clock, Historian, HistoryDown
from bot.sources import SourceEvent, SourceKind
from bot.store import GoodRunFacts, StaleIncident, Storage, StorageDown

TRIES = 5
AT_ONCE = 100
GOOD_KEPT, FACTS_KEPT = 20, 5

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far the past of a scheduler was read: `events` so far, the newest of them at `at`."""

    scheduler: str
    events: int
    at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What the import of one scheduler did between these instants; `trouble`: why its past was not read to its end."""

    scheduler: str
    since: datetime
    until: datetime
    jobs: int = 0
    tally: Tally = field(default_factory=Tally)
    trouble: str = ""


class Importing:
    """One import; `said` is told after each page. Raises `StorageDown`."""

    def __init__(self, *, storage: Storage, worlds: Worlds, clock: Clock, said: Callable[[Progress], None]) -> None:
        self._storage = storage
        self._worlds = worlds
        self._clock = clock
        self._said = said
        self._past: dict[JobKey, PastJob] = {}
        self._good: dict[JobKey, tuple[GoodRunFacts, ...]] = {}
        self._moved: dict[JobKey, JobKey] = {}

    def bring_in(self, historian: Historian, *, since: datetime, until: datetime) -> Imported:
        """Take in what ended in `[since, until)`; what was read before something went wrong stands."""
        tally, events, at, trouble = Tally(), 0, None, ""
        self._past, self._good = {}, {}
        try:
            for page in historian.history(since=since, until=until):
                told = [one for one in page if one.run is not None and not one.will_retry and one.change is None]
                tally += self._page(told)
                events += len(told)
                at = max((one.at for one in told), default=at)
                self._said(Progress(scheduler=historian.name, events=events, at=at))
        except HistoryDown as down:
            trouble = str(down)
        for jobs in _parts(sorted(self._past), AT_ONCE):
            self._learn(jobs)
        left = sum(one.open is not None for one in self._past.values())
        return Imported(
            scheduler=historian.name,
            since=since,
            until=until,
            jobs=len(self._past),
            tally=tally + Tally(unpaid=left),
            trouble=trouble,
        )

    def _page(self, events: Sequence[SourceEvent]) -> Tally:
        read = [self._read(self._renamed(event)) for event in events]
        return self._store(read) if read else Tally()

    def _read(self, event: SourceEvent) -> ReadEvent:
        """The event with its evidence read; what is compared with are the good runs before it, not those since."""
        known = self._good.get(event.job, ())
        read = read_source(
            event,
            rules=self._worlds.rules_of(event.job),
            good_runs=lambda job: known,
            no_addresses=self._worlds.policy_of(event.job).hides_addresses,
        )
        if event.kind is SourceKind.RUN_SUCCEEDED:
            newest = GoodRunFacts(facts=read.facts, took=duration_of(event))
            older = (replace(one, facts={}) for one in known[FACTS_KEPT - 1 :])
            self._good[event.job] = (newest, *known[: FACTS_KEPT - 1], *older)[:GOOD_KEPT]
        return read

    def _store(self, page: Sequence[ReadEvent]) -> Tally:
        """Write the page in one transaction, or halves of it, so that what cannot be taken in stands alone, loudly."""
        failed: Exception | None = None
        for _ in range(TRIES):
            try:
                return self._once(page)
            except StaleIncident as lost:
                failed = lost
            except JobsMoved as moved:
                failed = moved
                self._move(moved.names)
                page = [replace(one, source=self._renamed(one.source)) for one in page]
            except StorageDown:
                raise
            except Exception as poison:  # noqa: BLE001 a poison event must not take its neighbours with it
                failed = poison
                break
        if len(page) == 1:
            log.error("a past run could not be taken in", extra={"key": page[0].source.key}, exc_info=failed)
            return Tally(rejected=1)
        half = len(page) // 2
        return self._store(page[:half]) + self._store(page[half:])

    def _once(self, page: Sequence[ReadEvent]) -> Tally:
        now = self._clock()
        with self._storage.begin_write(born_leased=False, now=now) as uow:
            transaction = PastTransaction(uow, self._worlds.of, self._past, now)
            transaction.run(page)
            uow.commit()
        self._past |= transaction.jobs
        return transaction.tally

    def _learn(self, jobs: Sequence[JobKey]) -> None:
        """What the jobs' past says of how long they take stands with the jobs from now on."""
        now = self._clock()
        with self._storage.begin_write(born_leased=False, now=now) as uow:
            for key, row in uow.lock_jobs(keys=jobs, now=now).items():
                good = uow.newest_good_runs(job=row.id, limit=KEEP_SAMPLES)
                memory = with_past(row.memory, good, self._past[key].memory)
                if memory != row.memory and row.renamed_to is None:
                    uow.save_job(replace(row, memory=memory))
            uow.commit()

    def _move(self, names: Mapping[JobKey, JobKey]) -> None:
        for was, now in names.items():
            self._moved[was] = now
            if was in self._past:
                self._past[now] = self._past.pop(was)

    def _renamed(self, event: SourceEvent) -> SourceEvent:
        return replace(event, job=self._moved.get(event.job, event.job))


def _parts(jobs: Sequence[JobKey], size: int) -> Iterator[Sequence[JobKey]]:
    for first in range(0, len(jobs), size):
        yield jobs[first : first + size]
