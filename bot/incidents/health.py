"""What managers ask of many occurrences at once, as values: figures of one scope in one period, and two of them compared.

It counts nothing: storage fills these, `docs/job-health.md` defines each of them in the same words. Never per person.
"""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum

from bot.incidents.keys import Cost, JobKey
from bot.incidents.model import DecisionKind

SMALL = 10
"""Of fewer than so many no percentage is told and nothing is compared: the numbers themselves are said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Whose occurrences count; nothing set: the whole company's. Several set: those that meet all of them."""

    team: str | None = None
    job: JobKey | None = None
    scheduler: str | None = None
    cause: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """`[since, until)`; `name` as people say it: "30d", "since 2026-11-01", "2026-10-01..2026-10-31"."""

    since: datetime
    until: datetime
    name: str

    @property
    def length(self) -> timedelta:
        return self.until - self.since


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Durations of `n` occurrences; percentiles by nearest rank (the ceil(p * n)-th smallest), None where `n` is 0."""

    n: int = 0
    p50: timedelta | None = None
    p90: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """`yes` of `n`."""

    n: int = 0
    yes: int = 0

    @property
    def fraction(self) -> float | None:
        """None where too few are counted to tell one."""
        return self.yes / self.n if self.n >= SMALL else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ages:
    """How old the open ones are at the end of the period (now, where that is still to come)."""

    n: int = 0
    under_a_day: int = 0
    under_a_week: int = 0
    older: int = 0
    oldest: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrections:
    """Where a reviewer put right what ontrack had said."""

    cause_changed: int = 0
    false_alarm: int = 0
    wrong_team: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """The figures of one scope in one period.

    `occurrences`: opened in the period; `completed`: settled in it; `cases` the completed ones by outcome or decision in
    force. `acknowledged`: from the failure's end, or the deadline, to the team's first human act; `unattended`: open ones
    without any, by age; `alone`: settled without a person. `automatic`, `approved`: first reruns of an owed time, and how
    many of them succeeded. `spent`: what reruns cost, by unit; `saved`: what rerunning every failure once would have cost
    more than that. `repeats`: occurrences of a fingerprint that its job had before, in the period or the 30 days before
    it; `repeating` the jobs with most of them. `delay`: of downstream runs, in all, over `delayed` runs. `recovery`: from
    the failure's end to the good run. `unresolved` by age. `late`: runs that missed a deadline. `rejected`: values left
    out because their clocks contradict each other. `unobserved`: how long ontrack itself was away in the period;
    `marked`: occurrences whose first answer fell into that, and which `acknowledged` leaves out.
    """

    scope: Scope
    period: Period
    occurrences: int = 0
    completed: int = 0
    cases: tuple[tuple[str, int], ...] = ()
    acknowledged: Times = Times()
    unattended: Ages = Ages()
    alone: int = 0
    automatic: Share = Share()
    approved: Share = Share()
    spent: tuple[Cost, ...] = ()
    saved: tuple[Cost, ...] = ()
    repeats: int = 0
    repeating: tuple[tuple[JobKey, int], ...] = ()
    delay: timedelta = timedelta(0)
    delayed: int = 0
    recovery: Times = Times()
    unresolved: Ages = Ages()
    decisions: tuple[tuple[DecisionKind, int], ...] = ()
    corrections: Corrections = Corrections()
    late: int = 0
    rejected: int = 0
    unobserved: timedelta = timedelta(0)
    marked: int = 0


class Verdict(StrEnum):
    """What a comparison says: `too_few` and `noise` claim nothing."""

    BETTER = "better"
    WORSE = "worse"
    NOISE = "noise"
    TOO_FEW = "too_few"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One measure in two periods of the same scope; `before` and `after` are seconds, counts a week or fractions by `unit`.

    `p` is the chance of a difference at least as large where nothing changed; None where nothing was tested.
    """

    measure: str
    unit: str
    before: float | None
    after: float | None
    n_before: int
    n_after: int
    verdict: Verdict
    p: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthRow:
    """One line of the table: a team, or a job (`name` as `scheduler/job`)."""

    name: str
    occurrences: int
    unresolved: int
    acknowledged: Times
    recovery: Times
    first_reruns: Share
    repeats: int
    late: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """One column of the chart: a day, or a week where the period is long; occurrences that opened and that settled."""

    begins: date
    opened: int
    settled: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The period that others are compared with, and the one in which that is reviewed; set by a manager, recorded."""

    period: Period
    review: Period
    set_by: str
    set_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthReport:
    """A whole answer: the figures, the table by `rows_of` ("team" or "job"), the chart, and the comparison if one was asked.

    `before_name` says what it is compared with; `notes` are what a reader must know first (no baseline, no data, ...).
    """

    health: Health
    rows_of: str = "team"
    rows: tuple[HealthRow, ...] = ()
    days: tuple[Day, ...] = ()
    before: Health | None = None
    before_name: str = ""
    comparisons: tuple[Comparison, ...] = ()
    notes: tuple[str, ...] = ()
