"""What the Home tab and the digest look up: open, settled, ending, marked, rerun, asked."""

from dataclasses import replace
from datetime import timedelta

from bot.incidents.keys import JobKey
from bot.incidents.model import AtEnd, DecisionKind, Incident, OwnerDecision, Status
from bot.incidents.people import By
from bot.store import EffectKind, NewEffect, OpenLine, RerunRate
from storage.opening import SqlStorage
from tests.storage.samples import ANA, NOW, acknowledged, booking, incident, lock, minutes, resolved, saved, stored

DAILY, WEEKLY = JobKey(scheduler="cron", name="daily"), JobKey(scheduler="cron", name="weekly")
NEVER = JobKey(scheduler="cron", name="never")


def left(one: Incident, *, until_days: int, status: Status = Status.LEFT) -> Incident:
    decision = OwnerDecision(
        kind=DecisionKind.LEFT, by=By(person=ANA, at=NOW), until=NOW + timedelta(days=until_days), at_end=AtEnd.ASK
    )
    return replace(one, version=one.version + 1, status=status, decision=decision, closed_at=NOW, owed=())


def test_what_is_open_is_told_in_lines_the_oldest_first(storage: SqlStorage) -> None:
    newer, _ = stored(storage, incident(job=DAILY, opened_at=NOW))
    older, _ = stored(storage, incident(job=WEEKLY, opened_at=NOW - minutes(5)))
    saved(storage, acknowledged(newer))
    settled, _ = stored(storage, incident())
    saved(storage, resolved(settled))

    assert storage.reads.open_lines() == (
        OpenLine(
            record=older.record,
            number=1,
            job=WEEKLY,
            status=Status.OPEN,
            opened_at=NOW - minutes(5),
            cause="network.connection_reset",
        ),
        OpenLine(
            record=newer.record,
            number=1,
            job=DAILY,
            status=Status.OPEN,
            opened_at=NOW,
            cause="network.connection_reset",
            held_by="U0ANA",
            held_until=NOW + timedelta(hours=4),
        ),
    )


def test_jobs_are_told_by_name_or_whole(storage: SqlStorage) -> None:
    stored(storage, incident(job=WEEKLY))
    stored(storage, incident(job=DAILY))

    assert storage.reads.job_keys() == (DAILY, WEEKLY)
    assert [row.key for row in storage.reads.jobs_of([WEEKLY, DAILY, NEVER])] == [DAILY, WEEKLY]
    assert storage.reads.jobs_of([]) == ()
    assert len(storage.reads.jobs_of([JobKey(scheduler="cron", name=f"{n}") for n in range(5000)] + [DAILY])) == 1


def test_what_was_put_aside_is_found_by_its_end(storage: SqlStorage) -> None:
    for days, job in ((9, DAILY), (2, WEEKLY)):
        one, _ = stored(storage, incident(job=job))
        saved(storage, left(one, until_days=days))

    assert [one.job for one in storage.reads.ending(before=NOW + timedelta(days=7))] == [WEEKLY]
    assert [one.job for one in storage.reads.ending(before=NOW + timedelta(days=10))] == [WEEKLY, DAILY]
    assert storage.reads.ending(before=NOW + timedelta(days=2)) == ()


def test_what_was_settled_is_found_by_job_and_time(storage: SqlStorage) -> None:
    for job, at in ((DAILY, NOW), (WEEKLY, NOW - minutes(30))):
        one, _ = stored(storage, incident(job=job))
        saved(storage, resolved(one, at=at))
    stored(storage, incident())
    both = [DAILY, WEEKLY, incident().job]

    assert [one.job for one in storage.reads.settled_since(both, since=NOW - minutes(60))] == [WEEKLY, DAILY]
    assert [one.job for one in storage.reads.settled_since(both, since=NOW)] == [DAILY]
    assert [one.job for one in storage.reads.settled_since([WEEKLY], since=NOW - minutes(60))] == [WEEKLY]


def test_reruns_are_counted_by_cause_once_they_ended(storage: SqlStorage) -> None:
    one, _ = stored(storage, incident(job=DAILY))
    results = ["succeeded", "succeeded", "failed", "cancelled", None]
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        job = lock(uow, DAILY)
        for number, result in enumerate(results):
            uow.reserve(booking(one, job_id=job, key=f"r{number}", scopes=()), limits={})
            if result is not None:
                uow.settle_booking(key=f"r{number}", amount=1.0, result=result, at=NOW)
        uow.reserve(booking(one, job_id=job, key="old", scopes=(), at=NOW - timedelta(days=99)), limits={})
        uow.settle_booking(key="old", amount=1.0, result="failed", at=NOW)
        uow.reserve(booking(one, job_id=job, key="freed", scopes=()), limits={})
        uow.release_booking(key="freed", at=NOW)
        uow.commit()
    since = NOW - timedelta(days=90)

    assert storage.reads.rerun_rates([DAILY], since=since) == {"network.connection_reset": RerunRate(worked=2, ended=3)}
    assert storage.reads.rerun_rates([WEEKLY], since=since) == {}


def test_the_newest_record_of_a_job_is_found(storage: SqlStorage) -> None:
    first, _ = stored(storage, incident(job=DAILY))
    saved(storage, resolved(first))
    second, _ = stored(storage, incident(job=DAILY, fingerprint="f2"))
    saved(storage, resolved(second))
    stored(storage, incident(job=DAILY, record=second.record, number=2, fingerprint="f2"))

    assert storage.reads.newest_of([DAILY, NEVER]) == {DAILY: (second.record, 2)}
    assert storage.reads.newest_of([]) == {}


def test_the_asks_of_an_occurrence_are_found_in_order(storage: SqlStorage) -> None:
    def said(key: str, **content: object) -> NewEffect:
        return NewEffect(key=key, kind=EffectKind.REPLY, content=content, due_at=NOW, in_thread=True)

    one, _ = stored(storage, incident(job=DAILY), said("1", kind="ask", mention=[{"id": "U0ANA"}]))
    later = NOW + minutes(5)
    saved(storage, acknowledged(one), said("2", kind="ask", mention=[]), said("3", kind="joined"), now=later)
    other, _ = stored(storage, incident(job=WEEKLY), said("4", kind="evidence"))
    names = [(one.record, 1), (other.record, 1), (99, 1)]

    found = storage.reads.asks_of(names)
    assert {name: [ask.at for ask in asks] for name, asks in found.items()} == {(one.record, 1): [NOW, later]}
    assert found[one.record, 1][0].content["mention"] == [{"id": "U0ANA"}]
    assert storage.reads.asks_of([]) == {}
