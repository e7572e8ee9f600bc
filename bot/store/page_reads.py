"""What web pages may look up: lists of records, the runs of a job, what is like a failure. No SQL, nothing changes a row."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.incidents.keys import JobKey, RunRef
from bot.incidents.model import Outcome, Status
from bot.store.rows import RunState


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordLine:
    """An occurrence as far as lists show it; `held_by` is the id of who acknowledged it."""

    record: int
    number: int
    job: JobKey
    status: Status
    cause: str
    fingerprint: str
    opened_at: datetime
    closed_at: datetime | None = None
    outcome: Outcome | None = None
    held_by: str | None = None
    held_until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordPlace:
    """Where a list stands: at the occurrence that was opened then and has this name."""

    opened_at: datetime
    record: int
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsWanted:
    """What a list is to show; empty `statuses` are all, and each None is no wish."""

    statuses: frozenset[Status] = frozenset()
    cause: str | None = None
    since: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordLines:
    """A page of a list, the newest first. `older`: from where to go on, None at the end; `looked_at`: rows gone through.

    A page may be short, even empty, with `older` set: it took a bounded look and found no more in it.
    """

    lines: tuple[RecordLine, ...] = ()
    older: RecordPlace | None = None
    looked_at: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLine:
    """A run as the history of its job shows it."""

    run: RunRef
    state: RunState
    at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None
    cause: str | None = None
    by: str | None = None


class PageReads(Protocol):
    """Looks into the newest committed state; every method is one consistent picture. Raises `bot.store.StorageDown`."""

    def record_lines(
        self, wanted: RecordsWanted, *, keep: Callable[[JobKey], bool], before: RecordPlace | None, limit: int
    ) -> RecordLines:
        """The occurrences of the jobs that are kept, after `before`. However many there are, a page takes a bounded look."""

    def occurrence_lines(self, *, record: int, limit: int) -> tuple[RecordLine, ...]:
        """The occurrences of one record, the newest first."""

    def job_lines(self, *, job: JobKey, limit: int) -> tuple[RecordLine, ...]:
        """The occurrences of one job, what is unresolved first, then what was settled last."""

    def same_failure(self, *, job: JobKey, fingerprint: str, limit: int) -> tuple[RecordLine, ...]:
        """The settled occurrences of one failure of a job, whenever they were, the last to be settled first."""

    def alike_elsewhere(
        self, *, job: JobKey, fingerprint: str, cause: str | None, since: datetime, limit: int
    ) -> tuple[RecordLine, ...]:
        """Occurrences of other jobs with this fingerprint or cause that were opened since then, the newest first."""

    def newest_runs(self, *, job: JobKey, limit: int) -> tuple[RunLine, ...]:
        """The runs of a job, the newest first."""
