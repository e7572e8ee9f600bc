"""The shape of policies.yaml as pydantic models: which keys there are, and of what kind. It checks no relations.

Every key of `defaults` and `jobs` may be left out, and null takes back what an earlier entry said.
"""

from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag

from bot.policies.kinds import (
    Amount,
    AudienceWord,
    Channel,
    ClockTime,
    Count,
    Days,
    DoorWord,
    Duration,
    DurationOrZero,
    Email,
    FinishDeadline,
    Flag,
    LocalStart,
    ModeWord,
    Off,
    PeriodWord,
    Person,
    Positive,
    Rate,
    RecoversByWord,
    Since,
    StartDeadline,
    Text,
    UnprovenWord,
    UpTo90Days,
    UpToADay,
    UrgencyWord,
    Url,
    Usergroup,
    Version,
    Zone,
)
from bot.policies.scheduler_shapes import SchedulerShape
from bot.policies.strict import Shape


class BudgetShape(Shape):
    """An allowance of reruns."""

    limit: Amount | None = None
    unit: Text | None = None
    per: PeriodWord | None = None
    timezone: Zone | None = None


class SlackShape(Shape):
    """Where a team is in Slack: ids, since names change."""

    channel: Channel | None = None
    usergroup: Usergroup | None = None
    team_usergroup: Usergroup | None = None


class RotaShape(Shape):
    """Shifts of equal length in turn, the first beginning at `from`."""

    rota: Annotated[list[Person], Field(min_length=1)]
    every: Duration
    from_: LocalStart = Field(alias="from")
    timezone: Zone


class HoursShape(Shape):
    """When a team may be asked about what is not urgent."""

    days: Days
    from_: ClockTime = Field(alias="from")
    to: ClockTime
    timezone: Zone


class DigestShape(Shape):
    """When a team's digest is due, on the days of its hours."""

    at: ClockTime


Digest = Annotated[
    Annotated[DigestShape, Tag("due")] | Annotated[Off, Tag("off")],
    Discriminator(lambda value: "due" if isinstance(value, dict | DigestShape) else "off"),
]


class TeamShape(Shape):
    """An owner of jobs."""

    slack: SlackShape | None = None
    email: Email | None = None
    webhook: Url | None = None
    members: list[Person] = Field(default=[])
    oncall: RotaShape | None = None
    hours: HoursShape | None = None
    digest: Digest | None = None
    manager: Person | None = None
    budget: BudgetShape | None = None
    mode: ModeWord | None = None


class RerunShape(Shape):
    """How automatic reruns are bounded."""

    max: Count | None = None
    backoff: DurationOrZero | None = None
    budget: BudgetShape | None = None
    forbid_overlap: Flag | None = None
    start_within: Duration | None = None
    result_grace: Duration | None = None


class LateShape(Shape):
    """When a run is late."""

    grace: DurationOrZero | None = None
    start: StartDeadline | None = None
    finish: FinishDeadline | None = None
    finish_by: ClockTime | None = None
    timezone: Zone | None = None
    learned_floor: DurationOrZero | None = None


class StepShape(Shape):
    """One step of the ladder."""

    after: DurationOrZero
    ask: AudienceWord
    by: Annotated[list[DoorWord], Field(min_length=1)] | None = None


class ChaseShape(Shape):
    """When people are asked again, and who."""

    before_next_run: Duration | None = None
    floor: Duration | None = None
    every_without_schedule: Duration | None = None
    acknowledgement: Duration | None = None
    holder_note_every: Duration | None = None
    mail_after: Duration | None = None
    ladder: Annotated[list[StepShape], Field(min_length=1)] | None = None


class LimitsShape(Shape):
    """How long a status may last."""

    approval: UpToADay | None = None
    verify_without_schedule: Duration | None = None
    leave: UpTo90Days | None = None
    reopen_within: Duration | None = None
    new_root_after: Duration | None = None


class StormShape(Shape):
    """How many incidents in which time are a storm."""

    jobs: Positive | None = None
    window: Duration | None = None


class CanaryShape(Shape):
    """How many jobs with one cause in which time are rerun one by one, and for how long they are held."""

    jobs: Positive | None = None
    window: Duration | None = None
    hold: Duration | None = None


class RedactShape(Shape):
    """What is masked beside secrets."""

    email_addresses: Flag | None = None


class ScheduleShape(Shape):
    """When a job is due, where its scheduler cannot tell."""

    cron: Text | None = None
    timezone: Zone | None = None
    every: Duration | None = None
    next_run: Since | None = None


class MarkShape(Shape):
    """A team's word that causes are safe to rerun."""

    causes: Annotated[list[Text], Field(min_length=1)]
    by: Person
    since: Since


Marks = Annotated[
    Annotated[MarkShape, Tag("one")] | Annotated[list[MarkShape], Tag("many")],
    Discriminator(lambda value: "many" if isinstance(value, list) else "one"),
]


class SettingsShape(Shape):
    """What holds for jobs: the keys of `defaults`, and of each entry of `jobs`."""

    team: Text | None = None
    mode: ModeWord | None = None
    urgency: UrgencyWord | None = None
    recovers_by: RecoversByWord | None = None
    open_after: Positive | None = None
    rerun: RerunShape | None = None
    rate: dict[str, Rate] | None = None
    late: LateShape | None = None
    chase: ChaseShape | None = None
    limits: LimitsShape | None = None
    storm: StormShape | None = None
    canary: CanaryShape | None = None
    safe_to_retry: Marks | None = None
    downstream: list[Text] | None = None
    schedule: ScheduleShape | None = None
    runbook: Url | None = None
    watch_manual: Flag | None = None
    redact: RedactShape | None = None


Signals = Annotated[
    Annotated[dict[str, Any], Tag("one")] | Annotated[list[dict[str, Any]], Tag("many")],
    Discriminator(lambda value: "many" if isinstance(value, list) else "one"),
]


class ExamplesShape(Shape):
    """Error texts by which a cause rule is tested."""

    match: list[str] = Field(default=[])
    no_match: list[str] = Field(default=[])


class CauseShape(Shape):
    """A cause rule; `bot.evidence` reads what stands in `when` and `unless`."""

    id: Text
    title: Text
    group: Text | None = None
    retry_hint: Text | None = None
    never_safe: Flag = False
    excludes: Flag = False
    generic: Flag = False
    implies: list[Text] = Field(default=[])
    platform_team: Text | None = None
    when: Signals
    unless: Signals | None = None
    examples: ExamplesShape = ExamplesShape()


class JobsShape(SettingsShape):
    """An entry of `jobs`: what holds for the jobs that `match`, with cause rules for their failures only."""

    match: Text
    causes: list[CauseShape] | None = None


class FallbackShape(Shape):
    """Where to turn when an owner leads to nobody."""

    channel: Channel | None = None
    email: Email | None = None


class MailShape(Shape):
    """How answers by mail are taken."""

    unproven: UnprovenWord | None = None


class PoliciesShape(Shape):
    """policies.yaml as a whole."""

    version: Version
    schedulers: dict[str, SchedulerShape] = Field(default={})
    teams: dict[str, TeamShape] = Field(default={})
    defaults: SettingsShape = SettingsShape()
    jobs: list[JobsShape] = Field(default=[])
    causes: list[CauseShape] = Field(default=[])
    fallback: FallbackShape = FallbackShape()
    mail: MailShape = MailShape()
    admins: list[Person] = Field(default=[])
