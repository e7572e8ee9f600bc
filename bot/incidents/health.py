"""What managers ask of many occurrences at once, as values: figures of one scope in one period, and two of them compared.

It counts nothing: storage fills these, `docs/job-health.md` defines each of them in the same words. Never per person.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum

from bot.incidents.keys import Cost, JobKey
from bot.incidents.model import DecisionKind

DEFINITIONS: Mapping[str, str] = {
    "occurrences": "occurrences that opened in the period",
    "completed": "occurrences settled in the period, by outcome (recovered, fixed, recovered_by_hand, recovered_alone, "
    "not_needed) or by the decision in force (paused, retired, left)",
    "acknowledged": "from the failure's end, or the missed deadline, to the first act of the answering team, over the "
    "occurrences opened in the period that have both",
    "unattended": "occurrences without any act of their team that were open at the end of the period (now, where that is "
    "still to come), by how long ago they opened",
    "alone": "occurrences opened in the period that a rerun or the scheduler's own attempt settled without any act of "
    "their team",
    "automatic": "automatic reruns asked for in the period that were the first of their owed time and ended: how many of "
    "them succeeded",
    "approved": "reruns that a person asked for or approved in the period, that were the first of their owed time and ended: "
    "how many of them succeeded",
    "spent": "what the reruns asked for in the period cost, where they have ended, by unit",
    "saved": "what one rerun of every occurrence opened in the period would have cost, by the estimate at its opening, less "
    "what was spent, by unit; nothing is said of a unit without an estimate",
    "repeats": "occurrences opened in the period that came back: the same failure of the job was settled within the reopen "
    "window (30 days) before",
    "delay": "how much later than usual the downstream runs ended that waited for occurrences opened in the period, all "
    "together, in job-hours; delayed: how many of them were late at all",
    "recovery": "from the failure's end, or the missed deadline, to the end of the good run that settled it, over the "
    "occurrences opened in the period that were settled by one",
    "unresolved": "occurrences that were open at the end of the period (now, where that is still to come), by how long ago "
    "they opened",
    "decisions": "occurrences opened in the period that their owner said to be fixed (and did not take back), paused, retired "
    "or left (the last such word)",
    "corrections": "occurrences opened in the period where a reviewer named another cause, called it a false alarm, or handed "
    "it to another team",
    "late": "runs of occurrences opened in the period that missed a deadline",
    "rejected": "times left out of acknowledged and recovery since their clocks contradict each other: an answer or a good "
    "run before the failure, or either end told more than a minute before it happened",
    "marked": "times left out of acknowledged since ontrack itself was away between the failure and the answer",
    "unobserved": "how long ontrack itself was away in the period",
}
"""Each figure of `Health`, in the words of `docs/job-health.md`."""

COMPARED_SHARES: Mapping[str, str] = {
    "answered": "of the occurrences opened in the period that were not settled alone, how many had an act of their team",
    "settled": "of the occurrences opened in the period, how many were settled by its end",
    "corrected": "of the occurrences opened in the period, how many a reviewer corrected in any way",
}
"""What only comparisons tell beside these."""

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
    """`[since, until)`; `name` as people say it: "30d", "since 2026-11-01", "2026-10-01..2026-10-31".

    Days and weeks begin at midnight of `zone`.
    """

    since: datetime
    until: datetime
    name: str
    zone: str = "UTC"

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
    """The figures of one scope in one period, as `DEFINITIONS` says; `scope.team` is the team that answered.

    `cases`: the completed ones by outcome, or decision in force. `saved` may be below 0. `repeating`: the jobs with most of
    the `repeats`. `rejected`, `marked` and `unobserved` are no measures: they say what others leave out.
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


class Unit(StrEnum):
    """What the values of a comparison are."""

    SECONDS = "seconds"
    A_WEEK = "a_week"
    SHARE = "share"
    COUNT = "count"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One measure in two periods of the same scope; `before` and `after` are seconds, counts a week or fractions by `unit`.

    `measure` is a name of `DEFINITIONS` or of `COMPARED_SHARES`; durations are told by their median, `delay` by its mean.

    `p` is the chance of a difference at least as large where nothing changed; None where nothing was tested.
    """

    measure: str
    unit: Unit
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
