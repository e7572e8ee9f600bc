"""One list of events against one unit of work: read, fold job by job through `decide`, write.

It lives inside one transaction of `Intake`; it neither begins nor commits one.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import msgspec

from bot.incidents.decide import concerns, decide
from bot.incidents.events import Event, NotObserved, PersonEvent, RunFailed, RunLate, ScheduleChanged, TimerDue
from bot.incidents.keys import JobKey
from bot.incidents.matching import untroubled
from bot.incidents.model import Incident, timers_of
from bot.incidents.people import Standing
from bot.intake import deadlines
from bot.intake.batch import NOBODY, Prepared, jobs_of, new_names, raise_if_moved, times_of
from bot.intake.changes import renamed, told_of, uses_told
from bot.intake.deadlines import HELD
from bot.intake.folding import called, remember, superseded, with_incident
from bot.intake.gates import Gates
from bot.intake.graph import Dependents
from bot.intake.hanging import Hanging, stuck, upstream_of
from bot.intake.inbound import DeadlinePassed, DownstreamStuck, Inbound, Outcome, PolicyChanged, Result, answer_of
from bot.intake.looking import Looks
from bot.intake.reading import ReadEvent
from bot.intake.recorded import record_of, record_of_source
from bot.intake.recording import complete, record
from bot.intake.surroundings import Read, World, situation_of
from bot.intake.warning import warn
from bot.intake.writing import Pen, write
from bot.sources import SourceEvent
from bot.store import JobIncidents, JobRow, UnitOfWork
from bot.store.watch import Watched


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
        self._put_off: dict[JobKey, datetime] = {}
        self._watched = Watched()
        self._gates = Gates(uow, self._world, now)
        self._looks = Looks(uow, now)
        self._hanging = Hanging(uow, now)
        self._standing: Standing | None = None

    def run(self, batch: list[Prepared]) -> list[Outcome]:
        stored = self._uow.outcomes(keys={one.inbound.key for one in batch})
        jobs = jobs_of(batch, self._uow)
        self._load(batch, jobs)
        outcomes: dict[str, Outcome] = {}
        answers = []
        for one in batch:
            key = one.inbound.key
            if key in stored or key in outcomes:
                first = outcomes[key] if key in outcomes else _outcome(stored[key])
                answers.append(replace(first, result=Result.DUPLICATE))
                if one.source is not None and key in jobs:
                    complete(self._uow, self._reads[jobs[key]], one.source)
                continue
            self._standing = None
            outcomes[key] = self._take(one, jobs.get(key))
            answers.append(outcomes[key])
            if one.inbound.consume is None:
                outcome = msgspec.to_builtins(outcomes[key])
                self._uow.remember_outcome(
                    key=key, outcome=outcome, at=self._now, event=self._record(one, jobs.get(key))
                )
        self._save_jobs()
        self._gates.save()
        return answers

    def _record(self, one: Prepared, job: JobKey | None) -> str | None:
        """The event as it can be played again; None where nobody knows what it is about."""
        if one.source is not None:
            return record_of_source(one.source)
        if job is None:
            return None
        return record_of(
            one.inbound.event,
            about=one.inbound.occurrence,
            of=job,
            standing=self._standing,
            no_addresses=self._world_of(job, self._now).policy.hides_addresses,
        )

    def _load(self, batch: list[Prepared], jobs: Mapping[str, JobKey]) -> None:
        rows = self._uow.lock_jobs(keys={*jobs.values(), *new_names(batch)}, now=self._now)
        raise_if_moved(jobs.values(), rows)
        incidents = self._uow.incidents_of(jobs=[row.id for row in rows.values()])
        for key, row in rows.items():
            read = Read(key=key, id=row.id, memory=row.memory, incidents=incidents.get(row.id, JobIncidents()))
            self._reads[key] = read
            self._loaded[key] = replace(read)
        timed = {one.inbound.event.job.scheduler for one in batch if isinstance(one.inbound.event, DeadlinePassed)}
        if timed or any(isinstance(one.inbound.event, TimerDue) for one in batch):
            self._watched = self._uow.watched(sources=timed)
        wanted = {(self._reads[jobs[key]].id, time) for key, time in times_of(batch, jobs, self._reads)}
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
                return self._deadline(read, event, one.downstream)
            case DownstreamStuck():
                return self._stuck(read, event)
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
            return self._changed(read, source)
        late = superseded(read.runs.get(run.nominal_time, ()), run, state)
        if late is not None:
            return Outcome(result=Result.ACCEPTED, reason=f"superseded: {late}")
        record(self._uow, read, source, state)
        read.memory = remember(read.memory, source, self._now)
        if source.event is None:
            return DONE
        incidents = read.incidents
        target = concerns(source.event, incidents.unresolved, incidents.in_force, incidents.newest_settled)
        if target is None and untroubled(source.event, in_force=incidents.in_force):
            return DONE
        return self._decided(read, target, source.event, downstream=one.downstream)

    def _changed(self, read: Read, source: ReadEvent) -> Outcome:
        before, was, change = read.memory, read.key, source.source.change
        read.memory = remember(before, source, self._now)
        event, to = told_of(change, before, self._now), renamed(source.source)
        done = DONE
        if to is not None and self._renamed(read, to):
            event = replace(event, reason=f"it is called {to} now; it was {was}", told=True)
        elif to is not None:
            done = Outcome(result=Result.REJECTED, reason=f"{to} has a history of its own: two jobs cannot become one")
            event = replace(
                event, reason=f"it was to be called {to}, which has a history of its own: it keeps its name"
            )
        for writes, datasets in uses_told(change):
            self._uow.tell_uses(job=read.key, writes=writes, datasets=datasets)
        unresolved = read.incidents.unresolved
        if unresolved is None:
            warn(self._uow, read, self._world(read.key), source.source, before, self._now)
            return done
        answer = self._decided(read, unresolved, event)
        return answer if done is DONE else done

    def _renamed(self, read: Read, to: JobKey) -> bool:
        was = read.key
        if not self._uow.rename_job(job=was, to=to):
            return False
        loaded = self._loaded.pop(was)
        del self._reads[was]
        self._loaded.pop(to)
        read.key, read.incidents = to, called(read.incidents, to)
        self._reads[to], self._loaded[to] = read, replace(loaded, key=to)
        self._rewrite.add(to)
        return True

    def _policy(self, read: Read, event: PolicyChanged) -> Outcome:
        if read.memory.watched_from is None:
            self._watch(read)
        self._rewrite.add(read.key)
        unresolved = read.incidents.unresolved
        if unresolved is None:
            return DONE
        return self._decided(read, unresolved, ScheduleChanged(at=self._now, reason=event.reason))

    def _deadline(self, read: Read, event: DeadlinePassed, downstream: Dependents) -> Outcome:
        """Whatever it means, its timer is gone: those that the job has from now on are written."""
        self._rewrite.add(read.key)
        found = deadlines.passed(read, self._world(read.key), event, self._watched, self._now)
        read.memory = found.memory
        if found.held_until is not None:
            self._put_off[read.key] = found.held_until
        incidents = read.incidents
        match found.event:
            case RunLate() as late:
                target = concerns(late, incidents.unresolved, incidents.in_force, incidents.newest_settled)
                return self._decided(read, target, late, downstream=downstream)
            case NotObserved() as unseen if incidents.unresolved is not None:
                return self._decided(read, incidents.unresolved, unseen)
        return Outcome(result=Result.ACCEPTED, reason=found.reason)

    def _stuck(self, read: Read, event: DownstreamStuck) -> Outcome:
        trouble = stuck(read, event, self._now)
        if trouble is None or any(held.status in HELD for held in read.incidents.in_force):
            return DONE
        incidents = read.incidents
        target = concerns(trouble, incidents.unresolved, incidents.in_force, incidents.newest_settled)
        return self._decided(read, target, trouble, alone_after=event.upstream)

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
        self,
        read: Read,
        target: Incident | None,
        event: Event,
        *,
        downstream: Dependents = NOBODY,
        alone_after: str = "",
    ) -> Outcome:
        waits = () if alone_after else self._hanging.waits_of(read, target, event)
        hung = self._hanging.hang(waits, event)
        if hung is not None:
            return hung
        world = replace(
            self._world(read.key),
            downstream=downstream.jobs,
            downstream_beyond=downstream.beyond,
            upstream=upstream_of(waits[0]) if waits else alone_after,
        )
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
            absence=self._watched.absence,
        )
        if isinstance(event, PersonEvent):
            self._standing = situation.directory.standing(event.by.person, self._now)
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
            world = self._world(key)
            timers = deadlines.timers_of(read, world, held_until=self._put_off.get(key))
            if key in self._rewrite or timers != deadlines.timers_of(before, world):
                self._uow.set_job_timers(job=read.id, timers=timers, kinds=deadlines.KINDS)


DONE = Outcome(result=Result.ACCEPTED)


def _as_held(event: Event, target: Incident) -> Event:
    """A timer that stepped aside comes later than the incident holds it: it is that one all the same."""
    if not isinstance(event, TimerDue):
        return event
    held = next((timer for timer in timers_of(target) if timer.kind is event.timer.kind), None)
    return TimerDue(timer=held) if held is not None and held.due_at < event.timer.due_at else event


def _outcome(stored: Mapping[str, Any]) -> Outcome:
    return msgspec.convert(stored, Outcome)
