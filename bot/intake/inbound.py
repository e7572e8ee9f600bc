"""What comes in and what is answered: the values at the mouth of intake. Nothing here decides or stores."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from bot.incidents.downstream_events import DownstreamEvent
from bot.incidents.effects import Told
from bot.incidents.events import DeliveryBuried, DeliveryLate, PersonEvent, SchedulerAnswered, ThreadMoved, TimerDue
from bot.incidents.keys import JobKey
from bot.incidents.model import Incident, Status
from bot.incidents.situation import Decision
from bot.sources import SourceEvent
from bot.store import EffectState


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadlinePassed:
    """A job's deadline came due: `kind` is `start_by` or `finish_by`."""

    job: JobKey
    kind: str
    nominal_time: datetime
    due_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyChanged:
    """The job's policy, schedule or team may differ from now on: deadlines that hang on them are worked out anew."""

    job: JobKey
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DownstreamStuck:
    """A run that hung under an upstream occurrence is still not done, although nothing that it needs is owed any more."""

    job: JobKey
    nominal_time: datetime | None
    upstream: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Consume:
    """The row that this event answers; it goes in the same transaction, and when it is gone already nothing happens."""

    timer: tuple[int, datetime] | None = None
    effect: tuple[int, EffectState] | None = None


AnyEvent = (
    SourceEvent
    | DeadlinePassed
    | PolicyChanged
    | DownstreamStuck
    | DownstreamEvent
    | PersonEvent
    | TimerDue
    | SchedulerAnswered
    | DeliveryBuried
    | DeliveryLate
    | ThreadMoved
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbound:
    """One event with its idempotency key; `occurrence` is (record, number) for all but what sources and jobs tell."""

    key: str
    event: AnyEvent
    occurrence: tuple[int, int] | None = None
    consume: Consume | None = None


def under_new_name(inbound: Inbound, names: Mapping[JobKey, JobKey]) -> Inbound:
    """The same, where it is about a job that has another name by now."""
    event = inbound.event
    if not isinstance(event, SourceEvent | DeadlinePassed | PolicyChanged | DownstreamStuck) or event.job not in names:
        return inbound
    return replace(inbound, event=replace(event, job=names[event.job]))


class Result(StrEnum):
    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of an inbound event; a duplicate gets what the first one got, under its own `result`."""

    result: Result
    reason: str | None = None
    occurrence: tuple[int, int] | None = None
    status: Status | None = None
    told: Told | None = None


def answer_of(decision: Decision, saved: Incident | None) -> Outcome:
    """What is answered about a decision that is stored."""
    return Outcome(
        result=Result.ACCEPTED,
        reason=decision.notes[-1].reason if decision.notes else None,
        occurrence=(saved.record, saved.number) if saved else None,
        status=saved.status if saved else None,
        told=decision.told,
    )
