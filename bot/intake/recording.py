"""Writes down what a source told of a run, as a row and in what the transaction has read. It decides nothing."""

from bot.incidents.events import RunFailed
from bot.intake.reading import ReadEvent
from bot.intake.surroundings import Read
from bot.store import RunRow, RunState, UnitOfWork


def record(uow: UnitOfWork, read: Read, source: ReadEvent, state: RunState) -> None:
    """The run stands there now; the evidence of its failure is kept."""
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
    uow.save_run(row)
    same = (run.run_id, run.generation)
    known = read.runs.get(run.nominal_time, ())
    others = tuple(one for one in known if (one.run.run_id, one.run.generation) != same)
    read.runs[run.nominal_time] = (*others, row)
    if failure is not None and source.evidence is not None:
        uow.save_evidence(key=failure.evidence, evidence=source.evidence)
