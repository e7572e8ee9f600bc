"""What a backtest is made from and measured by: the record of events, and what stands in a database of them. A port; no SQL.

The same looks measure what really happened and what a replay brought, so that neither can be counted otherwise.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.evidence.types import Evidence
from bot.incidents.absence import Absence
from bot.incidents.events import AnswerKind
from bot.incidents.keys import Action, JobKey
from bot.intake.recorded import Recorded


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenIn:
    """One recorded event: `batch` tells those that were taken in by one transaction at `at`."""

    key: str
    at: datetime
    batch: int
    record: Recorded


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRequest:
    """Something that was asked of a scheduler under `key`, or looked for, and the answer where there is one."""

    key: str
    action: Action
    job: JobKey
    nominal_times: tuple[datetime | None, ...]
    look: bool
    asked_at: datetime
    answer: AnswerKind | None = None
    message: str = ""
    answered_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PastOccurrence:
    """An occurrence as it stands."""

    record: int
    number: int
    job: JobKey
    cause: str
    opened_at: datetime
    status: str
    outcome: str | None = None
    closed_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRerun:
    """A rerun as it was booked: what it cost (an estimate until it has ended) and how it went (None: not known yet)."""

    key: str
    job: JobKey
    nominal_times: tuple[datetime | None, ...]
    automatic: bool
    first: bool
    at: datetime
    by: str | None
    amount: float | None
    unit: str
    result: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PastAsk:
    """A message that called people: `who` are the people, groups and addresses."""

    job: JobKey
    at: datetime
    kind: str
    who: tuple[str, ...]


class Looks(Protocol):
    """What can be measured in a database; half open periods."""

    def occurrences(self, *, since: datetime, until: datetime) -> tuple[PastOccurrence, ...]:
        """Those opened in the period, the oldest first."""

    def occurrences_of(self, job: JobKey) -> tuple[PastOccurrence, ...]:
        """All of the job, the oldest first."""

    def troubled(self) -> frozenset[JobKey]:
        """The jobs of which an occurrence is open or in force."""

    def has_waits(self) -> bool:
        """Whether anything waits downstream of an occurrence, or has ended and was not told of."""

    def reruns(self, *, since: datetime, until: datetime) -> tuple[PastRerun, ...]:
        """Those booked in the period, the oldest first."""

    def asks(self, *, since: datetime, until: datetime) -> tuple[PastAsk, ...]:
        """The messages of the period that called somebody, the oldest first; one ask by several doors is one."""


class Record(Looks, Protocol):
    """The database that was really worked with, opened for reading only. Raises `bot.store.StorageDown`."""

    def recorded_from(self) -> datetime | None:
        """When the first event was recorded; None: none was."""

    def recorded_until(self) -> datetime | None:
        """When the last one was."""

    def batches(self, *, since: datetime, until: datetime) -> Iterator[Sequence[TakenIn]]:
        """The recorded events, those of one transaction together, in the order in which they were taken in."""

    def evidence(self, keys: Collection[str]) -> Mapping[str, Evidence]:
        """What was read of these failures."""

    def requests(self, *, since: datetime, until: datetime) -> tuple[PastRequest, ...]:
        """What was asked of schedulers in the period, the oldest first."""

    def absences(self, *, since: datetime) -> tuple[Absence, ...]:
        """When ontrack itself was not there, the oldest first."""
