"""Which failures reruns mend again and again: what the digest lists. No SQL, nothing here changes a row."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.incidents.keys import JobKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Chronic:
    """A failure of a job that recovered by a rerun so many times; `record` is the newest of them, `cause` what it was."""

    job: JobKey
    fingerprint: str
    cause: str
    times: int
    last_at: datetime
    record: int


class ChronicReads(Protocol):
    """Looks into the newest committed state. Raises `bot.store.StorageDown`."""

    def chronic(self, jobs: Collection[JobKey], *, since: datetime, times: int) -> tuple[Chronic, ...]:
        """The failures of these jobs that recovered by a rerun at least so often since then, the most often first."""
