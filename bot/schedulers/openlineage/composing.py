"""Makes the event for intake out of a run and its parts. Pure; it must not decide whether it is time for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from bot.evidence.masking import mask_name
from bot.evidence.types import ErrorReport
from bot.incidents.keys import JobKey, RunRef
from bot.schedulers.openlineage.folding import MOST_INPUTS
from bot.schedulers.openlineage.heard import JobHeard
from bot.schedulers.openlineage.rolling import NAMED, Failure, ended_badly, failure_of
from bot.sources import JobChange, SourceEvent, SourceKind
from bot.store.lineage import DatasetUse, LineageRun, Told

JOB_PREFIX = "job:"
KINDS = {
    Told.STARTED: SourceKind.RUN_STARTED,
    Told.SUCCEEDED: SourceKind.RUN_SUCCEEDED,
    Told.FAILED: SourceKind.RUN_FAILED,
    Told.CANCELLED: SourceKind.RUN_CANCELLED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What is known beside a run when its end is told: its parts, and what is known of the datasets."""

    parts: Sequence[LineageRun] = ()
    described: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def started(run: LineageRun, at: datetime) -> SourceEvent:
    return _event(run, SourceKind.RUN_STARTED, at, None, Around())


def ended(run: LineageRun, around: Around) -> SourceEvent:
    """The end of a run as it stands; a failure with what its parts tell."""
    kind = KINDS[run.state]
    if kind is SourceKind.RUN_SUCCEEDED and ended_badly(run, around.parts):
        kind = SourceKind.RUN_FAILED
    failure = failure_of(run, around.parts) if kind is SourceKind.RUN_FAILED else None
    return _event(run, kind, run.state_at, failure, around)


def inputs_of(run: LineageRun, parts: Sequence[LineageRun]) -> dict[str, Mapping[str, Any]]:
    """What the run as a whole reads: the inputs of its parts too, but not what one part made for another."""
    made = set(run.known.writes).union(*(part.known.writes for part in parts))
    found: dict[str, Mapping[str, Any]] = {}
    for one in (run, *sorted(parts, key=lambda part: part.run_id)):
        for name, told in one.known.inputs.items():
            if name not in made and (name in found or len(found) < MOST_INPUTS):
                found[name] = {**found.get(name, {}), **told}
    return found


def uses_of(job: JobKey, known_of: Sequence[LineageRun]) -> set[DatasetUse]:
    """What the job reads and writes by these runs."""
    return {
        DatasetUse(job=job, writes=writes, dataset=dataset)
        for run in known_of
        for writes, datasets in ((False, run.known.reads), (True, run.known.writes))
        for dataset in datasets
    }


def follows(job: JobKey, upstream: Sequence[str]) -> set[DatasetUse]:
    """Both sides of waiting for another job of the same source, told as a dataset that is named for that job."""
    sides: set[DatasetUse] = set()
    for name in upstream:
        other = JobKey(scheduler=job.scheduler, name=name)
        handed = f"{JOB_PREFIX}{other}"
        sides |= {DatasetUse(job=other, writes=True, dataset=handed), DatasetUse(job=job, writes=False, dataset=handed)}
    return sides


def job_changed(heard: JobHeard, source: str) -> SourceEvent | None:
    """What an event of a job outside any run says of its owner; None where it says nothing."""
    if heard.owner is None:
        return None
    return SourceEvent(
        id=heard.key,
        kind=SourceKind.JOB_CHANGED,
        at=heard.at,
        job=JobKey(scheduler=source, name=heard.job),
        change=JobChange(owner=heard.owner),
    )


def _event(run: LineageRun, kind: SourceKind, at: datetime, failure: Failure | None, around: Around) -> SourceEvent:
    known = run.known
    is_end = kind is not SourceKind.RUN_STARTED
    url = failure.part.known.url if failure is not None and failure.part is not None else None
    return SourceEvent(
        id=f"{run.run_id}|{kind}",
        kind=kind,
        at=at,
        job=JobKey(scheduler=run.source, name=run.job),
        run=RunRef(
            run_id=mask_name(known.name or run.run_id),
            nominal_time=known.nominal_time,
            generation=known.generation,
            trigger=known.trigger,
            url=url or known.url,
        ),
        started_at=known.started_at,
        ended_at=(known.ended_at or at) if is_end else None,
        error=_report(run, failure) if failure is not None else None,
        facts=_facts(run, failure, around) if is_end else {},
        by=known.by,
    )


def _report(run: LineageRun, failure: Failure) -> ErrorReport:
    lines = [failure.error.trace] if failure.error.trace else []
    if failure.part is not None:
        names = ", ".join(_called(part) for part in (failure.part, *failure.others[: NAMED - 1]))
        more = len(failure.others) - NAMED + 1
        lines.insert(0, f"Parts of {run.job}: {names}" + (f" and {more} more" if more > 0 else ""))
    return ErrorReport(message=failure.error.message or None, log="\n".join(lines))


def _called(part: LineageRun) -> str:
    tries = f" of {max(part.known.tries, part.attempt)}" if part.known.tries is not None else ""
    return f"{part.known.part} (try {part.attempt}{tries})"


def _facts(run: LineageRun, failure: Failure | None, around: Around) -> dict[str, Any]:
    facts: dict[str, Any] = {**run.known.facts}
    env: dict[str, Any] = {}
    for one in (*sorted(around.parts, key=lambda part: part.run_id), run):
        env |= one.known.facts.get("env", {})
    inputs = {
        name: {**_columns(around.described.get(name, {})), **told}
        for name, told in inputs_of(run, around.parts).items()
    }
    facts |= {space: of for space, of in (("env", env), ("inputs", inputs)) if of}
    if failure is not None and failure.part is not None:
        facts["failed_part"] = {
            "name": failure.part.known.part,
            "attempt": failure.part.attempt,
            "job": failure.part.job,
            "others": [part.known.part for part in failure.others[:NAMED]],
        }
    return facts


def _columns(described: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in described.items() if name == "schema"}
