"""Writes down what a source told of a run, as a row and in what the transaction has read. It decides nothing."""

from dataclasses import replace

from bot.incidents.events import RunFailed
from bot.intake.reading import ReadEvent
from bot.intake.surroundings import Read
from bot.store import RunRow, RunState, UnitOfWork

RICHER = frozenset({"inputs", "env"})
"""Facts that only some ways tell; who tells them tells the others as well."""


def record(uow: UnitOfWork, read: Read, source: ReadEvent, state: RunState) -> None:
    """The run stands there now; the evidence of its failure is kept."""
    row = noted(read, source, state)
    if row is None:
        return
    uow.save_run(row)
    failure = source.event.failure if isinstance(source.event, RunFailed) else None
    if failure is not None and source.evidence is not None:
        uow.save_evidence(key=failure.evidence, evidence=source.evidence)


def noted(read: Read, source: ReadEvent, state: RunState) -> RunRow | None:
    """The run as a row, which what was read knows of from now on; None: it is about no run."""
    told, run = source.source, source.source.run
    if run is None:
        return None
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
    same = (run.run_id, run.generation)
    known = read.runs.get(run.nominal_time, ())
    others = tuple(one for one in known if (one.run.run_id, one.run.generation) != same)
    read.runs[run.nominal_time] = (*others, row)
    return row


def complete(uow: UnitOfWork, read: Read, source: ReadEvent) -> None:
    """A second telling of the same, by another way, may know more: by whom the run was begun, for which request of ours,
    what it read, where it ran."""
    told, run = source.source, source.source.run
    if run is None:
        return
    known = read.runs.get(run.nominal_time, ())
    row = next((one for one in known if (one.run.run_id, one.run.generation) == (run.run_id, run.generation)), None)
    if row is None:
        return
    richer = row.state == source.state == RunState.SUCCEEDED and not RICHER.isdisjoint(source.facts)
    facts = source.facts if richer else {}
    more = replace(row, by=row.by or told.by, rerun_key=row.rerun_key or told.rerun_key, facts=facts)
    if more == replace(row, facts={}):
        return
    uow.save_run(more)
    read.runs[run.nominal_time] = tuple(more if one is row else one for one in known)
