"""What a DAG run, as polled, is in the events that intake takes; under the same keys as the lineage door's. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from bot.evidence.masking import mask_name
from bot.evidence.types import ErrorReport
from bot.incidents.keys import Action, JobKey, RunRef, Trigger
from bot.incidents.policy import Schedule
from bot.schedulers.airflow.audit import Deed, Done
from bot.schedulers.airflow.logs import exception_in, text_of
from bot.schedulers.airflow.memory import DagSeen, begun_by
from bot.schedulers.airflow.notes import WORDS, marks_in
from bot.schedulers.airflow.shapes import DagRun, TaskInstance
from bot.schedulers.openlineage.naming import TRIGGERS
from bot.sources import JobChange, SourceEvent, SourceKind

NAMED = 8
BY_HAND = (Deed.SUCCESS, Deed.FAILED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """What is known of a failure beside the run: its failed tasks, the first one first, and that one's log.

    `unread`: why there is no log.
    """

    tasks: tuple[TaskInstance, ...] = ()
    total: int = 0
    log: Sequence[Any] = ()
    unread: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A run in its generation, with what was done to it by hand or by us, and how its DAG was last read."""

    scheduler: str
    base: str
    run: DagRun
    generation: int
    done: Sequence[Done] = ()
    dag: DagSeen | None = None


def started(told: Told) -> SourceEvent | None:
    """Its start; None while it has not begun."""
    run = told.run
    if run.state == "queued" or run.start_date is None:
        return None
    return _event(told, SourceKind.RUN_STARTED, run.start_date, by=_starter(told))


def by_hand(told: Told) -> Done | None:
    """Who set the state in which the run ended, where it did not get there by itself."""
    run = told.run
    since, until = run.start_date or run.queued_at, run.end_date
    marks = [one for one in told.done if one.deed in BY_HAND and (since is None or one.at >= since)]
    newest = marks[-1] if marks else None
    if newest is None or newest.deed != run.state:
        return None
    already_failed = run.state == "failed" and until is not None and newest.at > until
    return None if already_failed else newest


def ended(told: Told, failed: Failed, *, now: datetime) -> SourceEvent:
    """Its end. One that a person marked came to no end of its own: it was cancelled, whatever its state is called."""
    run = told.run
    at = run.end_date or now
    hand = by_hand(told)
    if hand is not None:
        stops = [mark for mark in marks_in(hand.note) if mark.action == "stopped"]
        by = stops[-1].by if stops else hand.by or "somebody"
        words = by if hand.deed is Deed.FAILED else f"{by}, who marked it successful in Airflow,"
        return _event(told, SourceKind.RUN_CANCELLED, at, by=words)
    if run.state == "success":
        return _event(told, SourceKind.RUN_SUCCEEDED, at, by=_starter(told))
    return _event(told, SourceKind.RUN_FAILED, at, by=_starter(told), failed=failed)


def changed(dag: str, seen: DagSeen, *, scheduler: str, at: datetime, deleted: bool = False) -> SourceEvent:
    """A DAG as it is now; one that is paused is due at no time."""
    return SourceEvent(
        id=f"{at.isoformat()}|{seen.next_run_at}|{seen.paused}|{seen.owner}|{deleted}",
        kind=SourceKind.JOB_CHANGED,
        at=at,
        job=JobKey(scheduler=scheduler, name=dag),
        change=JobChange(
            schedule=Schedule(next_run_at=seen.next_run_at),
            owner=seen.owner or None,
            reads=tuple(seen.reads) if seen.reads is not None else None,
            writes=tuple(seen.writes) if seen.writes is not None else None,
            deleted=deleted,
        ),
    )


def _event(told: Told, kind: SourceKind, at: datetime, *, by: str | None, failed: Failed | None = None) -> SourceEvent:
    run, is_end = told.run, kind is not SourceKind.RUN_STARTED
    nominal = run.nominal_time
    return SourceEvent(
        id=f"{run.dag_run_id}|{told.generation}|{kind}",
        kind=kind,
        at=at.astimezone(UTC),
        job=JobKey(scheduler=told.scheduler, name=run.dag_id),
        run=RunRef(
            run_id=mask_name(run.dag_run_id),
            nominal_time=nominal.astimezone(UTC) if nominal is not None else None,
            generation=told.generation,
            trigger=_trigger(told),
            url=f"{told.base}/dags/{quote(run.dag_id, safe='')}/runs/{quote(run.dag_run_id, safe='')}",
        ),
        started_at=run.start_date.astimezone(UTC) if run.start_date is not None else None,
        ended_at=at.astimezone(UTC) if is_end else None,
        rerun_key=_rerun_key(told),
        error=_report(run, failed) if failed is not None else None,
        facts=_facts(told, failed) if is_end else {},
        by=by,
    )


def _trigger(told: Told) -> Trigger:
    """What began this generation: a clear of what the schedule once began is a rerun, whoever cleared it."""
    first = TRIGGERS.get(told.run.run_type, Trigger.SCHEDULE)
    return Trigger.RERUN if told.generation and first is Trigger.SCHEDULE else first


def _newest_clear(told: Told) -> Done | None:
    begun = begun_by(told.run, told.done)
    return begun[-1] if begun else None


def _rerun_key(told: Told) -> str | None:
    """The key of the rerun that this generation is, or of the start; None where somebody else began it."""
    clear = _newest_clear(told)
    if clear is None and told.generation:
        return None
    note, word = (told.run.note, WORDS[Action.START]) if clear is None else (clear.note, WORDS[Action.RERUN])
    ours = [mark for mark in marks_in(note) if mark.action == word]
    return ours[-1].key if ours else None


def _starter(told: Told) -> str | None:
    """The person who began it by hand; None for the schedule and for us."""
    clear = _newest_clear(told)
    if clear is not None:
        return None if clear.ours else clear.by
    manual = TRIGGERS.get(told.run.run_type) is Trigger.MANUAL
    by_a_person = manual and not told.generation and _rerun_key(told) is None
    return told.run.triggering_user_name if by_a_person else None


def _report(run: DagRun, failed: Failed) -> ErrorReport:
    kind, message = exception_in(failed.log)
    text = text_of(failed.log)
    lines = [text] if text else [failed.unread] if failed.unread else []
    if failed.tasks:
        names = ", ".join(_called(task) for task in failed.tasks[:NAMED])
        more = failed.total - min(len(failed.tasks), NAMED)
        lines.insert(0, f"Parts of {run.dag_id}: {names}" + (f" and {more} more" if more > 0 else ""))
    return ErrorReport(type=kind, message=message, log="\n".join(lines))


def _called(task: TaskInstance) -> str:
    most = f" of {task.max_tries + 1}" if task.max_tries is not None and task.max_tries + 1 >= task.try_number else ""
    return f"{task.called} (try {task.try_number}{most})"


def _facts(told: Told, failed: Failed | None) -> dict[str, Any]:
    run = told.run
    version = run.dag_versions[-1] if run.dag_versions else None
    number = version.version_number if version is not None else None
    bundle = run.bundle_version or (version.bundle_version if version is not None else None)
    code = {
        "version": bundle or (str(number) if number is not None else None),
        "definition_version": number if bundle else None,
        "bundle": version.bundle_name if version is not None else None,
    }
    spaces: dict[str, dict[str, Any]] = {
        "code": code,
        "params": run.conf or {},
        "config": {
            "schedule": told.dag.schedule if told.dag is not None else None,
            "tags": (told.dag.tags or None) if told.dag is not None else None,
        },
        "job": {"owner": (told.dag.owner or None) if told.dag is not None else None},
    }
    if failed is not None and failed.tasks:
        first = failed.tasks[0]
        spaces["failed_part"] = {
            "name": first.called,
            "attempt": first.try_number,
            "job": f"{run.dag_id}.{first.task_id}",
            "others": [task.called for task in failed.tasks[1:NAMED]],
        }
    kept = {space: {name: value for name, value in of.items() if value is not None} for space, of in spaces.items()}
    return {space: of for space, of in kept.items() if of}
