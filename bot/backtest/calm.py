"""Which transactions of history may be played as one: good runs of jobs without trouble, a few minutes of them. It plays nothing.

Such an event changes what its job remembers and nothing else, at whatever instant of the next minutes it is taken in: the
job is known, no occurrence of it is open or in force, nobody asked for the run, no deadline can come due before the end.
"""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta

from bot.backtest.history import TakenIn
from bot.incidents.keys import JobKey, Trigger
from bot.incidents.policy import JobPolicy
from bot.policies.layers import OURS
from bot.sources import SourceEvent, SourceKind

SPAN = timedelta(minutes=5)
MOST = 500
GOOD = frozenset({SourceKind.RUN_SCHEDULED, SourceKind.RUN_STARTED, SourceKind.RUN_SUCCEEDED})


class Calm:
    """Gathers batches until one comes that may not be joined; `troubled` looks which jobs have an occurrence that matters."""

    def __init__(self, *, policy_of: Callable[[JobKey], JobPolicy], troubled: Callable[[], Collection[JobKey]]) -> None:
        self._policy_of = policy_of
        self._troubled = troubled
        self._known: set[JobKey] = set()
        self._gone: set[JobKey] = set()
        self._group: list[TakenIn] = []
        self._jobs: set[JobKey] = set()
        self._restless: frozenset[JobKey] = frozenset()
        self._ends_at: datetime | None = None

    def begin(self, batch: Sequence[TakenIn], *, ends_at: datetime | None) -> bool:
        """Whether a group begins with this batch, which is due now. `ends_at`: when something else falls due."""
        if not self._is_good(batch):
            return False
        self._restless = frozenset(self._troubled())
        if not self._restless.isdisjoint(_jobs_of(batch)):
            return False
        latest = batch[0].at + SPAN
        self._ends_at = latest if ends_at is None else min(latest, ends_at)
        self._add(batch)
        return True

    def join(self, batch: Sequence[TakenIn]) -> bool:
        """Whether the batch was added to the group that has begun."""
        jobs = _jobs_of(batch)
        fits = self._ends_at is not None and batch[0].at < self._ends_at and len(self._group) + len(batch) <= MOST
        apart = self._jobs.isdisjoint(jobs) and self._restless.isdisjoint(jobs)
        if not (self._group and fits and self._is_good(batch) and apart):
            return False
        self._add(batch)
        return True

    def end(self) -> list[TakenIn]:
        """The group, which is over."""
        group, self._group, self._jobs = self._group, [], set()
        return group

    def seen(self, batch: Sequence[TakenIn]) -> None:
        """These were played by themselves; their jobs are known from now on."""
        for one in batch:
            event = one.record.event
            if isinstance(event, SourceEvent):
                self._known.add(event.job)
                if event.change is not None:
                    self._gone.add(event.job)

    def _add(self, batch: Sequence[TakenIn]) -> None:
        self._group += batch
        self._jobs |= _jobs_of(batch)

    def _is_good(self, batch: Sequence[TakenIn]) -> bool:
        return all(self._is_good_run(one.record.event) for one in batch) and len(_jobs_of(batch)) == len(batch)

    def _is_good_run(self, event: object) -> bool:
        if not isinstance(event, SourceEvent) or event.run is None or event.kind not in GOOD:
            return False
        asked_for = event.rerun_key is not None or event.run.trigger is not Trigger.SCHEDULE
        job = event.job
        if asked_for or event.finish_by is not None or job.scheduler == OURS or job in self._gone:
            return False
        return job in self._known and self._policy_of(job).late.grace >= SPAN


def _jobs_of(batch: Sequence[TakenIn]) -> set[JobKey]:
    return {one.record.event.job for one in batch if isinstance(one.record.event, SourceEvent)}
