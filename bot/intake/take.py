"""Takes events in: one transaction for a list of them, decided job by job in memory and written once.

Nothing else changes an incident. Between reading and committing there is no network call.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from uuid import uuid4

from bot.incidents.keys import JobKey
from bot.intake.batch import NOBODY, JobsMoved, Prepared
from bot.intake.changes import renamed
from bot.intake.graph import Dependents, Graph
from bot.intake.heard import Heard
from bot.intake.inbound import DeadlinePassed, Inbound, Outcome, Result, under_new_name
from bot.intake.reading import ReadEvent, read_source
from bot.intake.transaction import Transaction
from bot.intake.worlds import Worlds
from bot.intake.writing import AllowanceGone
from bot.sources import SourceEvent, SourceKind
from bot.store import EVERYTHING, Committed, KeyTaken, Reads, Share, StaleIncident, Storage, StorageDown

log = logging.getLogger(__name__)

TRIES = 5


class Intake:
    """The use case behind every door, timer and delivery.

    `worlds` tells what holds for a job outside the transaction (from memory, no I/O); `committed` is called after each
    commit with what is to be done at once. Of what is due, the effects in `share` are born leased by this process.
    `heard`: when each source told something last. `read`: how a source's event is read, where not from what it says.
    """

    def __init__(
        self,
        *,
        storage: Storage,
        reads: Reads,
        worlds: Worlds,
        clock: Callable[[], datetime],
        committed: Callable[[Committed], None],
        born_leased: bool = True,
        share: Callable[[], Share] = lambda: EVERYTHING,
        read: Callable[[SourceEvent], ReadEvent] | None = None,
    ) -> None:
        self._storage = storage
        self._reads = reads
        self._worlds = worlds
        self._graph = Graph(worlds=worlds, reads=reads)
        self._clock = clock
        self._committed = committed
        self._born_leased = born_leased
        self._share = share
        self._read_source = read or self._as_told
        self.heard = Heard()

    def take_in(self, inbounds: Sequence[Inbound]) -> list[Outcome]:
        """Take the events in, in order; returns one outcome each, after the commit.

        A batch that fails is halved until the event that fails stands alone: that one is rejected, loudly, as is one that
        cannot even be read. Raises `StorageDown` when nothing could be stored.
        """
        sources = {one.event.job.scheduler for one in inbounds if isinstance(one.event, SourceEvent)}
        if sources:
            self.heard.note(sources, self._clock())
        read = [self._read(inbound) for inbound in inbounds]
        readable = [one for one in read if isinstance(one, Prepared)]
        stored = (outcome for batch in _apart(readable) for outcome in self._store(batch))
        return [next(stored) if isinstance(one, Prepared) else one for one in read]

    def _read(self, inbound: Inbound) -> Prepared | Outcome:
        try:
            return self._prepared(inbound)
        except StorageDown:
            raise
        except Exception as poison:  # noqa: BLE001 a poison event must not take its neighbours with it
            return _rejected(inbound, poison)

    def _prepared(self, inbound: Inbound) -> Prepared:
        if isinstance(inbound.event, DeadlinePassed):
            deadline = inbound.event
            return Prepared(inbound=inbound, downstream=self._dependents(deadline.job, deadline.nominal_time))
        if not isinstance(inbound.event, SourceEvent):
            return Prepared(inbound=inbound)
        source = self._read_source(inbound.event)
        return Prepared(inbound=inbound, source=source, downstream=self._downstream(inbound.event))

    def _as_told(self, event: SourceEvent) -> ReadEvent:
        return read_source(
            event,
            rules=self._worlds.rules_of(event.job),
            good_runs=self._reads.good_runs,
            no_addresses=self._worlds.policy_of(event.job).hides_addresses,
        )

    def _downstream(self, source: SourceEvent) -> Dependents:
        """Who waits downstream for a run that failed for good."""
        if source.run is None or source.kind is not SourceKind.RUN_FAILED or source.will_retry:
            return NOBODY
        return self._dependents(source.job, source.run.nominal_time or source.at)

    def _dependents(self, job: JobKey, owed_since: datetime) -> Dependents:
        return self._graph.dependents(job, self._clock(), owed_since=owed_since)

    def _store(self, batch: list[Prepared]) -> list[Outcome]:
        failed: Exception | None = None
        for _ in range(TRIES):
            try:
                return self._once(batch)
            except (StaleIncident, AllowanceGone, KeyTaken) as lost:
                failed = lost
            except JobsMoved as moved:
                failed = moved
                batch = [self._prepared(under_new_name(one.inbound, moved.names)) for one in batch]
            except StorageDown:
                raise
            except Exception as poison:  # noqa: BLE001 a poison event must not take its neighbours with it
                failed = poison
                break
        if len(batch) == 1:
            return [_rejected(batch[0].inbound, failed)]
        half = len(batch) // 2
        return self._store(batch[:half]) + self._store(batch[half:])

    def _once(self, batch: list[Prepared]) -> list[Outcome]:
        now = self._clock()
        with self._storage.begin_write(born_leased=self._born_leased, now=now, share=self._share()) as uow:
            outcomes = Transaction(uow, self._worlds.of, self._worlds.around, now).run(batch)
            committed = uow.commit()
        self._committed(committed)
        return outcomes


def _apart(events: list[Prepared]) -> Iterator[list[Prepared]]:
    """The events in their order, those that rename a job each alone: what comes after may speak of the new name."""
    batch: list[Prepared] = []
    for one in events:
        renames = one.source is not None and renamed(one.source.source) is not None
        if renames and batch:
            yield batch
            batch = []
        batch.append(one)
        if renames:
            yield batch
            batch = []
    if batch:
        yield batch


def _rejected(inbound: Inbound, failed: Exception | None) -> Outcome:
    number = uuid4().hex[:8]
    log.error("event could not be taken in", extra={"key": inbound.key, "id": number}, exc_info=failed)
    return Outcome(result=Result.REJECTED, reason=f"could not be taken in (id {number}); it was logged")
