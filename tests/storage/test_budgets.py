"""An allowance is never exceeded by reservations, and what was really used replaces them."""

import pytest

from bot.incidents.keys import JobKey
from bot.incidents.model import Incident
from bot.store import KeyTaken, Scope
from storage.opening import SqlStorage
from tests.storage.samples import NOW, booking, incident, lock, scope, stored

JOB_SCOPE, TEAM_SCOPE = scope(), scope("team:data")
LIMITS = {JOB_SCOPE: 3.0, TEAM_SCOPE: 5.0}


@pytest.fixture
def one(storage: SqlStorage) -> Incident:
    return stored(storage, incident())[0]


def reserve(storage: SqlStorage, one: Incident, key: str, amount: float | None, *, automatic: bool = True) -> bool:
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        job_id = lock(uow)
        wanted = booking(one, job_id=job_id, key=key, amount=amount, automatic=automatic)
        taken = uow.reserve(wanted, limits=LIMITS if automatic else {})
        if taken:
            uow.commit()
        return taken


def used(storage: SqlStorage) -> tuple[float, float]:
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        found: dict[Scope, float] = uow.booked(scopes=[JOB_SCOPE, TEAM_SCOPE])
    return found[JOB_SCOPE], found[TEAM_SCOPE]


def test_nothing_is_used_at_first(storage: SqlStorage) -> None:
    assert used(storage) == (0.0, 0.0)


def test_an_allowance_is_used_up_to_its_limit_and_not_beyond(storage: SqlStorage, one: Incident) -> None:
    assert [reserve(storage, one, f"r{number}", 0.3) for number in range(11)] == [True] * 10 + [False]
    assert used(storage) == (3.0, 3.0)


def test_one_scope_without_allowance_leaves_the_other_as_it_was(storage: SqlStorage, one: Incident) -> None:
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        job_id = lock(uow)
        for_the_team = booking(one, job_id=job_id, key="others", amount=4.5, scopes=(TEAM_SCOPE,))
        assert uow.reserve(for_the_team, limits=LIMITS)
        refused = booking(one, job_id=job_id, key="ours", amount=0.7)
        assert not uow.reserve(refused, limits=LIMITS)
        assert uow.booking(key="ours") is None
        uow.commit()

    assert used(storage) == (0.0, 4.5)


def test_an_estimate_above_the_limit_is_refused_at_once(storage: SqlStorage, one: Incident) -> None:
    assert not reserve(storage, one, "r", 3.1)
    assert used(storage) == (0.0, 0.0)


def test_a_booking_comes_back_as_it_was_made(storage: SqlStorage, one: Incident) -> None:
    assert reserve(storage, one, "r", 1.5)

    with storage.begin_write(born_leased=False, now=NOW) as uow:
        assert uow.booking(key="r") == booking(one, job_id=lock(uow), key="r", amount=1.5)
    assert [found.key for found in storage.reads.reruns_of(record=one.record, number=1)] == ["r"]


def test_settling_books_what_was_used_and_only_once(storage: SqlStorage, one: Incident) -> None:
    reserve(storage, one, "r", 1.0)
    for amount in (2.5, 9.0):
        with storage.begin_write(born_leased=False, now=NOW) as uow:
            uow.settle_booking(key="r", amount=amount, result="failed", at=NOW)
            uow.commit()

    assert used(storage) == (2.5, 2.5)
    (found,) = storage.reads.reruns_of(record=one.record, number=1)
    assert (found.amount, found.result) == (2.5, "failed")


def test_an_overdraft_counts(storage: SqlStorage, one: Incident) -> None:
    reserve(storage, one, "r", 1.0)
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        uow.settle_booking(key="r", amount=4.0, result="succeeded", at=NOW)
        uow.commit()

    assert not reserve(storage, one, "again", 0.1)


def test_a_settlement_without_a_reported_amount_keeps_the_estimate(storage: SqlStorage, one: Incident) -> None:
    reserve(storage, one, "r", 1.0)
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        uow.settle_booking(key="r", amount=None, result="succeeded", at=NOW)
        uow.commit()

    assert used(storage) == (1.0, 1.0)


def test_a_released_reservation_is_given_back_once(storage: SqlStorage, one: Incident) -> None:
    reserve(storage, one, "r", 1.0)
    for _ in range(2):
        with storage.begin_write(born_leased=False, now=NOW) as uow:
            uow.release_booking(key="r", at=NOW)
            uow.settle_booking(key="r", amount=2.0, result="late", at=NOW)
            uow.commit()

    assert used(storage) == (0.0, 0.0)


def test_an_approved_rerun_leaves_the_automatic_allowance_alone(storage: SqlStorage, one: Incident) -> None:
    assert reserve(storage, one, "approved", 100.0, automatic=False)
    assert reserve(storage, one, "unknown", None, automatic=False)
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        uow.settle_booking(key="unknown", amount=7.0, result="succeeded", at=NOW)
        uow.commit()

    assert used(storage) == (0.0, 0.0)


def test_a_reservation_that_is_not_committed_is_none(storage: SqlStorage, one: Incident) -> None:
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        assert uow.reserve(booking(one, job_id=lock(uow)), limits=LIMITS)

    assert used(storage) == (0.0, 0.0)


def test_a_rerun_is_booked_once_by_its_key(storage: SqlStorage, one: Incident) -> None:
    reserve(storage, one, "r", 1.0)

    with pytest.raises(KeyTaken):
        reserve(storage, one, "r", 1.0)
    assert used(storage) == (1.0, 1.0)


def test_the_keys_of_a_jobs_last_reruns_are_told_the_newest_first(storage: SqlStorage, one: Incident) -> None:
    for number in range(5):
        assert reserve(storage, one, f"r{number}", 0.1)

    assert storage.reads.rerun_keys(one.job, most=3) == ("r0", "r1", "r2")
    assert set(storage.reads.rerun_keys(one.job, most=9)) == {f"r{number}" for number in range(5)}
    assert storage.reads.rerun_keys(JobKey(scheduler="another", name=one.job.name), most=9) == ()
