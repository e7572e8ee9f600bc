"""What a run, as read, is in the events that intake takes; the same events under the same keys, however it was heard of. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote

from bot.evidence.types import ErrorReport
from bot.incidents.keys import JobKey, RunRef, Trigger
from bot.schedulers.maestro.errors import Failed, killed_by, report
from bot.schedulers.maestro.lateness import finish_by
from bot.schedulers.maestro.memory import Origin
from bot.schedulers.maestro.reading import deeds, entries, instant, name_of, value_of
from bot.schedulers.maestro.requests import RUN_TS
from bot.schedulers.maestro.shapes import FAILED, STOPPED, SUCCEEDED, Instance, Step
from bot.sources import SourceEvent, SourceKind

STARTERS = {"TIME": Trigger.SCHEDULE, "SIGNAL": Trigger.SCHEDULE, "MANUAL": Trigger.MANUAL}
RUN_STRATEGY = "maestro_run_strategy"
"""As whom Maestro stops runs by itself."""
BY_PARENT = frozenset({"SUBWORKFLOW", "FOREACH", "WHILE", "TEMPLATE"})

OwnKey = Callable[[str], str | None]
"""The key under which ontrack asked for the run that Maestro knows by this uuid; None where somebody else did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One run of an instance, with how the instance came about; `base` is Maestro's address.

    `own_key`: that of our request, where the run came of one. `good_at`: when the last good run of the workflow ended.
    """

    scheduler: str
    base: str
    run: Instance
    origin: Origin
    own_key: str | None = None
    good_at: datetime | None = None


def origin_of(first: Instance, *, own_key: str | None = None) -> Origin:
    """How an instance came about, by its first run: later ones have lost it.

    A run by hand stands for a nominal time only where whoever started it said so.
    """
    initiator = first.initiator
    kind = initiator.type.upper()
    nominal = initiator.trigger_time if kind == "TIME" else value_of(first.run_params.get(RUN_TS))
    trigger = Trigger.RERUN if own_key is not None else STARTERS.get(kind, Trigger.SCHEDULE)
    return Origin(
        trigger=trigger.value,
        nominal=nominal if isinstance(nominal, int) and instant(nominal) is not None else None,
        ancestors=_ancestors(first) if kind in BY_PARENT else [],
    )


def lost_origin(run: Instance) -> Origin:
    """The first run is not shown any more: what is known is what every later one keeps."""
    nominal = value_of(run.params.get(RUN_TS))
    return Origin(trigger=Trigger.SCHEDULE.value, nominal=nominal if isinstance(nominal, int) else None)


def part_of(origin: Origin, watched: frozenset[str]) -> str | None:
    """The watched workflow of which the run is a part, so that how it ends shows there; None for one that stands alone."""
    return next((name for name in reversed(origin.ancestors) if name in watched), None)


def scheduled(told: Told, at: datetime) -> SourceEvent | None:
    """It waits for its turn; None unless Maestro says until when it should be done."""
    due = finish_by(told.run, good_at=told.good_at)
    if due is None or told.origin.nominal is None:
        return None
    return _event(told, SourceKind.RUN_SCHEDULED, instant(told.run.create_time) or at, finish_by=due)


def started(told: Told) -> SourceEvent | None:
    """Its start; None while it has not begun, and for one that never did."""
    begun = instant(told.run.start_time)
    if begun is None or not _has_begun(told.run):
        return None
    return _event(told, SourceKind.RUN_STARTED, begun, finish_by=finish_by(told.run, good_at=told.good_at))


def succeeded(told: Told, facts: Mapping[str, Any], at: datetime) -> SourceEvent:
    return _event(told, SourceKind.RUN_SUCCEEDED, _ended(told.run, at), facts=facts)


def failed(told: Told, why: Failed, facts: Mapping[str, Any], at: datetime) -> SourceEvent:
    """Its failure; one that a person brought about was cancelled, though Maestro calls both by the same name."""
    killed = killed_by(told.run, why) if told.run.status in FAILED else None
    if killed is not None:
        return _event(told, SourceKind.RUN_CANCELLED, _ended(told.run, at), facts=facts, by=killed.by)
    error = report(told.run, why)
    return _event(told, SourceKind.RUN_FAILED, _ended(told.run, at), facts=facts, error=error)


def stopped(told: Told, steps: Sequence[Step], strategy: str | None, at: datetime) -> SourceEvent:
    """Stopped by a person, or by the run strategy: one that it did not let begin was left out."""
    run = told.run
    by = stopped_by(run, steps)
    if by is not None and by != RUN_STRATEGY:
        return _event(told, SourceKind.RUN_CANCELLED, _ended(run, at), by=by)
    rule = f"Maestro, by the run strategy {strategy}" if strategy else "Maestro"
    if not _has_begun(run):
        said = next((line.message for line in reversed(entries(run.timeline)) if line.message), "")
        error = ErrorReport(message=said or f"{rule} did not let it begin")
        return _event(told, SourceKind.RUN_SKIPPED, _ended(run, at), error=error)
    return _event(told, SourceKind.RUN_CANCELLED, _ended(run, at), by=rule)


def stopped_by(run: Instance, steps: Sequence[Step]) -> str | None:
    """Who stopped it: of a run that waited its own timeline tells, of one that lived those of its steps."""
    told = [deed for timeline in (run.timeline, *(step.timeline for step in steps)) for deed in deeds(timeline)]
    stops = [deed.by for deed in told if deed.action in ("STOP", "KILL")]
    people = [by for by in stops if by != RUN_STRATEGY]
    return people[-1] if people else next(iter(stops), None)


def _has_begun(run: Instance) -> bool:
    """Whether any of it ran. One that the run strategy gave up at once has a start, and no step that was ever made."""
    if run.status != STOPPED:
        return run.start_time is not None
    steps = run.runtime_overview.step_overview if run.runtime_overview is not None else {}
    return run.start_time is not None and bool(steps.keys() - {"NOT_CREATED"})


def is_over(status: str) -> bool:
    return status in FAILED or status in (SUCCEEDED, STOPPED)


def _event(
    told: Told,
    kind: SourceKind,
    at: datetime,
    *,
    by: str | None = None,
    finish_by: datetime | None = None,
    facts: Mapping[str, Any] | None = None,
    error: ErrorReport | None = None,
) -> SourceEvent:
    run, job = told.run, JobKey(scheduler=told.scheduler, name=told.run.workflow_id)
    is_end = kind not in (SourceKind.RUN_STARTED, SourceKind.RUN_SCHEDULED)
    return SourceEvent(
        id=f"{run.workflow_instance_id}|{run.workflow_run_id}|{kind}",
        kind=kind,
        at=at,
        job=job,
        run=RunRef(
            run_id=str(run.workflow_instance_id),
            nominal_time=instant(told.origin.nominal),
            generation=run.workflow_run_id,
            trigger=_trigger(told),
            url=_url(told),
        ),
        started_at=instant(run.start_time),
        ended_at=at if is_end else None,
        finish_by=finish_by,
        rerun_key=told.own_key,
        error=error,
        facts=facts or {},
        by=by or _starter(told),
    )


def _trigger(told: Told) -> Trigger:
    """What began this run: a restart of what the schedule once began is a rerun, whoever asked for it."""
    first = Trigger(told.origin.trigger)
    return Trigger.RERUN if told.run.workflow_run_id > 1 and first is Trigger.SCHEDULE else first


def _starter(told: Told) -> str | None:
    """The person who began it by hand; None for the schedule and for us."""
    by_hand = told.run.workflow_run_id > 1 or told.origin.trigger == Trigger.MANUAL
    name = name_of(told.run.initiator.user) if by_hand and told.own_key is None else ""
    return name or None


def _url(told: Told) -> str:
    run = told.run
    path = (
        f"workflows/{quote(run.workflow_id, safe='')}/instances/{run.workflow_instance_id}/runs/{run.workflow_run_id}"
    )
    return f"{told.base}/api/v3/{path}"


def _ancestors(first: Instance) -> list[str]:
    """Those whose end hangs on this run's, the nearest last; a parent that does not wait for its part is none of them."""
    found: list[str] = []
    for ancestor in reversed(first.initiator.ancestors):
        if not ancestor.sync:
            return found
        found.insert(0, ancestor.workflow_id)
    root = (first.correlation_id or "").rsplit(":", 2)[0]
    return found or ([root] if root and root != first.workflow_id else [])


def _ended(run: Instance, at: datetime) -> datetime:
    return instant(run.end_time) or instant(run.modify_time) or at
