"""Polls one Airflow at a low rate and reports what changed; backs off while it is unwell, goes on after a restart.

`step` is driven by one thread of whoever leads, and waits for Airflow: not the one that starts local jobs in time.
"""

import logging
from datetime import datetime, timedelta
from pathlib import Path

from bot.ports import Report
from bot.schedulers.airflow.assets import Assets
from bot.schedulers.airflow.dags import Dags
from bot.schedulers.airflow.memory import keep, recalled
from bot.schedulers.airflow.runs import Runs
from bot.schedulers.airflow.scheduler import AirflowScheduler
from bot.wire.exchange import NoAnswer, NotSent, Refused, Unwell

POLL = timedelta(seconds=15)
READING = timedelta(seconds=15)
GO_ON = timedelta(seconds=1)
LONGEST_BACKOFF = timedelta(minutes=5)
PRUNED_EVERY = timedelta(hours=1)

log = logging.getLogger(__name__)


def told_within(every: timedelta | None) -> timedelta:
    """How long it may take until the poll has told what happens now, while all is well."""
    return 2 * (every or POLL) + READING


class AirflowPoller:
    """`trouble`: why the last step read nothing, in words; empty while all is well."""

    def __init__(self, scheduler: AirflowScheduler, *, state: Path, report: Report) -> None:
        self._scheduler = scheduler
        self._path = state / "polled.json"
        self._report = report
        self._every = scheduler.spec.poll or POLL
        self._memory = recalled(self._path)
        client, name = scheduler.client, scheduler.name
        self._runs = Runs(client, self._memory, scheduler=name, base=scheduler.spec.url)
        self._assets = Assets(client, scheduler=name)
        self._dags = Dags(client, self._memory, scheduler=name, uses_of=self._assets.uses_of)
        self._due_at: datetime | None = None
        self._pruned_at: datetime | None = None
        self._failed = 0
        self.trouble = ""

    def step(self, now: datetime) -> datetime:
        """Read a page where one is due and report it; returns when to step again. Raises what `report` raises."""
        if self._due_at is not None and now < self._due_at:
            return self._due_at
        self._due_at = now + self._every
        try:
            more = self._poll(now)
        except (Refused, Unwell, NotSent, NoAnswer) as trouble:
            self._due_at = now + self._backed_off(trouble)
            return self._due_at
        if self.trouble:
            log.info("airflow is read again", extra={"scheduler": self._scheduler.name})
        self.trouble, self._failed = "", 0
        if more:
            self._due_at = now + min(GO_ON, self._every)
        return self._due_at

    def _poll(self, now: datetime) -> bool:
        if not self._runs.more and (self._dags.due_at is None or now >= self._dags.due_at):
            self._read_next(now)
        batch = self._runs.read(now)
        if batch.events:
            self._report(batch.events)
        self._runs.done(batch)
        if self._pruned_at is None or now - self._pruned_at >= PRUNED_EVERY:
            self._memory.prune(now)
            self._pruned_at = now
        self._keep()
        if batch.trouble is not None:
            raise batch.trouble
        return self._runs.more or self._dags.due_at is None or now >= self._dags.due_at

    def _read_next(self, now: datetime) -> None:
        """A page of the assets where they are due, with which the DAGs are told; then one of the DAGs."""
        if self._assets.due(now):
            self._read_assets(now)
        if not self._assets.due(now):
            self._read_dags(now)

    def _read_assets(self, now: datetime) -> None:
        try:
            self._assets.read(now)
        except Refused as no:
            if no.retry_after is not None:
                raise
            self._assets.put_off(now)
            log.info("airflow does not show its assets", extra={"scheduler": self._scheduler.name, "error": str(no)})

    def _read_dags(self, now: datetime) -> None:
        try:
            batch = self._dags.read(now)
        except Refused as no:
            if no.retry_after is not None:
                raise
            self._dags.put_off(now)
            log.warning("airflow does not show its dags", extra={"scheduler": self._scheduler.name, "error": str(no)})
            return
        if batch.events:
            self._report(batch.events)
        self._dags.done(batch)
        self._scheduler.learn(self._dags.next_runs())

    def _keep(self) -> None:
        try:
            keep(self._path, self._memory)
        except OSError as failed:
            log.warning("what was polled is not kept", extra={"path": str(self._path), "error": str(failed)})

    def _backed_off(self, trouble: Exception) -> timedelta:
        if str(trouble) != self.trouble:
            told = {"scheduler": self._scheduler.name, "error": str(trouble)}
            log.warning("airflow cannot be read", extra=told)
        self.trouble = str(trouble)
        wait = min(self._every * int(2 ** min(self._failed, 10)), LONGEST_BACKOFF)
        self._failed += 1
        wish = trouble.retry_after if isinstance(trouble, Refused | Unwell) else None
        return max(wait, wish) if wish is not None else wait
