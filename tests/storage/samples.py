"""Jobs, failures and incidents for the tests of the storage, and the shortest ways to store them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.evidence.types import Cause, Change, ChangeKind, Evidence, EvidenceLine, RetryHint, RootError
from bot.incidents.effects import Note
from bot.incidents.keys import Cost, JobKey, RunRef
from bot.incidents.model import (
    Acknowledgement,
    Ask,
    AskKind,
    Chase,
    Failure,
    Incident,
    Outcome,
    Owed,
    OwedPlan,
    Status,
)
from bot.incidents.people import By, Person
from bot.store import (
    EVERYTHING,
    Booking,
    Committed,
    EffectKind,
    NewEffect,
    RunRow,
    RunState,
    Scope,
    Share,
    UnitOfWork,
)
from storage.opening import SqlStorage

NOW = datetime(2026, 11, 30, 3, 12, 0, 250_001, tzinfo=UTC)
NIGHT = datetime(2026, 11, 30, 2, 30, tzinfo=UTC)
DAY = datetime(2026, 11, 30, tzinfo=UTC)
JOB = JobKey(scheduler="cron", name="nightly_load")
ANA = Person(id="U0ANA", name="Ana")


def minutes(number: float) -> timedelta:
    return timedelta(minutes=number)


def run(*, nominal_time: datetime | None = NIGHT, **fields: Any) -> RunRef:
    known: dict[str, Any] = {"run_id": "night-1", "nominal_time": nominal_time}
    return RunRef(**known | fields)


def failure(*, fingerprint: str = "f1", at: datetime = NOW) -> Failure:
    return Failure(
        run=run(),
        at=at,
        fingerprint=fingerprint,
        cause="network.connection_reset",
        title="Connection reset",
        evidence="ev-1",
        cost=Cost(amount=0.5),
    )


def incident(
    *, job: JobKey = JOB, record: int = 0, number: int = 1, fingerprint: str = "f1", **fields: Any
) -> Incident:
    broken = failure(fingerprint=fingerprint)
    known: dict[str, Any] = {
        "record": record,
        "number": number,
        "job": job,
        "status": Status.OPEN,
        "version": 1,
        "opened_at": NOW,
        "fingerprint": fingerprint,
        "failure": broken,
        "owed": (Owed(nominal_time=NIGHT, since=NOW, failure=broken, plan=OwedPlan.SAME_RUN),),
        "chase": Chase(next=Ask(at=NOW + minutes(15), kind=AskKind.LADDER)),
    }
    return Incident(**known | fields)


def acknowledged(one: Incident) -> Incident:
    word = Acknowledgement(by=By(person=ANA, at=NOW), until=NOW + timedelta(hours=4))
    return replace(one, version=one.version + 1, acknowledgement=word)


def resolved(one: Incident, *, at: datetime = NOW) -> Incident:
    return replace(
        one, version=one.version + 1, status=Status.RESOLVED, outcome=Outcome.RECOVERED_BY_HAND, closed_at=at, owed=()
    )


def evidence() -> Evidence:
    return Evidence(
        root=RootError(
            type="ConnectionError", message="reset", lines=(EvidenceLine(number=7, text="reset", decisive=True),)
        ),
        cause=Cause(
            id="network.connection_reset",
            title="Connection reset",
            group="network",
            retry_hint=RetryHint.LIKELY,
            never_safe=False,
            reason="type",
        ),
        fingerprint="f1",
        changes=(Change(path="code.version", kind=ChangeKind.CHANGED, before="a", after="b", note=None, rank=1),),
        facts={"code": {"version": "b"}},
        log_tail="…",
        log_lines=9,
    )


def run_row(job_id: int, *, state: RunState = RunState.FAILED, at: datetime = NOW, **fields: Any) -> RunRow:
    known: dict[str, Any] = {"job_id": job_id, "run": run(), "state": state, "at": at}
    return RunRow(**known | fields)


def reply(key: str, *, due_at: datetime = NOW, lane: int = 5) -> NewEffect:
    return NewEffect(
        key=key, kind=EffectKind.REPLY, content={"said": key, "at": NOW}, due_at=due_at, in_thread=True, lane=lane
    )


def request(key: str, *, due_at: datetime = NOW, lane: int = 5) -> NewEffect:
    return NewEffect(key=key, kind=EffectKind.REQUEST, content={"action": "rerun"}, due_at=due_at, lane=lane)


def scope(name: str = "job:cron/nightly_load") -> Scope:
    return Scope(name=name, unit="run_hours", period_start=DAY)


def booking(one: Incident, *, job_id: int, key: str = "rerun-1", amount: float | None = 1.0, **fields: Any) -> Booking:
    known: dict[str, Any] = {
        "key": key,
        "job_id": job_id,
        "record": one.record,
        "number": one.number,
        "nominal_times": (NIGHT, None),
        "cause": "network.connection_reset",
        "automatic": True,
        "first": True,
        "amount": amount,
        "unit": "run_hours",
        "scopes": (scope(), scope("team:data")),
        "at": NOW,
    }
    return Booking(**known | fields)


def lock(uow: UnitOfWork, job: JobKey = JOB) -> int:
    return uow.lock_jobs(keys=[job], now=NOW)[job].id


def stored(
    storage: SqlStorage,
    one: Incident,
    *effects: NewEffect,
    thread: bool = True,
    born_leased: bool = False,
    share: Share = EVERYTHING,
) -> tuple[Incident, Committed]:
    """Store a new occurrence with its thread and effects."""
    with storage.begin_write(born_leased=born_leased, now=NOW, share=share) as uow:
        lock(uow, one.job)
        one = uow.save_incident(one, expected=None)
        if thread:
            uow.open_thread(incident=one, channel="C0DATA", continue_from=None)
        uow.add_notes(incident=one, notes=[Note(kind="opened", reason="it failed")], key="event-1", at=NOW)
        uow.add_effects(incident=one, effects=effects, now=NOW)
        return one, uow.commit()


def saved(
    storage: SqlStorage, one: Incident, *effects: NewEffect, now: datetime = NOW, born_leased: bool = False
) -> Committed:
    """Store the next version of an occurrence, and effects with it."""
    with storage.begin_write(born_leased=born_leased, now=now) as uow:
        lock(uow, one.job)
        uow.occurrence(record=one.record, number=one.number)
        uow.save_incident(one, expected=one.version - 1)
        uow.add_effects(incident=one, effects=effects, now=now)
        return uow.commit()


def root_posted(storage: SqlStorage, *, ts: str = "1.0", now: datetime = NOW) -> None:
    """Delivery posts every root that waits."""
    for view in storage.claim_views(now=now, limit=100):
        assert storage.begin_view(id=view.id, now=now)
        hand_back(storage, storage.settle_view(row=view, root_ts=view.root_ts or ts, now=now))


def hand_back(storage: SqlStorage, left: Committed | None) -> None:
    """What a settlement leased to this process is there for everybody again."""
    for row in left.effects if left else ():
        assert storage.retry(id=row.id, at=row.due_at, uncertain=False, code="handed_back")
    for view in left.views if left else ():
        storage.retry_view(id=view.id, at=NOW, uncertain=False, code="handed_back")
