"""Polls one Maestro, a workflow at a time, spread over the interval; backs off while it is unwell, goes on after a restart.

`step` is driven by one thread of whoever leads, and waits for Maestro: not the one that starts local jobs in time. What its
queue tells of is read by `look_at`, from another thread.
"""

import heapq
import logging
import threading
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from http import HTTPStatus
from pathlib import Path

from bot.ports import Report
from bot.schedulers.maestro.memory import WorkflowSeen, copied, keep, recalled
from bot.schedulers.maestro.scheduler import MaestroScheduler
from bot.schedulers.maestro.watching import Asked, Batch, Watching
from bot.wire.exchange import Refused, Unwell

POLL = timedelta(seconds=30)
APART = timedelta(milliseconds=50)
"""Workflows are read at least so far apart: with very many of them a round takes longer instead."""
AT_ONCE = 20
GO_ON = timedelta(milliseconds=100)
LONGEST_BACKOFF = timedelta(minutes=5)
MISSING_AGAIN = timedelta(minutes=5)
NOT_ALLOWED = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
GONE = "Maestro knows no workflow of this name"

log = logging.getLogger(__name__)


class MaestroPoller:
    """`trouble`: why the last step read nothing, in words; `troubles`: the same of single workflows. Empty while all is well."""

    def __init__(self, scheduler: MaestroScheduler, *, state: Path, report: Report, asked: Asked) -> None:
        spec = scheduler.spec
        self._scheduler = scheduler
        self._state = state
        self._report = report
        self._lock = threading.Lock()
        self._seen: dict[str, WorkflowSeen] = {}
        self._names = tuple(dict.fromkeys(spec.workflows))
        self._every = max(spec.poll or POLL, APART * len(self._names))
        self._watching = Watching(
            scheduler.client, scheduler=scheduler.name, base=spec.url, watched=self._names, asked=asked
        )
        self._due: list[tuple[datetime, int]] = []
        self._held_until: datetime | None = None
        self._failed = 0
        self.trouble = ""
        self.troubles: dict[str, str] = {}

    def step(self, now: datetime) -> datetime:
        """Read the workflows that are due and report them; returns when to step again. Raises what `report` raises."""
        if not self._due:
            self._begin(now)
        if self._held_until is not None and now < self._held_until:
            return self._held_until
        for _ in range(AT_ONCE):
            due_at, number = self._due[0]
            if due_at > now:
                return due_at
            with self._lock:
                batch = self._watching.read(self._recalled(self._names[number]), now)
                self._done(batch)
            again = now + (self._every if batch.whole else GO_ON)
            if batch.gone or batch.trouble is not None:
                again = now + (MISSING_AGAIN if _is_its_own(batch) else self._every)
            heapq.heapreplace(self._due, (max(again, now + GO_ON), number))
            if self._is_unwell(self._names[number], batch, now):
                return self._held_until or now
        return max(self._due[0][0], now + GO_ON)

    def look_at(self, told: Mapping[str, Collection[int]], now: datetime) -> None:
        """Read these instances at once and report what is new of them; a workflow without any is read as a whole.

        Raises what the client and `report` raise.
        """
        for name, instances in told.items():
            if name not in self._names:
                continue
            with self._lock:
                seen = self._recalled(name)
                if instances:
                    batch = self._watching.look_at(seen, instances, now)
                else:
                    self._watching.definitions.look_again(name)
                    batch = self._watching.read(seen, now)
                self._done(batch)
            if batch.trouble is not None:
                raise batch.trouble

    def _begin(self, now: datetime) -> None:
        """Spread over one interval, so that no round is a burst."""
        apart = self._every / len(self._names)
        self._due = [(now + apart * number, number) for number in range(len(self._names))]

    def _recalled(self, name: str) -> WorkflowSeen:
        known = self._seen.get(name)
        if known is None:
            known = self._seen[name] = recalled(self._state, name)
        return copied(known)

    def _done(self, batch: Batch) -> None:
        """What was read counts once its events were taken."""
        if batch.events:
            self._report(batch.events)
        name = batch.seen.name
        changed = batch.seen != self._seen.get(name)
        self._seen[name] = batch.seen
        self._scheduler.learn(dict(self._watching.definitions.next_starts))
        if not changed:
            return
        try:
            keep(self._state, batch.seen)
        except OSError as failed:
            log.warning("what was polled is not kept", extra={"path": str(self._state), "error": str(failed)})

    def _is_unwell(self, name: str, batch: Batch, now: datetime) -> bool:
        """Whether nothing is read for a while: two workflows in a row were not shown, or Maestro asked for it.

        The trouble of one workflow is told once and stops no other.
        """
        trouble = batch.trouble
        words = str(trouble) if trouble is not None else GONE if batch.gone else ""
        new = words and words != self.troubles.get(name)
        self.troubles = {other: why for other, why in self.troubles.items() if other != name}
        if words:
            self.troubles[name] = words
        own = trouble is None or _is_its_own(batch)
        wish = trouble.retry_after if isinstance(trouble, Refused | Unwell) else None
        self._failed = 0 if own else self._failed + 1
        holds = not own and (self._failed > 1 or len(self._names) == 1 or wish is not None)
        if new and not holds:
            told = {"scheduler": self._scheduler.name, "workflow": name, "error": words}
            log.warning("a workflow of maestro cannot be read", extra=told)
        if holds:
            self._hold(str(trouble), wish, now)
        elif own:
            self._well(now)
        return holds

    def _hold(self, why: str, wish: timedelta | None, now: datetime) -> None:
        if why != self.trouble:
            log.warning("maestro cannot be read", extra={"scheduler": self._scheduler.name, "error": why})
        self.trouble = why
        wait = min(min(self._every, POLL) * int(2 ** min(self._failed - 1, 10)), LONGEST_BACKOFF)
        self._held_until = now + (max(wait, wish) if wish is not None else wait)

    def _well(self, now: datetime) -> None:
        """After a pause the workflows are spread anew: all of them are due by then."""
        if self.trouble:
            log.info("maestro is read again", extra={"scheduler": self._scheduler.name})
            self._begin(now)
        self.trouble, self._held_until = "", None


def _is_its_own(batch: Batch) -> bool:
    """Whether the trouble is that of the workflow and not the server's, or that of all that we may do there."""
    no = batch.trouble
    return batch.gone or (isinstance(no, Refused) and no.retry_after is None and no.status not in NOT_ALLOWED)
