"""All that a message about an occurrence may show, read in one go. A value; it must not hold the present instant."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.evidence.types import UNKNOWN, Evidence
from bot.incidents.keys import Capability, Cost, JobKey
from bot.incidents.memory import GoodRun
from bot.incidents.model import Incident
from bot.incidents.policy import JobPolicy, Mode, SafeMark
from bot.incidents.situation import Allowance, Waiting
from bot.incidents.strategy import RunStrategy


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One occurrence with its surroundings.

    `owners` are the display names of those who can decide, `zone` is the job's, `marks` are the safe marks of this job
    (void ones with their reason), `estimate` is the cost of one rerun, `occurrences` counts those of the record.
    `last_good` is the last good run before the failure, `closed_for` the nominal time of the run that settled it.
    `team` is the one that answers, `teams` are all that there are.
    `past` are the newest of the `past_times` settled occurrences of the same failure (None: not looked up), `same_cause`
    other jobs that failed of the same cause lately. `named_owner`: whom the job's scheduler names as its owner; `gone`: it
    says that the job is there no more. `live` are the nominal times with a living run, `run_strategy` is what a new run does
    to those.
    """

    incident: Incident
    evidence: Evidence | None = None
    team: str = ""
    teams: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    can: frozenset[Capability] = frozenset()
    policy: JobPolicy
    zone: str = "UTC"
    next_run_at: datetime | None = None
    usual_duration: timedelta | None = None
    last_good: GoodRun | None = None
    closed_for: datetime | None = None
    estimate: Cost | None = None
    allowance: Allowance | None = None
    marks: tuple[SafeMark, ...] = ()
    downstream: tuple[Waiting, ...] = ()
    record_url: str | None = None
    occurrences: int = 1
    past: tuple[Incident, ...] = ()
    past_times: int | None = None
    same_cause: tuple[JobKey, ...] = ()
    named_owner: str = ""
    gone: bool = False
    run_strategy: RunStrategy | None = None
    live: frozenset[datetime | None] = frozenset()

    @property
    def observing(self) -> bool:
        """ontrack only watches: nobody is mentioned, and texts say what would be done."""
        return self.incident.observed or self.policy.mode is Mode.OBSERVE

    @property
    def team_zone(self) -> str:
        """In which a day that somebody names begins: that of the job's team, else the job's own."""
        team = self.policy.team
        return team.hours.zone if team is not None and team.hours is not None else self.zone

    @property
    def away(self) -> bool:
        """Another team than the job's own answers it."""
        own = self.policy.team.name if self.policy.team else ""
        return bool(self.incident.handed) and self.team != own

    @property
    def cause(self) -> str:
        """The cause as the owner corrected it, else as the rules gave it."""
        return self.incident.corrected_cause or self.incident.failure.cause

    @property
    def cause_known(self) -> bool:
        return self.cause != UNKNOWN

    @property
    def blind(self) -> bool:
        """A rerun of all that is owed would run something whose cause the rules do not know; the core asks to confirm it."""
        failures = [owed.failure for owed in self.incident.owed] or [self.incident.failure]
        return any(failure.cause == UNKNOWN for failure in failures)

    @property
    def mark(self) -> SafeMark | None:
        """The live safe mark on this cause."""
        return next((mark for mark in self.marks if mark.cause == self.cause and mark.void is None), None)

    @property
    def void_mark(self) -> SafeMark | None:
        """A mark on this cause that does not count."""
        return next((mark for mark in self.marks if mark.cause == self.cause and mark.void is not None), None)

    @property
    def markable(self) -> bool:
        """Whether the team could mark this cause safe: never an unknown one, never lateness, never one ruled out."""
        failure = self.incident.failure
        return self.cause_known and not self.cause.startswith("late.") and not failure.never_safe
