"""Timers follow what they are about; each is consumed once."""

from bot.incidents.model import TimerKind
from bot.store import JobTimer
from storage.opening import SqlStorage
from tests.storage.samples import (
    JOB,
    NIGHT,
    NOW,
    acknowledged,
    incident,
    lock,
    minutes,
    resolved,
    saved,
    stored,
)


def test_timers_follow_the_incident(storage: SqlStorage) -> None:
    one, committed = stored(storage, incident())
    assert committed.next_timer_at == NOW + minutes(15)
    (timer,) = storage.due_timers(now=NOW + minutes(15), limit=9)
    assert timer.timer is not None
    assert (timer.timer.kind, timer.record, timer.job) == (TimerKind.ASK, one.record, JOB)

    saved(storage, resolved(one))

    assert storage.due_timers(now=NOW + minutes(15), limit=9) == ()
    assert storage.next_timer_at() is None


def test_a_timer_is_consumed_once_and_only_as_it_was_read(storage: SqlStorage) -> None:
    stored(storage, incident())
    (timer,) = storage.due_timers(now=NOW + minutes(15), limit=9)

    with storage.begin_write(born_leased=False, now=NOW) as uow:
        assert not uow.consume_timer(id=timer.id, due_at=NOW)
        assert uow.consume_timer(id=timer.id, due_at=timer.due_at)
        assert not uow.consume_timer(id=timer.id, due_at=timer.due_at)
        uow.commit()


def test_a_consumed_timer_lives_again_when_the_incident_still_wants_it(storage: SqlStorage) -> None:
    one, _ = stored(storage, incident())
    (timer,) = storage.due_timers(now=NOW + minutes(15), limit=9)
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        uow.consume_timer(id=timer.id, due_at=timer.due_at)
        lock(uow)
        uow.save_incident(acknowledged(one), expected=1)
        uow.commit()

    (again,) = storage.due_timers(now=NOW + minutes(15), limit=9)
    assert again.id != timer.id


def test_the_deadlines_of_a_job_are_replaced_by_kind(storage: SqlStorage) -> None:
    start = JobTimer(kind="start_by", nominal_time=NIGHT, due_at=NOW)
    finish = JobTimer(kind="finish_by", nominal_time=NIGHT, due_at=NOW + minutes(1))
    other_finish = JobTimer(kind="finish_by", nominal_time=None, due_at=NOW + minutes(2))
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        job = lock(uow)
        uow.set_job_timers(job=job, timers=[start, finish, other_finish], kinds=["start_by", "finish_by"])
        uow.commit()
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        uow.set_job_timers(job=job, timers=[finish], kinds=["finish_by"])
        committed = uow.commit()

    found = storage.due_timers(now=NOW + minutes(9), limit=9)
    assert [(timer.kind, timer.nominal_time, timer.record) for timer in found] == [
        ("start_by", NIGHT, None),
        ("finish_by", NIGHT, None),
    ]
    assert committed.next_timer_at == NOW + minutes(1)


def test_a_poison_timer_steps_aside(storage: SqlStorage) -> None:
    stored(storage, incident())
    (timer,) = storage.due_timers(now=NOW + minutes(15), limit=9)

    storage.postpone_timer(id=timer.id, to=NOW + minutes(20))

    assert storage.due_timers(now=NOW + minutes(15), limit=9) == ()
    assert storage.next_timer_at() == NOW + minutes(20)
