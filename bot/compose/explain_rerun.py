"""Asks the rerun rule what it would say of a failure that was only explained. It judges nothing itself and reruns nothing.

What no log can tell is assumed, and every assumption is told beside the answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.compose.schedulers import connected
from bot.evidence import Evidence
from bot.incidents.keys import Capability, Cost, JobKey, RunRef
from bot.incidents.licence import Licence, live_mark, verdict
from bot.incidents.memory import JobMemory
from bot.incidents.model import Failure, Owed
from bot.incidents.opening import plan_of
from bot.incidents.people import Directory
from bot.incidents.policy import Door, JobPolicy, Mode, Schedule
from bot.incidents.situation import Situation
from bot.intake.surroundings import Read, World, scopes_of, situation_of
from bot.policies import LocalSpec, Policies, written_duration
from bot.schedulers.local.scheduler import LocalScheduler
from bot.store import JobIncidents, Scope, StorageDown
from storage.leases import DatabaseTaken
from storage.migrating import SchemaMismatch
from storage.opening import open_storage

ALWAYS_ASSUMED = "a scheduled run, not rerun so far, of which no other run lives and on which nobody works"
WITHOUT_HISTORY = "a cost that the budget covers, no mark given or suspended in Slack"


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What the database knows of the job; `missing` says why there is none to ask."""

    memory: JobMemory = field(default_factory=JobMemory)
    booked: Mapping[Scope, float] = field(default_factory=dict)
    missing: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """Whether ontrack would rerun by itself, the condition that decides, and what follows."""

    allowed: bool
    decided_by: str
    says: str
    assumed: tuple[str, ...]


def past_of(job: JobKey, policy: JobPolicy, now: datetime, *, database_url: str) -> Past:
    """What the database holds of the job, read once; one that cannot be read is told of in `missing`."""
    try:
        storage = open_storage(database_url, instance="explain", read_only=True)
    except (StorageDown, SchemaMismatch, DatabaseTaken):
        return Past(missing="no database to look into")
    try:
        row = storage.reads.job(key=job)
        booked = storage.reads.booked(scopes=scopes_of(job, policy, now))
    except StorageDown:
        return Past(missing="the database does not answer")
    finally:
        storage.close()
    return Past(memory=row.memory if row else JobMemory(), booked=booked)


class Judge:
    """Says for one job what the rerun rule would make of a failure at `now`."""

    def __init__(self, policies: Policies, job: JobKey, past: Past, now: datetime) -> None:
        self._policies = policies
        self._job = job
        self._policy = policies.job(job)
        self._past = past
        self._now = now

    def ruling(self, evidence: Evidence) -> Ruling:
        """The rerun rule's word on a failure with this evidence."""
        failure = _failure(evidence, self._now)
        situation = self._situation(failure)
        time = failure.run.nominal_time
        owed = Owed(nominal_time=time, since=self._now, failure=failure, plan=plan_of(self._policy, time))
        word = verdict(owed, situation, self._now, incident=None)
        return Ruling(
            allowed=word.licence is Licence.GRANTED,
            decided_by=word.reason,
            says=_says(word.licence, failure.cause, situation),
            assumed=self._assumed(),
        )

    def _situation(self, failure: Failure) -> Situation:
        world = World(
            policy=self._policy,
            policies_version=self._policies.version,
            directory=Directory(),
            can=self._can(),
            doors=frozenset({Door.CHANNEL}),
            schedule=self._schedule(),
        )
        read = Read(key=self._job, id=0, memory=self._past.memory, incidents=JobIncidents())
        situation = situation_of(read, world, self._now, booked=self._past.booked, failure=failure)
        if self._past.missing is None or situation.allowance is None:
            return situation
        left, unit = situation.allowance.left, situation.allowance.unit
        return replace(situation, estimate=Cost(amount=left or 1.0, unit=unit))

    def _can(self) -> frozenset[Capability]:
        spec = self._policies.schedulers.get(self._job.scheduler)
        if spec is None:
            return frozenset()
        return LocalScheduler.can if isinstance(spec, LocalSpec) else connected(spec).can

    def _schedule(self) -> Schedule | None:
        spec = self._policies.schedulers.get(self._job.scheduler)
        declared = spec.jobs.get(self._job.name) if isinstance(spec, LocalSpec) else None
        return declared.schedule if declared else self._policy.schedule

    def _assumed(self) -> tuple[str, ...]:
        missing = self._past.missing
        return (ALWAYS_ASSUMED,) if missing is None else (ALWAYS_ASSUMED, f"{WITHOUT_HISTORY} ({missing})")


def _failure(evidence: Evidence, now: datetime) -> Failure:
    cause = evidence.cause
    return Failure(
        run=RunRef(run_id="explained", nominal_time=now),
        at=now,
        fingerprint=evidence.fingerprint,
        cause=cause.id,
        title=cause.title,
        also=cause.also,
        ruled_out_by=cause.ruled_out_by,
        never_safe=cause.never_safe,
    )


def _says(licence: Licence, cause: str, situation: Situation) -> str:
    policy = situation.policy
    if licence is Licence.GRANTED:
        mark = live_mark(cause, situation)
        by = f" (marked by {mark.by} on {mark.since:%Y-%m-%d})" if mark else ""
        wait = written_duration(policy.rerun.backoff)
        return f"ontrack would rerun it by itself after {wait}, at most {policy.rerun.max} times{by}"
    if policy.mode is Mode.OBSERVE:
        return "ontrack would only record it: in mode observe it reruns nothing and asks nobody"
    if licence is Licence.PROPOSE:
        return "ontrack would propose a rerun and wait for the owner's yes"
    return "ontrack would not rerun it by itself; the owner is asked"
