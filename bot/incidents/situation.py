"""What `decide` may know beside the incident and the event: a frozen value with listed fields, read in one go by intake."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.incidents.absence import Absence
from bot.incidents.canary import Canary, Stage
from bot.incidents.effects import Effect, Note, Told
from bot.incidents.keys import Capability, Cost, JobKey
from bot.incidents.model import Incident, Owed
from bot.incidents.people import Directory, Mention
from bot.incidents.policy import Door, JobPolicy, SafeMark, Team
from bot.incidents.storm import Storm
from bot.incidents.strategy import RunStrategy
from bot.incidents.waits import Hung


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What is left of the automatic allowance now, in `unit`; a part without a budget is None."""

    unit: str
    job: float | None
    team: float | None = None

    @property
    def left(self) -> float | None:
        parts = [part for part in (self.job, self.team) if part is not None]
        return min(parts) if parts else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A downstream job: `waits` when its `nominal_time` is due or passed and it needs the owed run, `since` then (it may
    be still to come). `later`: any later run of it serves as well. The rest is what became of it since: see `Wait`."""

    job: str
    waits: bool
    since: datetime | None = None
    next_run_at: datetime | None = None
    nominal_time: datetime | None = None
    depth: int = 1
    later: bool = False
    hung: Hung | None = None
    alone: bool = False
    ended_at: datetime | None = None
    without: bool = False
    delay: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering:
    """A team that can answer an occurrence, with its people; `team` None: the job's own owner, which names no team."""

    team: Team | None
    directory: Directory


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """The team that a cause's rule names, and whom of it to call."""

    team: str
    mentions: tuple[Mention, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """The surroundings of one decision.

    `next_run_at` is strictly after now, `following_run_at` the one after it, `interval` the distance between nominal times
    there. `estimate` is in the unit of `allowance` (None: no good run, or no conversion). `reruns` counts reruns so far by
    nominal time, whoever asked (one that is only planned is not counted);
    `live` are the nominal times with a living run, `paid` those with a good run; `latest_started` the newest nominal time
    that has a run, `last_good_time` the newest that has a good one. `run_strategy`: what a new run does to those that live.
    `failures_in_a_row` includes the event's failure; `unpaid` are the failed times of that row.
    `previous` is the settled occurrence with the event's fingerprint within the reopen window, `times` its count in it;
    `linked` the newest settled record of the job. `unresolved` is the record of another unresolved occurrence of the job.
    `newer`: the number of a later occurrence of the same record. `retired`: the job was retired in force.
    `suspended`: causes whose mark three failing reruns in a row have suspended.
    `recovered`: when earlier occurrences of this failure recovered by a rerun, lately.
    `downstream` may be only the first of them: `downstream_beyond` more are known of. `upstream`: the occurrence for which
    the job itself waits.
    `storm` is what the channel of the job knows of its occurrences, where that matters; `platform` answers for the cause
    beside the owner, when its rule says so.
    `canaries` are those of the causes that may be rerun by licence here; `stage` is where the incident's own rerun stands.
    `handed`: the team that answers in place of the job's own, whose `directory` it then is. `other`: the team that a
    hand-over names (None: there is none such). `absence`: when ontrack was not there last.
    """

    job: JobKey
    policy: JobPolicy
    policies_version: str = ""
    directory: Directory = field(default_factory=Directory)
    can: frozenset[Capability] = frozenset()
    doors: frozenset[Door] = frozenset({Door.CHANNEL})
    next_run_at: datetime | None = None
    following_run_at: datetime | None = None
    interval: timedelta | None = None
    usual_duration: timedelta | None = None
    estimate: Cost | None = None
    allowance: Allowance | None = None
    marks: tuple[SafeMark, ...] = ()
    suspended: frozenset[str] = frozenset()
    canaries: tuple[Canary, ...] = ()
    stage: Stage | None = None
    storm: Storm | None = None
    recovered: tuple[datetime, ...] = ()
    platform: Platform | None = None
    reruns: tuple[tuple[datetime | None, int], ...] = ()
    live: frozenset[datetime | None] = frozenset()
    run_strategy: RunStrategy | None = None
    paid: frozenset[datetime | None] = frozenset()
    latest_started: datetime | None = None
    last_good_at: datetime | None = None
    last_good_time: datetime | None = None
    failures_in_a_row: int = 1
    unpaid: tuple[Owed, ...] = ()
    previous: Incident | None = None
    times: int = 1
    linked: int | None = None
    unresolved: int | None = None
    newer: int | None = None
    retired: bool = False
    downstream: tuple[Waiting, ...] = ()
    downstream_beyond: int = 0
    upstream: str = ""
    handed: Team | None = None
    other: Answering | None = None
    absence: Absence | None = None

    @property
    def team(self) -> Team | None:
        """The team that answers: it is asked, in its hours."""
        return self.handed or self.policy.team

    @property
    def away(self) -> str | None:
        """The channel of a team that answers elsewhere than where the thread is."""
        own = (self.policy.team.channel if self.policy.team else None) or self.policy.fallback.channel
        there = self.handed.channel if self.handed else None
        return there if there != own else None

    def canary(self, cause: str) -> Canary:
        """The canary of `cause`; one that nothing is known of is off."""
        return next((one for one in self.canaries if one.cause == cause), Canary(cause=cause))

    def reruns_of(self, nominal_time: datetime | None) -> int:
        return next((count for known, count in self.reruns if known == nominal_time), 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What becomes of the incident, and everything that must be done about it; all of it is written in one transaction.

    `incident` is None when none was opened; `told` answers the person who spoke.
    """

    incident: Incident | None
    effects: tuple[Effect, ...] = ()
    notes: tuple[Note, ...] = ()
    told: Told | None = None
