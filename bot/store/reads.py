"""The read side of the storage port: what pages, commands and messages may look up. No SQL, nothing here changes a row."""

from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Protocol

from bot.evidence.types import Evidence
from bot.incidents.keys import JobKey, RunRef
from bot.incidents.memory import GoodRun
from bot.incidents.model import Incident
from bot.incidents.people import By
from bot.store.chronic_reads import ChronicReads
from bot.store.rows import Booking, EffectRow, EffectState, JobRow, Scope
from bot.store.storm_reads import StormReads
from bot.store.team_reads import TeamReads
from bot.store.waits import WaitReads


class Which(StrEnum):
    """Which occurrences are listed."""

    UNRESOLVED = "unresolved"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineRow:
    """One row of an occurrence's timeline, in the order in which it was written; `version` is what it led to."""

    id: int
    at: datetime
    version: int
    key: str
    kind: str
    reason: str
    by: By | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoodRunFacts:
    """What is known of one good run: its masked facts, and how long it took."""

    facts: Mapping[str, Any] = field(default_factory=dict)
    took: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PastFailures:
    """The settled occurrences of one fingerprint of a job: how many, and the newest of them first."""

    times: int = 0
    newest: tuple[Incident, ...] = ()


class Reads(TeamReads, StormReads, ChronicReads, WaitReads, Protocol):
    """Looks into the newest committed state; every method is one consistent picture. Raises `bot.store.StorageDown`."""

    def at_once(self) -> AbstractContextManager[object]:
        """What this thread reads inside the block is one consistent picture, and costs one connection."""

    def incident(self, *, record: int, number: int) -> Incident | None: ...

    def incidents(self, *, which: Which, jobs: str = "*", limit: int) -> tuple[Incident, ...]:
        """The newest first; `jobs` is a glob on `scheduler/job`."""

    def occurrences_of(self, *, record: int) -> int:
        """How many occurrences the record has; the last of them bears that number."""

    def occurrence_at(self, *, channel: str, root_ts: str) -> tuple[int, int] | None:
        """The occurrence that the thread with this root shows."""

    def conversation_of(self, *, record: int, number: int) -> tuple[str, str | None] | None:
        """Channel and `ts` of the root of the occurrence's thread (None: not posted yet)."""

    def timeline(self, *, record: int, number: int) -> tuple[TimelineRow, ...]: ...

    def evidence(self, *, key: str) -> Evidence | None: ...

    def booked(self, *, scopes: Collection[Scope]) -> dict[Scope, float]:
        """The automatic amounts used or reserved in these budget periods."""

    def reruns_of(self, *, record: int, number: int) -> tuple[Booking, ...]:
        """The bookings of the occurrence, oldest first."""

    def rerun_keys(self, job: JobKey, *, most: int) -> tuple[str, ...]:
        """The keys of the reruns and starts that ontrack booked for the job, the newest first."""

    def outcomes(self, *, keys: Collection[str]) -> dict[str, Mapping[str, Any]]:
        """The stored outcomes of events that were taken in, by idempotency key."""

    def job(self, *, key: JobKey) -> JobRow | None: ...

    def jobs(self) -> tuple[JobRow, ...]: ...

    def run_facts(self, *, job: JobKey, run: RunRef) -> dict[str, Any] | None:
        """The facts of this generation of the run; None: it is not known."""

    def good_runs(self, job: JobKey) -> tuple[GoodRunFacts, ...]:
        """The job's last good run, with which a failure is compared, and good runs before it, by which numbers are judged.

        Of those before it big facts are left out, and of runs without a nominal time all but their durations.
        """

    def last_good_before(self, job: JobKey, *, at: datetime) -> GoodRun | None:
        """The job's good run that was the last one at that instant."""

    def due_at(self, job: JobKey, *, run_id: str) -> datetime | None:
        """The nominal time of the job's run with this id; None where it has none, or is not known."""

    def past_failures(self, *, job: JobKey, fingerprint: str, limit: int) -> PastFailures:
        """How this failure of the job ended whenever it came."""

    def others_with_cause(self, *, cause: str, since: datetime, job: JobKey, limit: int) -> tuple[JobKey, ...]:
        """The other jobs of which an occurrence with this cause was opened since then, the newest first."""

    def outbox(self, *, states: Collection[EffectState], limit: int) -> tuple[EffectRow, ...]:
        """Rows of the outbox in these states, the newest first."""

    def counts(self) -> dict[str, int]:
        """What is still to be done, by name: `incidents.<status>`, `outbox.<state>`, `views`, `timers`, `jobs`."""
