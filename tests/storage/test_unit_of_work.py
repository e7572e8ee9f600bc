"""What a write transaction promises; how its statements look is nobody's business here."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.incidents.effects import Note
from bot.incidents.keys import Cost, JobKey
from bot.incidents.memory import CauseResult, GoodRun, JobMemory, Sample
from bot.incidents.model import Status
from bot.incidents.people import By
from bot.incidents.policy import SafeMark, Schedule
from bot.store import JobIncidents, KeyTaken, StaleIncident, Which
from storage.opening import SqlStorage
from tests.storage.samples import (
    ANA,
    DAY,
    JOB,
    NOW,
    acknowledged,
    evidence,
    failure,
    incident,
    lock,
    request,
    resolved,
    run,
    saved,
    stored,
)


def test_an_occurrence_comes_back_as_it_was_saved(storage: SqlStorage) -> None:
    one, _ = stored(storage, incident())
    later = acknowledged(one)
    saved(storage, later)

    assert storage.reads.incident(record=one.record, number=1) == later


def test_a_new_record_gets_its_number_when_it_is_saved(storage: SqlStorage) -> None:
    one, _ = stored(storage, incident())
    other, _ = stored(storage, incident(job=JobKey(scheduler="cron", name="other")))

    assert 0 < one.record < other.record


def test_a_unit_without_commit_leaves_nothing(storage: SqlStorage) -> None:
    with storage.begin_write(born_leased=True, now=NOW) as uow:
        lock(uow)
        one = uow.save_incident(incident(), expected=None)
        uow.open_thread(incident=one, channel="C0DATA", continue_from=None)
        uow.add_effects(incident=one, effects=[request("r")], now=NOW)
        uow.remember_outcome(key="event-1", outcome={}, at=NOW)

    assert storage.reads.jobs() == ()
    assert storage.reads.incidents(which=Which.ALL, limit=9) == ()
    assert storage.claim_effects(now=NOW, limit=9) == ()


def test_an_error_on_the_way_leaves_nothing(storage: SqlStorage) -> None:
    def fails() -> None:
        with storage.begin_write(born_leased=True, now=NOW) as uow:
            lock(uow)
            uow.save_incident(incident(), expected=None)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert storage.reads.jobs() == ()


def test_a_job_has_one_unresolved_occurrence(storage: SqlStorage) -> None:
    stored(storage, incident())

    with pytest.raises(StaleIncident, match="another unresolved"):
        stored(storage, incident(fingerprint="f2"))
    assert len(storage.reads.incidents(which=Which.ALL, limit=9)) == 1


def test_a_settled_occurrence_makes_room_for_the_next(storage: SqlStorage) -> None:
    one, _ = stored(storage, incident())
    saved(storage, resolved(one))
    again, _ = stored(storage, incident(record=one.record, number=2))

    assert [found.id for found in storage.reads.incidents(which=Which.UNRESOLVED, limit=9)] == [again.id]


def test_an_occurrence_that_was_changed_since_is_not_overwritten(storage: SqlStorage) -> None:
    one, _ = stored(storage, incident())
    saved(storage, acknowledged(one))

    with pytest.raises(StaleIncident):
        saved(storage, resolved(one))
    found = storage.reads.incident(record=one.record, number=1)
    assert found is not None
    assert found.status is Status.OPEN


def test_two_decisions_of_one_transaction_are_written_as_the_last(storage: SqlStorage) -> None:
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        lock(uow)
        one = uow.save_incident(incident(), expected=None)
        uow.open_thread(incident=one, channel="C0DATA", continue_from=None)
        uow.save_incident(acknowledged(one), expected=1)
        uow.commit()

    (view,) = storage.claim_views(now=NOW, limit=9)
    assert storage.reads.incident(record=one.record, number=1) == acknowledged(one)
    assert view.wanted_version == 2


def test_the_memory_of_a_job_comes_back_whole(storage: SqlStorage) -> None:
    memory = JobMemory(
        schedule=Schedule(cron="30 2 * * *", zone="Europe/Berlin", every=timedelta(minutes=5), next_run_at=NOW),
        last_good=GoodRun(run=run(), ended_at=NOW),
        samples=(Sample(duration=timedelta(seconds=61.5), cost=Cost(amount=0.1, unit="core_hours")),),
        streak=(failure(),),
        marks=(SafeMark(cause="network.connection_reset", team="data", by="ana@example.com", since=NOW),),
        results=(CauseResult(cause="network.connection_reset", succeeded=True),),
    )
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        row = uow.lock_jobs(keys=[JOB], now=NOW)[JOB]
        uow.save_job(replace(row, memory=memory))
        uow.commit()

    found = storage.reads.job(key=JOB)
    assert found is not None
    assert found.memory == memory


def test_jobs_are_created_once_and_keep_their_id(storage: SqlStorage) -> None:
    other = JobKey(scheduler="cron", name="a_first_by_name")
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        first = uow.lock_jobs(keys=[JOB], now=NOW)
        uow.commit()
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        both = uow.lock_jobs(keys=[JOB, other], now=NOW)
        uow.commit()

    assert both[JOB] == first[JOB]
    assert [row.id for row in both.values()] == sorted(row.id for row in both.values())


def test_the_occurrences_of_a_job_are_told_apart(storage: SqlStorage) -> None:
    old, _ = stored(storage, incident())
    saved(storage, resolved(old, at=NOW - timedelta(days=9)))
    newer, _ = stored(storage, incident(fingerprint="f2"))
    saved(storage, resolved(newer))
    left, _ = stored(storage, incident(fingerprint="f3"))
    left = replace(left, version=2, status=Status.LEFT, closed_at=NOW - timedelta(days=3))
    saved(storage, left)
    unresolved, _ = stored(storage, incident(fingerprint="f4"))

    with storage.begin_write(born_leased=False, now=NOW) as uow:
        job = lock(uow)
        found = uow.incidents_of(jobs=[job])
    assert found == {
        job: JobIncidents(unresolved=unresolved, in_force=(left,), newest_settled=resolved(newer)),
    }


def test_a_job_without_trouble_has_no_occurrences(storage: SqlStorage) -> None:
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        job = lock(uow)

        assert uow.incidents_of(jobs=[job]) == {job: JobIncidents()}
        assert uow.previous(job=job, fingerprint="f1", since=DAY) == (None, 0)


def test_the_previous_occurrence_is_the_newest_with_the_same_fingerprint(storage: SqlStorage) -> None:
    for number, days in ((1, 40), (2, 20), (3, 10)):
        one, _ = stored(storage, incident(record=0 if number == 1 else 1, number=number))
        saved(storage, resolved(one, at=NOW - timedelta(days=days)))
    other, _ = stored(storage, incident(fingerprint="f2"))
    saved(storage, resolved(other))

    with storage.begin_write(born_leased=False, now=NOW) as uow:
        job = lock(uow)
        found, times = uow.previous(job=job, fingerprint="f1", since=NOW - timedelta(days=30))
    assert found is not None
    assert (found.record, found.number, times) == (1, 3, 2)


def test_whose_occurrences_these_are(storage: SqlStorage) -> None:
    one, _ = stored(storage, incident())

    with storage.begin_write(born_leased=False, now=NOW) as uow:
        assert uow.job_keys_of(occurrences=[(one.record, 1), (one.record, 2), (99, 1)]) == {(one.record, 1): JOB}


def test_an_event_is_remembered_with_its_outcome(storage: SqlStorage) -> None:
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        uow.remember_outcome(key="event-1", outcome={"result": "accepted"}, at=NOW)
        uow.commit()

    with storage.begin_write(born_leased=False, now=NOW) as uow:
        assert uow.outcomes(keys=["event-1", "event-2"]) == {"event-1": {"result": "accepted"}}
        uow.remember_outcome(key="event-1", outcome={}, at=NOW)
        with pytest.raises(StaleIncident, match="took one of these events in"):
            uow.commit()


def test_evidence_and_timeline_come_back(storage: SqlStorage) -> None:
    one, _ = stored(storage, incident())
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        uow.save_evidence(key="ev-1", evidence=evidence())
        by = By(person=ANA, at=NOW)
        uow.add_notes(incident=one, notes=[Note(kind="acknowledged", reason="said so", by=by)], key="event-2", at=NOW)
        uow.commit()

    assert storage.reads.evidence(key="ev-1") == evidence()
    rows = storage.reads.timeline(record=one.record, number=1)
    assert [(row.kind, row.key, row.by) for row in rows] == [
        ("opened", "event-1", None),
        ("acknowledged", "event-2", by),
    ]


def test_an_effect_is_stored_once_by_its_key(storage: SqlStorage) -> None:
    one, _ = stored(storage, incident(), request("rerun-1"))

    with pytest.raises(KeyTaken):
        saved(storage, acknowledged(one), request("rerun-1"))


def test_an_occurrence_of_a_job_that_is_not_locked_is_refused(storage: SqlStorage) -> None:
    with storage.begin_write(born_leased=False, now=NOW) as uow, pytest.raises(ValueError, match="not locked"):
        uow.save_incident(incident(), expected=None)
