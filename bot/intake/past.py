"""One page of what a scheduler tells of the time before anybody listened, against one unit of work.

Runs are written down, and occurrences that ended back then, as observed ones. It must not tell or ask anybody, set a timer,
store what has not ended, or touch what ontrack knows from its own listening.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.incidents.decide import concerns, decide
from bot.incidents.events import RunEvent, RunFailed, RunSucceeded
from bot.incidents.keys import JobKey, RunRef
from bot.incidents.matching import untroubled
from bot.incidents.memory import JobMemory
from bot.incidents.model import Incident
from bot.incidents.policy import Mode
from bot.intake.batch import raise_if_moved
from bot.intake.folding import TERMINAL, remember
from bot.intake.past_job import OpenPast, PastJob, PastNotes
from bot.intake.reading import ReadEvent
from bot.intake.recording import noted, record
from bot.intake.surroundings import Read, World, situation_of
from bot.sources import SourceEvent, SourceKind
from bot.store import JobIncidents, JobRow, RunRow, RunState, UnitOfWork

ENDS = (SourceKind.RUN_SUCCEEDED, SourceKind.RUN_FAILED, SourceKind.RUN_CANCELLED, SourceKind.RUN_SKIPPED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What became of ends of runs: written (`failures` of them failed), `known` already, or not taken since ontrack
    `listened` itself by then; and of occurrences: stored, or left since what they owed was never run again (`unpaid`)."""

    runs: int = 0
    failures: int = 0
    known: int = 0
    listened: int = 0
    occurrences: int = 0
    unpaid: int = 0
    rejected: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            runs=self.runs + other.runs,
            failures=self.failures + other.failures,
            known=self.known + other.known,
            listened=self.listened + other.listened,
            occurrences=self.occurrences + other.occurrences,
            unpaid=self.unpaid + other.unpaid,
            rejected=self.rejected + other.rejected,
        )


class PastTransaction:
    """Lives inside one transaction of whoever imports; it neither begins nor commits one.

    `past` are the jobs as folded by the pages before; `jobs` as folded by this one as well.
    """

    def __init__(
        self,
        uow: UnitOfWork,
        world_of: Callable[[JobKey, datetime], World],
        past: Mapping[JobKey, PastJob],
        now: datetime,
    ) -> None:
        self._uow = uow
        self._world_of = world_of
        self._past = past
        self._now = now
        self.jobs: dict[JobKey, PastJob] = {}
        self.tally = Tally()
        self._rows: Mapping[JobKey, JobRow] = {}
        self._known: Mapping[tuple[int, datetime | None], tuple[RunRow, ...]] = {}
        self._told: Mapping[str, object] = {}

    def run(self, page: Sequence[ReadEvent]) -> None:
        """Fold the page in its order. Raises `JobsMoved` where a job has another name by now."""
        names = {one.source.job for one in page}
        self._told = self._uow.outcomes(keys={key for one in page for key in _keys_of(one.source)})
        self._rows = self._uow.lock_jobs(keys=names, now=self._now)
        raise_if_moved(names, self._rows)
        wanted = {(self._rows[one.source.job].id, one.source.run.nominal_time) for one in page if one.source.run}
        self._known = self._uow.run_rows(wanted=wanted)
        for one in page:
            run, state = one.source.run, one.state
            if run is not None and state is not None and one.event is not None:
                job = one.source.job
                self.jobs[job] = self._taken(self._folded(job), one, run, state, one.event)

    def _folded(self, job: JobKey) -> PastJob:
        known = self.jobs.get(job) or self._past.get(job)
        if known is not None:
            return known
        return PastJob(memory=JobMemory(schedule=self._rows[job].memory.schedule))

    def _taken(self, past: PastJob, one: ReadEvent, run: RunRef, state: RunState, event: RunEvent) -> PastJob:
        row, is_end = self._rows[one.source.job], state in TERMINAL
        if past.heard or self._listened(row, one.source):
            self._count(listened=int(is_end), unpaid=int(past.open is not None))
            return replace(past, heard=True, open=None)
        at = max(filter(None, (past.at, event.at)))
        read = Read(
            key=one.source.job,
            id=row.id,
            memory=past.memory,
            incidents=_incidents(past),
            runs=dict(past.runs),
        )
        if self._is_known(row.id, run):
            noted(read, one, state)
            self._count(known=int(is_end))
        else:
            record(self._uow, read, one, state)
            self._count(runs=int(is_end), failures=int(state is RunState.FAILED))
        read.memory = remember(past.memory, one, at)
        past = self._decided(replace(past, memory=read.memory, at=at), read, event, one.source.key, at)
        return past.with_runs(read.runs)

    def _listened(self, row: JobRow, source: SourceEvent) -> bool:
        """Whether ontrack has heard of this end itself, or was listening to the job by then."""
        if any(key in self._told for key in _keys_of(source)):
            return True
        listening = row.memory.watched_from is not None and row.created_at is not None
        return listening and row.created_at is not None and source.at >= row.created_at

    def _is_known(self, job: int, run: RunRef) -> bool:
        same = (
            row
            for row in self._known[job, run.nominal_time]
            if (row.run.run_id, row.run.generation) == (run.run_id, run.generation)
        )
        return any(row.state in TERMINAL for row in same)

    def _decided(self, past: PastJob, read: Read, event: RunEvent, key: str, at: datetime) -> PastJob:
        if isinstance(event, RunFailed) and past.open is not None and past.open.given_up_by(at):
            self._count(unpaid=1)
            past = replace(past, open=None)
            read.incidents = _incidents(past)
        target = concerns(event, read.incidents.unresolved, (), read.incidents.newest_settled)
        if target is None and untroubled(event, in_force=()):
            return past
        world = _only_watching(self._world_of(read.key, at))
        failure = event.failure if isinstance(event, RunFailed) else None
        since = at - world.policy.limits.reopen_within
        previous = past.before(failure.fingerprint, since) if failure is not None and target is None else (None, 0)
        situation = situation_of(read, world, at, booked={}, about=target, failure=failure, previous=previous)
        decision = decide(target, event, situation, at)
        incident = decision.incident
        if incident is None or (target is not None and not target.status.unresolved):
            return past
        opened = past.open or OpenPast(incident=incident, opened_by=key)
        went_on = not isinstance(event, RunFailed) and (opened.went_on or isinstance(event, RunSucceeded))
        opened = replace(
            opened,
            incident=incident,
            went_on=went_on,
            notes=(*opened.notes, PastNotes(version=incident.version, at=at, notes=decision.notes)),
        )
        if incident.status.unresolved:
            return replace(past, open=opened)
        stored = self._stored(read, opened)
        return past.with_settled(stored) if stored is not None else replace(past, open=None)

    def _stored(self, read: Read, ended: OpenPast) -> Incident | None:
        """The occurrence as it is kept; None: it overlaps another one of the job that is kept."""
        key, incident = f"past|{ended.opened_by}", ended.incident
        before = self._uow.outcomes(keys={key}).get(key)
        if before is not None:
            return replace(incident, record=int(before["record"]), number=int(before["number"]))
        if self._overlaps(read.id, incident):
            return None
        incident = replace(incident, chronic_at=None, storm=None, observed=True)
        saved = self._uow.save_incident(incident, expected=None)
        for one in ended.notes:
            version = replace(saved, version=one.version)
            self._uow.add_notes(incident=version, notes=one.notes, key=f"{saved.id}/{one.version}", at=one.at)
        self._uow.remember_outcome(key=key, outcome={"record": saved.record, "number": saved.number}, at=self._now)
        self._count(occurrences=1)
        return saved

    def _overlaps(self, job: int, incident: Incident) -> bool:
        closed_at = incident.closed_at or incident.opened_at
        spans = self._uow.spans(job=job, since=incident.opened_at)
        if any(opened < closed_at and (closed is None or closed > incident.opened_at) for opened, closed in spans):
            return True
        name = {"record": incident.record, "number": incident.number}
        return bool(incident.record) and self._uow.occurrence(**name) is not None

    def _count(self, **more: int) -> None:
        self.tally = self.tally + Tally(**more)


def _keys_of(source: SourceEvent) -> tuple[str, ...]:
    """The keys under which an end of this run may have been taken in, whatever end it was."""
    one = replace(source, kind=ENDS[0], will_retry=False).key.removesuffix(ENDS[0])
    return tuple(f"{one}{kind}" for kind in ENDS)


def _incidents(past: PastJob) -> JobIncidents:
    return JobIncidents(
        unresolved=past.open.incident if past.open is not None else None,
        newest_settled=past.settled[-1] if past.settled else None,
    )


def _only_watching(world: World) -> World:
    """As it would have been, had ontrack only looked on."""
    policy = replace(world.policy, mode=Mode.OBSERVE)
    return replace(world, policy=policy, doors=frozenset())
