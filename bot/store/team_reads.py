"""What the Home tab and the digest may look up about many jobs at once. No SQL, nothing here changes a row."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from bot.incidents.keys import JobKey
from bot.incidents.model import Incident, Status
from bot.store.rows import JobRow


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenLine:
    """An unresolved occurrence as far as lists sort and count by it; `held_by` is the id of who acknowledged it."""

    record: int
    number: int
    job: JobKey
    status: Status
    opened_at: datetime
    cause: str
    held_by: str | None = None
    held_until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskLine:
    """One ask as it was frozen when it was written."""

    at: datetime
    content: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RerunRate:
    """How many reruns under a cause ended, and how many of them went well."""

    worked: int = 0
    ended: int = 0


class TeamReads(Protocol):
    """The part of `bot.store.Reads` that is asked by team; a team's jobs are named by the caller."""

    def open_lines(self) -> tuple[OpenLine, ...]:
        """All unresolved occurrences, the oldest first, without their documents."""

    def job_keys(self) -> tuple[JobKey, ...]:
        """Every job that was ever heard of."""

    def jobs_of(self, jobs: Collection[JobKey]) -> tuple[JobRow, ...]:
        """These jobs with their memories; unknown ones are left out."""

    def ending(self, *, before: datetime) -> tuple[Incident, ...]:
        """The paused and left occurrences whose time is over before then, the first to end first."""

    def settled_since(self, jobs: Collection[JobKey], *, since: datetime) -> tuple[Incident, ...]:
        """What was settled of these jobs at or after then and still is, the oldest first; what only an import knows of aside."""

    def rerun_rates(self, jobs: Collection[JobKey], *, since: datetime) -> dict[str, RerunRate]:
        """How reruns of these jobs that were asked for since then ended, by cause; who stopped one tells nothing."""

    def newest_of(self, jobs: Collection[JobKey]) -> dict[JobKey, tuple[int, int]]:
        """The newest record of each of these jobs, with its last occurrence; jobs without one are left out."""

    def asks_of(self, names: Collection[tuple[int, int]]) -> dict[tuple[int, int], tuple[AskLine, ...]]:
        """The asks of each of these occurrences, oldest first; those without one are left out."""

    def written_at(self, keys: Collection[str]) -> dict[str, datetime]:
        """When the notices with these keys were written; those that are not there are left out."""
