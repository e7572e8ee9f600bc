"""How an event is kept so that it can be played again: what intake made of it, masked, never a raw text or a log.

Pure: texts in, texts out. The evidence of a failure is stored under its own key and is not repeated here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias, cast, get_args

import msgspec

from bot.evidence import hide_addresses, mask
from bot.evidence.types import ErrorReport
from bot.incidents.delivery_events import DeliveryBuried, DeliveryLate, ThreadMoved
from bot.incidents.downstream_events import DownstreamEvent
from bot.incidents.events import PersonEvent, RunSkipped
from bot.incidents.keys import Cost, JobKey, RunRef, Trigger
from bot.incidents.people import Standing
from bot.intake.inbound import DownstreamStuck, PolicyChanged
from bot.intake.reading import ReadEvent
from bot.sources import JobChange, SourceEvent, SourceKind

SOURCE = "source"
WORDS = frozenset({"reason", "what", "note", "link", "message"})

Happened: TypeAlias = PersonEvent | DownstreamEvent | DeliveryBuried | DeliveryLate | ThreadMoved
Kept: TypeAlias = SourceEvent | PolicyChanged | DownstreamStuck | Happened
_KINDS: Mapping[str, type] = {kind.__name__: kind for kind in get_args(Kept) if kind is not SourceEvent}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """An event as it was taken in. `about`: the occurrence (record and number there), of the job `of`.

    `standing`: what the person who spoke was to the team that answered then.
    """

    event: Kept
    about: tuple[int, int] | None = None
    of: JobKey | None = None
    standing: Standing | None = None


class _Source(msgspec.Struct, omit_defaults=True, gc=False, tag_field="is", tag=SOURCE):
    """A source event, without what is stored elsewhere (facts, error) and what says nothing."""

    kind: SourceKind
    at: datetime
    scheduler: str
    job: str
    id: str = ""
    run: str | None = None
    nominal: datetime | None = None
    generation: int = 0
    attempt: int = 1
    trigger: Trigger = Trigger.SCHEDULE
    started: datetime | None = None
    ended: datetime | None = None
    finish_by: datetime | None = None
    will_retry: bool = False
    rerun_key: str | None = None
    reason: str = ""
    cost: float | None = None
    unit: str = "run_hours"
    by: str | None = None
    change: JobChange | None = None


class _Other(msgspec.Struct, omit_defaults=True, gc=False, rename={"kind": "is"}):
    """Any other event, by the name of its type."""

    kind: str
    event: msgspec.Raw
    about: tuple[int, int] | None = None
    scheduler: str = ""
    job: str = ""
    standing: Standing | None = None


_encode = msgspec.json.Encoder().encode
_decode_source = msgspec.json.Decoder(_Source).decode
_decode_other = msgspec.json.Decoder(_Other).decode
_STARTS_AS_SOURCE = f'{{"is":"{SOURCE}"'


def record_of_source(read: ReadEvent) -> str:
    """The record of what a source told, as it was read."""
    source, run = read.source, read.source.run
    told = _Source(kind=source.kind, at=source.at, scheduler=source.job.scheduler, job=source.job.name)
    if run is None:
        told.id = source.id
        told.change = source.change
    else:
        told.run, told.nominal, told.generation = run.run_id, run.nominal_time, run.generation
        told.attempt, told.trigger = run.attempt, run.trigger
    told.started, told.ended, told.finish_by = source.started_at, source.ended_at, source.finish_by
    told.will_retry, told.rerun_key, told.by = source.will_retry, source.rerun_key, source.by
    if isinstance(read.event, RunSkipped):
        told.reason = read.event.reason
    if source.cost is not None:
        told.cost, told.unit = source.cost.amount, source.cost.unit
    return _text(told)


def record_of(
    event: object,
    *,
    about: tuple[int, int] | None,
    of: JobKey | None,
    standing: Standing | None = None,
    no_addresses: bool = False,
) -> str | None:
    """The record of any other event; None: it is none that is told from outside. Words of people are masked."""
    kind = type(event).__name__
    if kind not in _KINDS:
        return None
    built = {name: _masked(name, value, no_addresses) for name, value in msgspec.to_builtins(event).items()}
    other = _Other(kind=kind, event=msgspec.Raw(_encode(built)), about=about, standing=standing)
    if of is not None and about is not None:
        other.scheduler, other.job = of.scheduler, of.name
    return _text(other)


def read_record(text: str) -> Recorded:
    """The event that was recorded so. Raises `ValueError` for what no version of ontrack wrote."""
    if text.startswith(_STARTS_AS_SOURCE):
        return Recorded(event=_source(_decode_source(text)))
    other = _decode_other(text)
    kind = _KINDS.get(other.kind)
    if kind is None:
        raise ValueError(f"a record of an unknown kind: {other.kind}")
    event = cast(Kept, msgspec.json.decode(other.event, type=kind))
    of = JobKey(scheduler=other.scheduler, name=other.job) if other.about is not None else None
    return Recorded(event=event, about=other.about, of=of, standing=other.standing)


def _source(told: _Source) -> SourceEvent:
    run = None
    if told.run is not None:
        run = RunRef(
            run_id=told.run,
            nominal_time=told.nominal,
            generation=told.generation,
            attempt=told.attempt,
            trigger=told.trigger,
        )
    return SourceEvent(
        id=told.id,
        kind=told.kind,
        at=told.at,
        job=JobKey(scheduler=told.scheduler, name=told.job),
        run=run,
        started_at=told.started,
        ended_at=told.ended,
        finish_by=told.finish_by,
        will_retry=told.will_retry,
        rerun_key=told.rerun_key,
        error=ErrorReport(message=told.reason) if told.reason else None,
        cost=Cost(amount=told.cost, unit=told.unit) if told.cost is not None else None,
        by=told.by,
        change=told.change,
    )


def _masked(name: str, value: Any, no_addresses: bool) -> Any:
    if name not in WORDS or not isinstance(value, str) or not value:
        return value
    return hide_addresses(mask(value)) if no_addresses else mask(value)


def _text(value: object) -> str:
    try:
        return _encode(value).decode()
    except UnicodeEncodeError:
        return _encode(_replaced(msgspec.to_builtins(value))).decode()


def _replaced(value: Any) -> Any:
    """What a database cannot keep is replaced: halves of characters."""
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case dict():
            return {_replaced(name): _replaced(one) for name, one in value.items()}
        case list() | tuple():
            return [_replaced(one) for one in value]
    return value
