"""Reads the body of a request into what its OpenLineage events say, event by event; shared by whoever brings such events.

It must not let a bad event cost another one, or a bad facet cost its event.
"""

import hashlib
from dataclasses import replace
from datetime import datetime

import msgspec
from msgspec import Raw

from bot.schedulers.cloudevents import Rejected
from bot.schedulers.cloudevents_body import PLAIN, TOO_DEEP, NotEvents, UnknownContent, events_of
from bot.schedulers.openlineage.datasets import read_dataset, read_uses
from bot.schedulers.openlineage.facts import kept_of, read_error, read_facts, read_owner
from bot.schedulers.openlineage.heard import DatasetHeard, Heard, JobHeard, RunHeard, Word
from bot.schedulers.openlineage.naming import (
    DagRun,
    JobType,
    job_name,
    read_dag_run,
    read_failing,
    read_job_type,
    read_nominal_time,
    read_parent,
    read_upstream,
)
from bot.schedulers.openlineage.nodes import Facets, Node, Wrong
from bot.store.lineage import Known, PartError


def decode(body: bytes, content_type: str, *, source: str) -> list[Heard | Rejected]:
    """Every event of `body` in its order, understood or rejected. `source` is whose token it came with.

    Raises `UnknownContent`, `Unreadable` or `NotEvents` (see `cloudevents_body`) when no event can be told from it.
    """
    media = content_type.partition(";")[0].strip().lower()
    if media != PLAIN:
        raise UnknownContent(media[:100] or "no content type")
    events = events_of(body, content_type)
    if not events:
        raise NotEvents("expected at least one event, got an empty list")
    return [_one(raw, index, source) for index, raw in enumerate(events)]


def _one(raw: bytes | Raw, index: int, source: str) -> Heard | Rejected:
    id = None
    try:
        event = Node(_object(raw))
        id = _id_of(event)
        return _heard(event, hashlib.sha256(bytes(raw)).hexdigest()[:16], source)
    except Wrong as wrong:
        return Rejected(index=index, id=id, path=wrong.path, reason=wrong.expected)


def _object(raw: bytes | Raw) -> dict[str, object]:
    try:
        found = msgspec.json.decode(raw)
    except RecursionError:
        raise Wrong("", TOO_DEEP) from None
    except msgspec.DecodeError as error:
        raise Wrong("", str(error)[:200]) from None
    if not isinstance(found, dict):
        raise Wrong("", "expected an event as an object")
    return found


def _id_of(event: Node) -> str | None:
    for holder, name in (("run", "runId"), ("dataset", "name"), ("job", "name")):
        found = event.get(holder)
        if isinstance(found, dict):
            try:
                return Node(found).text(name, most=500)
            except Wrong:
                return None
    return None


def _heard(event: Node, digest: str, source: str) -> Heard:
    at = event.need_instant("eventTime")
    ignored: list[str] = []
    if event.get("run") is not None or event.get("eventType") is not None:
        return _run(event, at, digest, ignored, source)
    if event.get("dataset") is not None:
        name, described = read_dataset(event.need_node("dataset"), ignored)
        return DatasetHeard(key=digest, at=at, name=name, described=described, ignored=tuple(ignored))
    if event.get("job") is None:
        raise Wrong("run", "is missing")
    job = event.need_node("job")
    facets = Facets(job, ignored)
    return JobHeard(
        key=digest,
        at=at,
        job=job_name(job, source),
        uses=read_uses(event, ignored),
        owner=facets.read("ownership", read_owner, None),
        ignored=tuple(ignored),
    )


def _run(event: Node, at: datetime, digest: str, ignored: list[str], source: str) -> RunHeard:
    run, job, word = event.need_node("run"), event.need_node("job"), _word(event)
    run_id, named = run.need_name("runId"), job_name(job, source)
    run_facets, job_facets = Facets(run, ignored), Facets(job, ignored)
    kind, dag = read_job_type(job_facets), read_dag_run(run_facets)
    parent = read_parent(run_facets, run_id)
    is_task = dag is not None and dag.task is not None
    own = not is_task and (parent is None or kind.is_dag or dag is not None)
    bare = dag is not None or kind.is_dag
    known = _known(run_facets, dag, kind, at, word)
    uses = read_uses(event, ignored, read_upstream(run_facets, source, bare=bare))
    heard = RunHeard(
        key=f"{word}|{at.isoformat()}" + (f"|{digest}" if word is Word.OTHER else ""),
        word=word,
        at=at,
        run_id=run_id,
        job=dag.dag if dag is not None and dag.task is None else job.need_name("name") if bare else named,
        known=replace(
            known,
            part=dag.task if dag is not None and dag.task else named,
            facts=read_facts(run_facets, job_facets),
            inputs=uses.inputs,
            reads=uses.reads,
            writes=uses.writes,
        ),
        uses=uses,
        parent=None if parent is None else parent.run_id,
        root=_named_root(parent.run_id, parent.root, dag) if parent is not None else None,
        own=own,
        attempt=dag.attempt if dag is not None else 1,
    )
    kept = kept_of(run_facets.rest() | job_facets.rest())
    return replace(heard, known=replace(heard.known, kept=kept), ignored=tuple(ignored))


def _named_root(parent: str, root: str | None, dag: DagRun | None) -> str | None:
    """A task belongs to its DAG run, which may itself have been started by another one."""
    return parent if dag is not None and dag.task else root


def _known(facets: Facets, dag: DagRun | None, kind: JobType, at: datetime, word: Word) -> Known:
    begins, ends = read_nominal_time(facets)
    error: PartError | None = facets.read("errorMessage", read_error, None)
    ended = at if word in (Word.COMPLETE, Word.FAIL, Word.ABORT) else None
    started = at if word is Word.START else None
    common = Known(
        nominal_time=ends or begins,
        started_at=started,
        ended_at=ended,
        error=error,
        failing=read_failing(facets),
        silent=kind.is_spark_application,
        streaming=kind.streams,
    )
    if dag is None:
        return common
    return replace(
        common,
        name=dag.run_id if dag.task is None else None,
        generation=dag.generation,
        nominal_time=dag.nominal_time or ends or dag.logical_time or begins,
        trigger=dag.trigger,
        by=dag.by,
        url=dag.url,
        started_at=dag.started_at or started,
        ended_at=(dag.ended_at or ended) if ended is not None else None,
        tries=dag.tries,
        inner=dag.task is not None,
    )


def _word(event: Node) -> Word:
    told = event.raw_text("eventType")
    if told is None:
        return Word.OTHER
    try:
        return Word(told.strip().upper())
    except ValueError:
        raise Wrong(event.at("eventType"), f"expected one of {', '.join(Word)}") from None
