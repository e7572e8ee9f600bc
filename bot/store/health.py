"""What is asked of the record as a whole: figures of a scope and period, durations of two compared, baselines. No SQL."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

from bot.incidents.comparing import Ranks
from bot.incidents.health import Baseline, Health, HealthRow, Period, Scope
from bot.incidents.keys import JobKey
from bot.incidents.model import Outcome, Status


class RowsOf(StrEnum):
    """What a line of the table is."""

    TEAM = "team"
    JOB = "job"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cohort:
    """What comparisons need of the occurrences opened in a period beside their `Health`.

    `needed`: those that were not settled alone; `answered` of them had an act of their team. `settled`: by the end of the
    period. `corrected`: where a reviewer put anything right. `observed`: nobody was to be asked.
    """

    needed: int = 0
    answered: int = 0
    settled: int = 0
    corrected: int = 0
    observed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """The figures of one scope in one period, its table, and how many opened and settled in each hour.

    An hour is told by its beginning; the hours begin where those of the period's own zone do.
    """

    health: Health
    cohort: Cohort = Cohort()
    rows: tuple[HealthRow, ...] = ()
    opened: Mapping[datetime, int] = field(default_factory=dict)
    settled: Mapping[datetime, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """The durations of two periods as ranks: to the first answer, to the good run, and downstream delay an occurrence."""

    acknowledged: Ranks
    recovery: Ranks
    delay: Ranks


@dataclass(frozen=True, slots=True, kw_only=True)
class OccurrenceRow:
    """One occurrence as a line of a file: what is measured of it, and nobody's name.

    `to_answer` and `to_recover` are empty where there is nothing to tell; `rejected`: a value of it was left out, since its
    clocks contradict each other; `marked`: its first answer fell into an absence of ontrack.
    """

    record: int
    number: int
    job: JobKey
    team: str
    cause: str
    status: Status
    outcome: Outcome | None
    opened_at: datetime
    failed_at: datetime | None
    answered_at: datetime | None
    recovered_at: datetime | None
    closed_at: datetime | None
    to_answer: timedelta | None
    to_recover: timedelta | None
    late_runs: int
    repeat: bool
    fixed: bool
    decided: str | None
    corrected: bool
    false_alarm: bool
    handed: bool
    observed: bool
    delay: timedelta
    delayed: int
    rejected: bool
    marked: bool


class HealthReads(Protocol):
    """Looks into the newest committed state. Raises `bot.store.StorageDown`."""

    def at_once(self) -> AbstractContextManager[object]:
        """What this thread reads inside the block is one consistent picture."""

    def picture(self, scope: Scope, period: Period, *, by: RowsOf, now: datetime) -> Picture:
        """The figures of the scope in the period, and one row for each team or job that has any."""

    def compared(self, scope: Scope, *, before: Period, after: Period) -> Compared:
        """The durations of both periods, ranked together."""

    def occurrence_rows(self, scope: Scope, period: Period, *, limit: int) -> tuple[OccurrenceRow, ...]:
        """Those that opened in the period, the newest first, at most so many."""

    def first_occurrence_at(self) -> datetime | None:
        """Since when there is anything to compare with."""


class BaselineStore(Protocol):
    """Every method is a transaction of its own. Raises `bot.store.StorageDown`."""

    def add_baseline(self, baseline: Baseline) -> None:
        """It stands from now on; those before it stay."""

    def baselines(self, *, limit: int) -> tuple[Baseline, ...]:
        """The newest first."""
