"""The part of the storage port that knows what waits downstream of occurrences, and who reads what whom writes. No SQL.

A wait is written with its occurrence (`Incident.waits`); what its own job did meanwhile is told beside it, so that neither
has to lock the other.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from bot.incidents.keys import JobKey
from bot.incidents.memory import JobMemory
from bot.incidents.model import Status
from bot.incidents.waits import Hung


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitRow:
    """A downstream run that waits for an occurrence. `job` is its name there, `now_called` what its job is called now."""

    record: int
    number: int
    upstream: JobKey
    status: Status
    opened_at: datetime
    job: JobKey
    now_called: JobKey
    nominal_time: datetime | None
    since: datetime
    depth: int
    cleared_at: datetime | None = None
    hung: Hung | None = None
    hung_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedWait:
    """A wait whose own run has ended well; `lags` are how long after their nominal times its job's good runs before it
    ended, the newest first."""

    wait: WaitRow
    ended_at: datetime
    lags: tuple[timedelta, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """The next step down a graph: who is downstream of each job, in order; `more`: some were left off."""

    downstream: Mapping[JobKey, tuple[JobKey, ...]]
    more: bool = False


class WaitReads(Protocol):
    """Looks into the newest committed state. Raises `bot.store.StorageDown`."""

    def readers_of(self, *, jobs: Collection[JobKey], now: datetime, limit: int) -> Level:
        """Who reads what these jobs write, at most so many edges in all; edges not seen for long are not believed."""

    def memories_of(self, *, jobs: Collection[JobKey]) -> dict[JobKey, JobMemory]:
        """What is remembered of these jobs; unknown ones are left out."""


class WaitStore(Protocol):
    """What the step that follows waits asks. Raises `bot.store.StorageDown`."""

    def hung_waits(self, *, limit: int) -> tuple[WaitRow, ...]:
        """Waits of which their occurrence was not told yet what their job did."""

    def ended_waits(self, *, since: datetime, limit: int) -> tuple[EndedWait, ...]:
        """Waits that began since then and whose own run has ended well, of which their occurrence was not told yet."""

    def stuck_waits(self, *, since: datetime, limit: int) -> tuple[WaitRow, ...]:
        """Waits that began since then, late or failed for it, and are not done although nothing that they need is owed."""
