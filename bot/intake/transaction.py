"""One list of events against one unit of work: read, fold job by job through `decide`, write.

It lives inside one transaction of `Intake`; it neither begins nor commits one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import msgspec

from bot import cron
from bot.incidents import lateness
from bot.incidents import memory as past
from bot.incidents.decide import concerns, decide
from bot.incidents.events import Event, RunFailed, RunLate, ScheduleChanged, TimerDue
from bot.incidents.keys import JobKey
from bot.incidents.matching import untroubled
from bot.incidents.model import Incident, Status, timers_of
from bot.incidents.situation import Waiting
from bot.intake.folding import remember, superseded, with_incident
from bot.intake.gates import Gates
from bot.intake.inbound import DeadlinePassed, Inbound, Outcome, PolicyChanged, Result, answer_of
from bot.intake.looking import Looks
from bot.intake.reading import ReadEvent
from bot.intake.surroundings import Read, World, situation_of
from bot.intake.writing import Pen, write
from bot.sources import SourceEvent
from bot.store import JobIncidents, JobRow, JobTimer, RunRow, RunState, UnitOfWork

HELD = frozenset({Status.PAUSED, Status.RETIRED})
DEADLINES = (lateness.START_BY, lateness.FINISH_BY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """An inbound event, read before the transaction."""

    inbound: Inbound
    source: ReadEvent | None = None
    downstream: tuple[Waiting, ...] = ()


class Transaction:
    """One list of events against one unit of work; lives inside `Intake`."""

    def __init__(
        self,
        uow: UnitOfWork,
        world_of: Callable[[JobKey, datetime], World],
        around: Callable[[World, Incident, Event, datetime], World],
        now: datetime,
    ) -> None:
        self._uow = uow
        self._world_of = world_of
        self._around = around
        self._now = now
        self._reads: dict[JobKey, Read] = {}
        self._worlds: dict[JobKey, World] = {}
        self._loaded: dict[JobKey, Read] = {}
        self._rewrite: set[JobKey] = set()
        self._gates = Gates(uow, self._world, now)
        self._looks = Looks(uow, now)

    def run(self, batch: list[Prepared]) -> list[Outcome]:
        stored = self._uow.outcomes(keys={one.inbound.key for one in batch})
        jobs = self._jobs(batch)
        self._load(batch, jobs)
        outcomes: dict[str, Outcome] = {}
        answers = []
        for one in batch:
            key = one.inbound.key
            if key in stored or key in outcomes:
                first = outcomes[key] if key in outcomes else _outcome(stored[key])
                answers.append(replace(first, result=Result.DUPLICATE))
                continue
            outcomes[key] = self._take(one, jobs.get(key))
            answers.append(outcomes[key])
            if one.inbound.consume is None:
                self._uow.remember_outcome(key=key, outcome=msgspec.to_builtins(outcomes[key]), at=self._now)
        self._save_jobs()
        self._gates.save()
        return answers

    def _jobs(self, batch: list[Prepared]) -> dict[str, JobKey]:
        """Which job each event is about, by its key; events about an unknown occurrence are left out."""
        named = {one.inbound.occurrence for one in batch if one.inbound.occurrence is not None}
        known = self._uow.job_keys_of(occurrences=named) if named else {}
        found = {}
        for one in batch:
            event, occurrence = one.inbound.event, one.inbound.occurrence
            if isinstance(event, SourceEvent | DeadlinePassed | PolicyChanged):
                found[one.inbound.key] = event.job
            elif occurrence in known:
                found[one.inbound.key] = known[occurrence]
        return found

    def _load(self, batch: list[Prepared], jobs: Mapping[str, JobKey]) -> None:
        rows = self._uow.lock_jobs(keys=set(jobs.values()), now=self._now)
        incidents = self._uow.incidents_of(jobs=[row.id for row in rows.values()])
        for key, row in rows.items():
            read = Read(key=key, id=row.id, memory=row.memory, incidents=incidents.get(row.id, JobIncidents()))
            self._reads[key] = read
            self._loaded[key] = replace(read)
        wanted = {(self._reads[jobs[key]].id, time) for key, time in self._times(batch, jobs)}
        self._lock_gates(batch, jobs)
        by_id = {read.id: read for read in self._reads.values()}
        for (job, time), known in self._uow.run_rows(wanted=wanted).items():
            by_id[job].runs[time] = known

    def _lock_gates(self, batch: list[Prepared], jobs: Mapping[str, JobKey]) -> None:
        failed: list[tuple[JobKey, RunFailed]] = []
        for one in batch:
            event = one.source.event if one.source is not None else None
            if isinstance(event, RunFailed) and not event.will_retry:
                failed.append((jobs[one.inbound.key], event))
        late = [jobs[one.inbound.key] for one in batch if isinstance(one.inbound.event, DeadlinePassed)]
        self._gates.lock(self._reads, failed=failed, late=late)

    def _times(self, batch: list[Prepared], jobs: Mapping[str, JobKey]) -> set[tuple[str, datetime | None]]:
        """The nominal times whose runs matter: of the events, and what is owed."""
        found: set[tuple[str, datetime | None]] = set()
        for one in batch:
            key = one.inbound.key
            if key not in jobs:
                continue
            event = one.inbound.event
            if isinstance(event, SourceEvent) and event.run is not None:
                found.add((key, event.run.nominal_time))
            if isinstance(event, DeadlinePassed):
                found.add((key, event.nominal_time))
            for incident in self._reads[jobs[key]].near:
                found.add((key, incident.failure.run.nominal_time))
                found.update((key, owed.nominal_time) for owed in incident.owed)
        return found

    def _take(self, one: Prepared, job: JobKey | None) -> Outcome:
        if job is None:
            return Outcome(result=Result.REJECTED, reason="no such occurrence")
        if not self._consumed(one.inbound):
            return Outcome(result=Result.DUPLICATE, reason="somebody else has done this already")
        read, event = self._reads[job], one.inbound.event
        match event:
            case SourceEvent():
                return self._source(read, one)
            case DeadlinePassed():
                return self._deadline(read, event)
            case PolicyChanged():
                return self._policy(read, event)
            case _:
                return self._about(read, one.inbound, event)

    def _consumed(self, inbound: Inbound) -> bool:
        consume = inbound.consume
        if consume is None:
            return True
        if consume.timer is not None:
            number, due_at = consume.timer
            return self._uow.consume_timer(id=number, due_at=due_at)
        if consume.effect is not None:
            number, state = consume.effect
            return self._uow.settle_effect(id=number, state=state, result=msgspec.to_builtins(inbound.event))
        return True

    def _source(self, read: Read, one: Prepared) -> Outcome:
        source = one.source
        if source is None:
            return DONE
        run, state = source.source.run, source.state
        if run is None or state is None:
            read.memory = remember(read.memory, source, self._now)
            unresolved = read.incidents.unresolved
            if unresolved is None:
                return DONE
            return self._decided(read, unresolved, ScheduleChanged(at=self._now, reason="its source told of a change"))
        late = superseded(read.runs.get(run.nominal_time, ()), run, state)
        if late is not None:
            return Outcome(result=Result.ACCEPTED, reason=f"superseded: {late}")
        self._record(read, source, state)
        read.memory = remember(read.memory, source, self._now)
        if source.event is None:
            return DONE
        incidents = read.incidents
        target = concerns(source.event, incidents.unresolved, incidents.in_force, incidents.newest_settled)
        if target is None and untroubled(source.event, in_force=incidents.in_force):
            return DONE
        return self._decided(read, target, source.event, downstream=one.downstream)

    def _record(self, read: Read, source: ReadEvent, state: RunState) -> None:
        told, run = source.source, source.source.run
        if run is None:
            return
        failure = source.event.failure if isinstance(source.event, RunFailed) else None
        row = RunRow(
            job_id=read.id,
            run=run,
            state=state,
            at=told.at,
            started_at=told.started_at,
            ended_at=told.ended_at,
            cost=source.cost,
            rerun_key=told.rerun_key,
            by=told.by,
            fingerprint=failure.fingerprint if failure else None,
            cause=failure.cause if failure else None,
            facts=source.facts,
        )
        self._uow.save_run(row)
        others = tuple(
            known
            for known in read.runs.get(run.nominal_time, ())
            if (known.run.run_id, known.run.generation) != (run.run_id, run.generation)
        )
        read.runs[run.nominal_time] = (*others, row)
        if failure is not None and source.evidence is not None:
            self._uow.save_evidence(key=failure.evidence, evidence=source.evidence)

    def _policy(self, read: Read, event: PolicyChanged) -> Outcome:
        if read.memory.watched_from is None:
            self._watch(read)
        self._rewrite.add(read.key)
        unresolved = read.incidents.unresolved
        if unresolved is None:
            return DONE
        return self._decided(read, unresolved, ScheduleChanged(at=self._now, reason=event.reason))

    def _deadline(self, read: Read, event: DeadlinePassed) -> Outcome:
        """A job's deadline: late when the run is not there (or not done) by now; either way watch the next."""
        start = event.kind == lateness.START_BY
        time = event.nominal_time
        read.memory = past.told_late(read.memory, time, start=start)
        live = next((live for live in read.memory.live if live.run.nominal_time == time), None)
        known = any(row.state is not RunState.RETRYING for row in read.runs.get(time, ()))
        if (start and (known or live is not None)) or (not start and live is None):
            return DONE
        if any(held.status in HELD for held in read.incidents.in_force):
            return DONE
        failure = lateness.late_failure(event.kind, time, self._now, live.run if live else None)
        late = RunLate(failure=failure, at=self._now, deadline_at=event.due_at)
        incidents = read.incidents
        target = concerns(late, incidents.unresolved, incidents.in_force, incidents.newest_settled)
        return self._decided(read, target, late)

    def _about(self, read: Read, inbound: Inbound, event: Event) -> Outcome:
        """An event about one occurrence: a person's word, a timer, an answer."""
        record, number = inbound.occurrence or (0, 0)
        incidents = read.incidents
        near = filter(None, (incidents.unresolved, *incidents.in_force, incidents.newest_settled))
        target = next((one for one in near if (one.record, one.number) == (record, number)), None)
        if target is None:
            target = self._uow.occurrence(record=record, number=number)
        if target is None:
            return Outcome(result=Result.REJECTED, reason="no such occurrence")
        return self._decided(read, target, _as_held(event, target))

    def _decided(
        self, read: Read, target: Incident | None, event: Event, *, downstream: tuple[Waiting, ...] = ()
    ) -> Outcome:
        world = replace(self._world(read.key), downstream=downstream)
        if target is not None:
            world = self._around(world, target, event, self._now)
        failure = event.failure if isinstance(event, RunFailed | RunLate) else None
        situation = situation_of(
            read,
            world,
            self._now,
            booked=self._looks.booked(read, target, event, world),
            about=target,
            failure=failure,
            previous=self._looks.previous(read, target, event, world),
            canaries=self._gates.canaries.known,
            stage=self._gates.stage(target),
            storm=self._gates.storm(read.key, target, event),
            recovered=self._looks.recovered(read, target, event),
        )
        decision = decide(target, event, situation, self._now)
        pen = Pen(
            uow=self._uow,
            read=read,
            world=world,
            situation=situation,
            now=self._now,
            gates=self._gates,
        )
        saved = write(pen, decision, target)
        if saved is not None:
            read.incidents = with_incident(read.incidents, saved)
            if target is not None and target.status in HELD and saved.status not in HELD:
                self._watch(read)
        return answer_of(decision, saved)

    def _world(self, key: JobKey) -> World:
        if key not in self._worlds:
            self._worlds[key] = self._world_of(key, self._now)
        return self._worlds[key]

    def _watch(self, read: Read) -> None:
        """Nominal times count as expected from now on (the job is new here, or its schedule went on)."""
        if read.memory.watched_from is None or read.memory.watched_from < self._now:
            read.memory = replace(read.memory, watched_from=self._now)

    def _save_jobs(self) -> None:
        for key, read in self._reads.items():
            before = self._loaded[key]
            if read.memory != before.memory:
                self._uow.save_job(JobRow(id=read.id, key=key, memory=read.memory))
            timers, were = self._deadlines(read), self._deadlines(before)
            if timers != were or key in self._rewrite:
                self._uow.set_job_timers(job=read.id, timers=timers, kinds=DEADLINES)

    def _deadlines(self, read: Read) -> tuple[JobTimer, ...]:
        """The job's deadlines; none while it is paused or retired in force."""
        memory, world = read.memory, self._world(read.key)
        schedule = world.schedule or memory.schedule
        silent = any(held.status in HELD for held in read.incidents.in_force)
        if memory.deleted or schedule is None or silent:
            return ()
        found = lateness.deadlines(memory, world.policy.late, next_after=lambda after: cron.next_after(schedule, after))
        return tuple(JobTimer(kind=one.kind, nominal_time=one.nominal_time, due_at=one.due_at) for one in found)


DONE = Outcome(result=Result.ACCEPTED)


def _as_held(event: Event, target: Incident) -> Event:
    """A timer that stepped aside comes later than the incident holds it: it is that one all the same."""
    if not isinstance(event, TimerDue):
        return event
    held = next((timer for timer in timers_of(target) if timer.kind is event.timer.kind), None)
    return TimerDue(timer=held) if held is not None and held.due_at < event.timer.due_at else event


def _outcome(stored: Mapping[str, Any]) -> Outcome:
    return msgspec.convert(stored, Outcome)
