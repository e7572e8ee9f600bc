"""The policy types: what a company has decided about its jobs, teams and schedulers, as frozen values.

Nothing here reads a file or knows YAML; `bot.policies` fills these types and reports every error with its place.
Durations are `timedelta`, amounts of a budget are in its `unit` (`run_hours` unless said otherwise).
"""

from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from enum import StrEnum


class Mode(StrEnum):
    """What ontrack may do for a job: watch, ask people, or also rerun by itself."""

    OBSERVE = "observe"
    ASK = "ask"
    ACT = "act"


class Urgency(StrEnum):
    """`low` is asked within the team's hours only."""

    HIGH = "high"
    LOW = "low"


class RecoversBy(StrEnum):
    """Which good run pays an owed nominal time."""

    SAME_RUN = "same_run"
    ANY_LATER_RUN = "any_later_run"


class Audience(StrEnum):
    """Whom a ladder step asks."""

    ONCALL = "oncall"
    TEAM = "team"
    MANAGER = "manager"


class Door(StrEnum):
    """The way by which an ask leaves, or by which a person's word came in."""

    CHANNEL = "channel"
    DM = "dm"
    EMAIL = "email"
    WEBHOOK = "webhook"


class Unproven(StrEnum):
    """What an answer by mail does whose sender the receiving server does not vouch for."""

    REFUSE = "refuse"
    CONFIRM = "confirm"


class Period(StrEnum):
    """The length of a budget's period, in the budget's own zone."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hours:
    """The hours in which a team may be asked about low-urgency jobs: half open, local, weekdays 0 = Monday."""

    days: tuple[int, ...]
    starts: time
    ends: time
    zone: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rota:
    """Shifts of equal length in turn; `since` is the aware instant at which `members[0]` begins.

    Shifts are counted in local days of `zone` when `every` is whole days, so that a hand-over stays at 09:00 across DST.
    """

    members: tuple[str, ...]
    every: timedelta
    since: datetime
    zone: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetLimit:
    """An automatic allowance of reruns: at most `limit` of `unit` in each `per` of `zone`."""

    limit: float
    unit: str = "run_hours"
    per: Period = Period.DAY
    zone: str = "UTC"


@dataclass(frozen=True, slots=True, kw_only=True)
class SafeMark:
    """The owning team's word that a cause may be rerun automatically.

    A mark that does not count (outsider, other team) keeps its reason in `void`; it licenses nothing.
    """

    cause: str
    team: str
    by: str
    since: datetime
    void: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of the ladder: wait `after` since the step before, then ask `ask` by each of `by`."""

    after: timedelta
    ask: Audience
    by: tuple[Door, ...] = (Door.CHANNEL,)


DEFAULT_LADDER = (
    Step(after=timedelta(minutes=15), ask=Audience.ONCALL),
    Step(after=timedelta(minutes=30), ask=Audience.TEAM, by=(Door.CHANNEL, Door.EMAIL)),
    Step(after=timedelta(hours=1), ask=Audience.ONCALL, by=(Door.DM, Door.EMAIL)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChasePolicy:
    """When and how often people are asked again. `mail_after`: an ask that is not in the chat by then goes by mail."""

    before_next_run: timedelta = timedelta(minutes=30)
    floor: timedelta = timedelta(minutes=5)
    every_without_schedule: timedelta = timedelta(hours=4)
    acknowledgement: timedelta = timedelta(hours=24)
    holder_note_every: timedelta = timedelta(hours=4)
    mail_after: timedelta = timedelta(minutes=10)
    ladder: tuple[Step, ...] = DEFAULT_LADDER


@dataclass(frozen=True, slots=True, kw_only=True)
class RerunPolicy:
    """How an automatic rerun is bounded, and how long its phases may last.

    `forbid_overlap`: never rerun while another run of the job lives, nor when the usual duration would reach the next run.
    """

    max: int = 2
    backoff: timedelta = timedelta(minutes=5)
    budget: BudgetLimit | None = BudgetLimit(limit=4)
    forbid_overlap: bool = False
    start_within: timedelta = timedelta(minutes=30)
    result_grace: timedelta = timedelta(minutes=15)


@dataclass(frozen=True, slots=True, kw_only=True)
class LatePolicy:
    """Deadlines of a run; None means that this deadline is not watched.

    `start_within`: not started that long after the nominal time. `finish_within`: not finished that long after it.
    `finish_by`: the first such local time after the nominal time. `learned`: finish deadline from the last good runs.
    `grace` is added to each.
    """

    grace: timedelta = timedelta(minutes=15)
    start_within: timedelta | None = timedelta(0)
    finish_within: timedelta | None = None
    finish_by: time | None = None
    zone: str = "UTC"
    learned: bool = True
    learned_floor: timedelta = timedelta(minutes=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds on how long a status may last."""

    approval: timedelta = timedelta(hours=24)
    verify_without_schedule: timedelta = timedelta(hours=24)
    leave: timedelta = timedelta(days=90)
    reopen_within: timedelta = timedelta(days=30)
    new_root_after: timedelta = timedelta(hours=24)


@dataclass(frozen=True, slots=True, kw_only=True)
class StormPolicy:
    """More than `jobs` occurrences of one channel, cause or upstream within `window` are one storm."""

    jobs: int = 10
    window: timedelta = timedelta(minutes=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryPolicy:
    """More than `jobs` jobs with one cause within `window`: one is rerun first, the others held for `hold` at most."""

    jobs: int = 10
    window: timedelta = timedelta(minutes=5)
    hold: timedelta = timedelta(minutes=60)


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When a job is due: `cron` in `zone`, or `every`, or the scheduler's own word for the next run; else none."""

    cron: str | None = None
    zone: str = "UTC"
    every: timedelta | None = None
    next_run_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """The owner of jobs: where it is reached and who belongs to it. People are Slack ids or e-mail addresses.

    `digest_at`: the time of its `hours` at which its digest is due; None: it gets none.
    """

    name: str
    channel: str | None = None
    usergroup: str | None = None
    team_usergroup: str | None = None
    email: str | None = None
    members: tuple[str, ...] = ()
    rota: Rota | None = None
    hours: Hours | None = None
    manager: str | None = None
    budget: BudgetLimit | None = None
    mode: Mode | None = None
    digest_at: time | None = None
    webhook: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fallback:
    """Where to turn when a job's owner record leads to nobody."""

    channel: str | None = None
    email: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MailPolicy:
    """How answers by mail are taken."""

    unproven: Unproven = Unproven.REFUSE


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPolicy:
    """Everything that holds for one job, with defaults and all matching globs applied."""

    team: Team | None = None
    mode: Mode = Mode.ACT
    urgency: Urgency = Urgency.HIGH
    recovers_by: RecoversBy | None = None
    open_after: int | None = None
    rerun: RerunPolicy = field(default_factory=RerunPolicy)
    rates: tuple[tuple[str, float], ...] = ()
    late: LatePolicy = field(default_factory=LatePolicy)
    chase: ChasePolicy = field(default_factory=ChasePolicy)
    limits: Limits = field(default_factory=Limits)
    storm: StormPolicy = field(default_factory=StormPolicy)
    canary: CanaryPolicy = field(default_factory=CanaryPolicy)
    safe_marks: tuple[SafeMark, ...] = ()
    downstream: tuple[str, ...] = ()
    schedule: Schedule | None = None
    runbook: str | None = None
    watch_manual: bool = False
    hides_addresses: bool = False
    fallback: Fallback = field(default_factory=Fallback)
    admins: tuple[str, ...] = ()
