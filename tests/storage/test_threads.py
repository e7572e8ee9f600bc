"""Many threads at once: nobody is told that the database is locked, no word is lost, no allowance is exceeded."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from bot.incidents.keys import JobKey
from bot.store import StaleIncident, Which
from storage.opening import SqlStorage
from tests.storage.samples import JOB, NOW, acknowledged, booking, incident, lock, request, scope, stored

THREADS, UNITS = 8, 50


def at_once(work: Callable[[int], None]) -> None:
    """`work` in every thread, begun together; its failures are the test's."""
    gate = threading.Barrier(THREADS)

    def begin(number: int) -> None:
        gate.wait()
        work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(begin, range(THREADS)))


def test_every_thread_gets_its_turn_and_versions_are_right(storage: SqlStorage) -> None:
    one, _ = stored(storage, incident())

    def work(number: int) -> None:
        for unit in range(UNITS):
            with storage.begin_write(born_leased=True, now=NOW) as uow:
                lock(uow)
                found = uow.occurrence(record=one.record, number=1)
                assert found is not None
                changed = uow.save_incident(acknowledged(found), expected=found.version)
                uow.add_effects(incident=changed, effects=[request(f"{number}.{unit}")], now=NOW)
                uow.commit()
            assert storage.reads.incident(record=one.record, number=1) is not None

    at_once(work)

    found = storage.reads.incident(record=one.record, number=1)
    assert found is not None
    assert found.version == 1 + THREADS * UNITS
    assert storage.reads.counts()["outbox.waiting"] == THREADS * UNITS


def test_an_allowance_is_never_exceeded(storage: SqlStorage) -> None:
    one, _ = stored(storage, incident())
    limits = {scope(): 10.0, scope("team:data"): 7.5}
    taken: list[str] = []

    def work(number: int) -> None:
        for unit in range(UNITS):
            with storage.begin_write(born_leased=False, now=NOW) as uow:
                key = f"{number}.{unit}"
                if uow.reserve(booking(one, job_id=lock(uow), key=key, amount=0.1), limits=limits):
                    uow.commit()
                    taken.append(key)

    at_once(work)

    with storage.begin_write(born_leased=False, now=NOW) as uow:
        assert uow.booked(scopes=list(limits)) == {scope(): 7.5, scope("team:data"): 7.5}
    assert len(taken) == 75


def test_one_of_many_opens_the_occurrence(storage: SqlStorage) -> None:
    outcomes: list[str] = []

    def work(number: int) -> None:
        try:
            stored(storage, replace(incident(), fingerprint=f"f{number}"))
            outcomes.append("opened")
        except StaleIncident:
            outcomes.append("stale")

    at_once(work)

    assert sorted(outcomes) == ["opened"] + ["stale"] * (THREADS - 1)
    assert len(storage.reads.incidents(which=Which.ALL, limit=99)) == 1


def test_every_row_is_claimed_by_one(storage: SqlStorage) -> None:
    for number in range(10):
        job = JobKey(scheduler="cron", name=f"job-{number}")
        stored(storage, incident(job=job), *(request(f"{number}.{one}") for one in range(10)))
    claimed: list[str] = []

    def work(_number: int) -> None:
        while rows := storage.claim_effects(now=NOW, limit=3):
            claimed.extend(row.key for row in rows)

    at_once(work)

    assert len(claimed) == len(set(claimed)) == 100


def test_a_new_job_is_created_once(storage: SqlStorage) -> None:
    ids: list[int] = []

    def work(_number: int) -> None:
        with storage.begin_write(born_leased=False, now=NOW) as uow:
            ids.append(uow.lock_jobs(keys=[JOB], now=NOW)[JOB].id)
            uow.commit()

    at_once(work)

    assert len(set(ids)) == 1
