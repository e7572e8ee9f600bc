"""Folds one event into what a job remembers, and tells which events come too late to count. Pure; it writes nothing."""

from dataclasses import replace
from datetime import datetime

from bot.incidents import memory as past
from bot.incidents.events import RunFailed
from bot.incidents.keys import JobKey, RunRef, Trigger
from bot.incidents.memory import JobMemory, LiveRun, Sample
from bot.incidents.model import Incident, Status
from bot.intake.changes import is_there_again
from bot.intake.reading import ReadEvent, duration_of
from bot.sources import SourceKind
from bot.store import JobIncidents, RunRow, RunState

TERMINAL = frozenset({RunState.SUCCEEDED, RunState.FAILED, RunState.CANCELLED, RunState.SKIPPED})
DECIDED = frozenset({RunState.SUCCEEDED, RunState.FAILED})
IN_FORCE = frozenset({Status.PAUSED, Status.RETIRED, Status.LEFT})


def superseded(rows: tuple[RunRow, ...], run: RunRef, state: RunState) -> str | None:
    """Why an event about `run` counts no more: its generation has ended, or a later one tells all that it could.

    However late it is told, a good run brings what it brings; and a failure stands while what came after it was left
    unfinished, so that the order in which events come changes nothing.
    """
    same = [row for row in rows if row.run.run_id == run.run_id]
    later = {row.state for row in same if row.run.generation > run.generation}
    outlives = state is RunState.SUCCEEDED or (state is RunState.FAILED and later.isdisjoint(DECIDED))
    if later and not outlives:
        return "a later generation of this run is known"
    known = next((row for row in same if row.run.generation == run.generation), None)
    if known is None:
        return None
    if known.state in TERMINAL:
        return f"this run has ended already: {known.state}"
    if state is RunState.STARTED and known.run.attempt > run.attempt:
        return "a later attempt of this run is known"
    return None


def remember(memory: JobMemory, read: ReadEvent, now: datetime) -> JobMemory:
    """The job's memory after this event."""
    source, run = read.source, read.source.run
    if source.change is not None:
        memory = _changed(memory, read)
    if is_there_again(memory, source):
        memory = replace(memory, deleted=False, gone_at=None, watched_from=now)
    if memory.watched_from is None and not memory.deleted:
        memory = replace(memory, watched_from=now)
    if run is None:
        return memory
    match source.kind:
        case SourceKind.RUN_SCHEDULED if run.nominal_time is not None and source.finish_by is not None:
            return past.promised(memory, run.nominal_time, source.finish_by)
        case SourceKind.RUN_STARTED:
            at = source.started_at or source.at
            live = LiveRun(run=run, started_at=at, rerun_key=source.rerun_key, finish_by=source.finish_by)
            return past.started(memory, live)
        case SourceKind.RUN_SUCCEEDED:
            return _succeeded(memory, read, run)
        case SourceKind.RUN_FAILED if isinstance(read.event, RunFailed) and not source.will_retry:
            counts = run.trigger in (Trigger.SCHEDULE, Trigger.RERUN)
            return past.failed(memory, read.event.failure) if counts else past.ended(memory, run)
        case SourceKind.RUN_CANCELLED:
            return past.ended(memory, run)
        case SourceKind.RUN_SKIPPED:
            seen = max(filter(None, (memory.watched_from, run.nominal_time)), default=None)
            return replace(past.ended(memory, run), watched_from=seen)
    return memory


def with_incident(incidents: JobIncidents, saved: Incident) -> JobIncidents:
    """The job's occurrences after `saved` was written."""
    others = tuple(held for held in incidents.in_force if held.id != saved.id)
    was_unresolved = incidents.unresolved is not None and incidents.unresolved.id == saved.id
    unresolved = None if was_unresolved else incidents.unresolved
    newest = incidents.newest_settled
    if saved.status.unresolved:
        newest = None if newest is not None and newest.id == saved.id else newest
        return replace(incidents, unresolved=saved, in_force=others, newest_settled=newest)
    in_force = (saved, *others) if saved.status in IN_FORCE else others
    return replace(incidents, unresolved=unresolved, in_force=in_force, newest_settled=saved)


def called(incidents: JobIncidents, job: JobKey) -> JobIncidents:
    """The occurrences of a job that has another name now."""
    settled, unresolved = incidents.newest_settled, incidents.unresolved
    return JobIncidents(
        unresolved=replace(unresolved, job=job) if unresolved is not None else None,
        in_force=tuple(replace(held, job=job) for held in incidents.in_force),
        newest_settled=replace(settled, job=job) if settled is not None else None,
    )


def _changed(memory: JobMemory, read: ReadEvent) -> JobMemory:
    change = read.source.change
    if change is None:
        return memory
    return replace(
        memory,
        schedule=change.schedule or memory.schedule,
        target=change.target if change.target is not None else memory.target,
        owner=change.owner or memory.owner,
        run_strategy=change.run_strategy or memory.run_strategy,
        quiet=change.quiet if change.quiet is not None else memory.quiet,
        standing=change.standing.words if change.standing is not None else memory.standing,
        deleted=change.deleted,
        gone_at=read.source.at if change.deleted else None,
    )


def _succeeded(memory: JobMemory, read: ReadEvent, run: RunRef) -> JobMemory:
    duration = duration_of(read.source)
    if duration is None:
        duration = next(
            (read.source.at - live.started_at for live in memory.live if live.run.run_id == run.run_id), None
        )
    sample = (
        Sample(duration=duration, cost=read.cost) if duration is not None and duration.total_seconds() >= 0 else None
    )
    return past.succeeded(memory, run, read.source.ended_at or read.source.at, sample)
