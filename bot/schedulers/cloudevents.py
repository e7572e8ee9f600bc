"""Reads CloudEvents 1.0 in JSON into source events, event by event; shared by the events door and by pollers.

It must not let a bad event cost another one, judge who may send what, or clean an error's text.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, NoReturn, TypeVar

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from bot import cron
from bot.evidence.cleaning import clean
from bot.evidence.masking import mask_name
from bot.evidence.types import ErrorReport
from bot.incidents.keys import Cost, JobKey, RunRef, Trigger
from bot.incidents.policy import Schedule
from bot.incidents.target import Target
from bot.policies.readings import Misread, read_clock_time, read_duration
from bot.schedulers.cloudevents_body import TOO_DEEP, NotEvents, events_of
from bot.sources import JobChange, SourceEvent, SourceKind

PREFIX = "io.ontrack."
LONGEST_NAME = 500
LONGEST_NAME_BYTES = 1000
FIRST_YEAR, LAST_YEAR = 1970, 2199

Name = Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME)]
Line = Annotated[str, Meta(max_length=2000)]
Count = Annotated[int, Meta(ge=0, le=1_000_000_000)]
Amount = Annotated[float, Meta(ge=0, le=1e12)]
Instant = Annotated[datetime, Meta(tz=True)]

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_PLACE = re.compile(r"(.*?)(?: - at `\$?\.?(.*)`)?", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(.*)`")

_Shape = TypeVar("_Shape")
_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """An event that was not understood: its place and id, the path of the field and what was expected there."""

    index: int
    id: str | None
    path: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}" if self.path else self.reason


class _Wrong(Exception):
    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason


class _Envelope(Struct):
    specversion: str
    id: Name
    source: Line
    type: Name
    data: Raw
    time: Instant | None = None


class _Run(Struct):
    id: Name
    generation: Count | None = None
    attempt: Count | None = None
    nominal_time: Instant | None = None
    started_at: Instant | None = None
    ended_at: Instant | None = None
    finish_by: Instant | None = None
    rerun_key: Name | None = None
    url: Line | None = None
    trigger: Trigger | None = None
    will_retry: bool | None = None


class _Error(Struct):
    type: str | None = None
    message: str | None = None
    exit_code: Annotated[int, Meta(ge=-(2**31), lt=2**32)] | None = None
    signal: Line | None = None
    log: str | None = None


class _Cost(Struct):
    amount: Amount
    unit: Name | None = None


class _RunData(Struct):
    scheduler: Name
    job: Name
    run: _Run
    error: _Error | None = None
    facts: dict[str, Any] | None = None
    cost: _Cost | None = None
    by: Line | None = None


class _Schedule(Struct):
    cron: Line | None = None
    timezone: Name | None = None
    every: Name | None = None
    next_run: Instant | None = None


class _Target(Struct):
    finish_within: Name | None = None
    finish_by: Name | None = None
    timezone: Name | None = None


class _JobData(Struct):
    scheduler: Name
    job: Name
    schedule: _Schedule | None = None
    target: _Target | UnsetType | None = UNSET
    owner: Line | None = None
    deleted: bool | None = None
    renamed_to: Name | None = None


class _Named(Struct):
    id: str


def decode(body: bytes, content_type: str) -> list[SourceEvent | Rejected]:
    """Every event of `body` in its order, understood or rejected.

    Raises `UnknownContent`, `Unreadable` or `NotEvents` (see `cloudevents_body`) when no event can be told from it.
    """
    events = events_of(body, content_type)
    if not events:
        raise NotEvents("expected at least one event, got an empty list")
    return [_one(raw, index) for index, raw in enumerate(events)]


def _one(raw: bytes | Raw, index: int) -> SourceEvent | Rejected:
    try:
        envelope = _shaped(raw, _Envelope, "")
        _check_envelope(envelope)
        kind = _kind(envelope.type)
        if kind is SourceKind.JOB_CHANGED:
            return _job_event(envelope, kind, _shaped(envelope.data, _JobData, "data"))
        return _run_event(envelope, kind, _shaped(envelope.data, _RunData, "data"))
    except _Wrong as wrong:
        return Rejected(index=index, id=_id_of(raw), path=wrong.path, reason=wrong.reason)


def _shaped(raw: bytes | Raw, shape: type[_Shape], prefix: str) -> _Shape:
    try:
        return msgspec.json.decode(raw, type=shape)
    except RecursionError:
        raise _Wrong(prefix, TOO_DEEP) from None
    except msgspec.DecodeError as error:
        _tell(str(error), prefix)


def _tell(said: str, prefix: str) -> NoReturn:
    """Raise what the decoder said as a path and what was expected there."""
    found = _PLACE.fullmatch(said)
    message, place = (found[1], found[2] or "") if found else (said, "")
    missing = _MISSING.fullmatch(message)
    steps = (prefix, place, missing[1] if missing else "")
    path = ".".join(step for step in steps if step)
    reason = "is missing" if missing else message[:1].lower() + message[1:].replace("`", "").replace(" | ", " or ")
    raise _Wrong(path, reason[:300]) from None


def _id_of(raw: bytes | Raw) -> str | None:
    try:
        return _CONTROL.sub("", msgspec.json.decode(raw, type=_Named).id[:LONGEST_NAME])
    except (msgspec.DecodeError, RecursionError):
        return None


def _check_envelope(envelope: _Envelope) -> None:
    if envelope.specversion != "1.0":
        raise _Wrong("specversion", 'expected "1.0"')
    if not envelope.source:
        raise _Wrong("source", "expected a name that is not empty")
    _plain_name(envelope.id, "id")


def _kind(written: str) -> SourceKind:
    try:
        return SourceKind(written.removeprefix(PREFIX) if written.startswith(PREFIX) else "")
    except ValueError:
        raise _Wrong("type", f"expected one of {', '.join(PREFIX + kind for kind in SourceKind)}") from None


def _run_event(envelope: _Envelope, kind: SourceKind, data: _RunData) -> SourceEvent:
    run = data.run
    started_at = _instant(run.started_at, "data.run.started_at")
    ended_at = _instant(run.ended_at, "data.run.ended_at")
    at = _instant(envelope.time, "time") or ended_at or started_at
    if at is None:
        raise _Wrong("time", "is missing, and the run has neither started_at nor ended_at")
    return SourceEvent(
        id=envelope.id,
        kind=kind,
        at=at,
        job=_job(data.scheduler, data.job),
        run=RunRef(
            run_id=mask_name(_plain_name(run.id, "data.run.id")),
            nominal_time=_instant(run.nominal_time, "data.run.nominal_time"),
            generation=run.generation or 0,
            attempt=1 if run.attempt is None else run.attempt,
            trigger=run.trigger or Trigger.SCHEDULE,
            url=_CONTROL.sub("", run.url) or None if run.url else None,
        ),
        started_at=started_at,
        ended_at=ended_at,
        finish_by=_instant(run.finish_by, "data.run.finish_by"),
        will_retry=bool(run.will_retry) and kind is SourceKind.RUN_FAILED,
        rerun_key=_plain_name(run.rerun_key, "data.run.rerun_key") if run.rerun_key else None,
        error=_error(data.error, kind),
        facts=data.facts or {},
        cost=_cost(data.cost),
        by=clean(data.by).strip() or None if data.by else None,
    )


def _job_event(envelope: _Envelope, kind: SourceKind, data: _JobData) -> SourceEvent:
    at = _instant(envelope.time, "time")
    if at is None:
        raise _Wrong("time", "is missing")
    return SourceEvent(
        id=mask_name(envelope.id),
        kind=kind,
        at=at,
        job=_job(data.scheduler, data.job),
        change=JobChange(
            schedule=_schedule(data.schedule) if data.schedule else None,
            target=_target(data.target) if data.target is not UNSET else None,
            owner=clean(data.owner).strip() or None if data.owner else None,
            deleted=bool(data.deleted),
            renamed_to=_plain_name(data.renamed_to, "data.renamed_to") if data.renamed_to else None,
        ),
    )


def _schedule(told: _Schedule) -> Schedule:
    schedule = Schedule(
        cron=told.cron or None,
        zone=told.timezone or "UTC",
        every=_read(read_duration, told.every, "data.schedule.every"),
        next_run_at=_instant(told.next_run, "data.schedule.next_run"),
    )
    wrong = cron.check(schedule)
    if wrong is not None:
        raise _Wrong("data.schedule", wrong)
    return schedule


def _read(reading: Callable[[str], _Read], text: str | None, path: str) -> _Read | None:
    try:
        return reading(text) if text else None
    except Misread as misread:
        raise _Wrong(path, misread.message) from None


def _target(told: _Target | None) -> Target:
    """`null`, or a target that says nothing: there is none from now on."""
    if told is None:
        return Target()
    if told.finish_within and told.finish_by:
        raise _Wrong("data.target", "expected finish_within or finish_by, not both")
    zone = told.timezone or "UTC"
    try:
        cron.zone_of(zone)
    except ValueError as error:
        raise _Wrong("data.target.timezone", str(error)) from None
    return Target(
        finish_within=_read(read_duration, told.finish_within, "data.target.finish_within"),
        finish_by=_read(read_clock_time, told.finish_by, "data.target.finish_by"),
        zone=zone,
    )


def _error(told: _Error | None, kind: SourceKind) -> ErrorReport | None:
    if told is None:
        return ErrorReport() if kind is SourceKind.RUN_FAILED else None
    return ErrorReport(
        type=told.type, message=told.message, exit_code=told.exit_code, signal=told.signal, log=told.log or ""
    )


def _cost(told: _Cost | None) -> Cost | None:
    if told is None:
        return None
    return (
        Cost(amount=told.amount, unit=_plain_name(told.unit, "data.cost.unit"))
        if told.unit
        else Cost(amount=told.amount)
    )


def _job(scheduler: str, name: str) -> JobKey:
    return JobKey(scheduler=_plain_name(scheduler, "data.scheduler"), name=_plain_name(name, "data.job"))


def _plain_name(value: str, path: str) -> str:
    if _CONTROL.search(value):
        raise _Wrong(path, "expected a name without control characters")
    if len(value.encode()) > LONGEST_NAME_BYTES:
        raise _Wrong(path, f"expected at most {LONGEST_NAME_BYTES} bytes")
    return value


def _instant(value: datetime | None, path: str) -> datetime | None:
    if value is None:
        return None
    if not FIRST_YEAR <= value.year <= LAST_YEAR:
        raise _Wrong(path, f"expected a time between {FIRST_YEAR} and {LAST_YEAR}")
    return value.astimezone(UTC)
