"""What holds for PostgreSQL only: lost connections, time limits, transactions that meet."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from sqlalchemy import text

from bot.incidents.keys import JobKey
from bot.store import EffectState, StaleIncident, StorageDown
from storage.opening import open_storage
from tests.storage.conftest import OpenNamed
from tests.storage.samples import JOB, NOW, booking, incident, lock, minutes, request, root_posted, scope, stored
from tests.storage.sessions import end_sessions, held_up

OTHER = JobKey(scheduler="cron", name="other_load")


def test_connections_that_the_server_ended_are_replaced_unnoticed(process: OpenNamed, postgresql_url: str) -> None:
    mine = process("web")
    one, _ = stored(mine, incident())

    assert end_sessions(postgresql_url) >= 3
    assert mine.reads.incident(record=one.record, number=1) == one
    root_posted(mine)


def test_a_connection_lost_in_a_transaction_is_told_in_the_words_of_the_port(
    process: OpenNamed, postgresql_url: str
) -> None:
    mine = process("web")

    def write() -> None:
        with mine.begin_write(born_leased=False, now=NOW) as uow:
            lock(uow)
            end_sessions(postgresql_url)
            uow.outcomes(keys=["event-1"])

    with pytest.raises(StorageDown):
        write()


def test_a_database_that_only_reads_is_down(process: OpenNamed, postgresql_url: str) -> None:
    """As after a failover: what is refused is refused to everybody, and must not be taken for a poison event."""
    name = postgresql_url.partition("@/")[2].partition("?")[0]
    mine = process("web")
    with psycopg.connect(postgresql_url, autocommit=True) as admin:
        admin.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on'.encode())
    end_sessions(postgresql_url)

    with pytest.raises(StorageDown, match="read-only"):
        stored(mine, incident())


def test_a_commands_view_writes_nothing(postgresql_url: str) -> None:
    looking = open_storage(postgresql_url, instance="cli", read_only=True)

    with pytest.raises(StorageDown, match="read-only"), looking._database.read() as connection:
        connection.execute(text("DELETE FROM jobs"))
    looking.close()


def both(first: Callable[[], None], second: Callable[[], None]) -> list[type[BaseException]]:
    """What the two raised when they ran at once."""

    def outcome(work: Callable[[], None]) -> type[BaseException] | None:
        try:
            work()
        except (StaleIncident, StorageDown) as failed:
            return type(failed)
        return None

    with ThreadPoolExecutor(2) as pool:
        return [failed for failed in pool.map(outcome, (first, second)) if failed]


def test_a_deadlock_ends_one_transaction_and_it_is_to_be_begun_again(process: OpenNamed) -> None:
    mine = process("web")
    for job in (JOB, OTHER):
        stored(mine, incident(job=job))
    met = threading.Barrier(2)

    def work(first: JobKey, second: JobKey) -> None:
        with mine.begin_write(born_leased=False, now=NOW) as uow:
            lock(uow, first)
            met.wait()
            lock(uow, second)
            uow.commit()

    assert both(lambda: work(JOB, OTHER), lambda: work(OTHER, JOB)) == [StaleIncident]


def test_jobs_are_locked_in_ascending_order_wherever_their_rows_lie(process: OpenNamed, postgresql_url: str) -> None:
    mine = process("web")
    with mine.begin_write(born_leased=False, now=NOW) as uow:
        low, high = lock(uow, OTHER), lock(uow, JOB)
        uow.commit()
    with psycopg.connect(postgresql_url) as moving:
        for name in ("elsewhere", OTHER.name):
            moving.execute("UPDATE jobs SET name = %s WHERE id = %s", (name, low))

    def work() -> None:
        with mine.begin_write(born_leased=False, now=NOW) as uow:
            uow.lock_jobs(keys=[OTHER, JOB], now=NOW)

    with held_up(postgresql_url, work, by=f"SELECT 1 FROM jobs WHERE id = {low} FOR UPDATE") as third:
        assert third.execute("SELECT id FROM jobs WHERE id = %s FOR UPDATE NOWAIT", (high,)).fetchone() == (high,)


def test_batches_of_the_same_events_do_not_block_each_other(process: OpenNamed) -> None:
    mine = process("web")
    met = threading.Barrier(2)
    told: list[str] = []

    def work(numbers: list[int]) -> None:
        for turn in range(20):
            met.wait()
            try:
                with mine.begin_write(born_leased=False, now=NOW) as uow:
                    for number in numbers:
                        uow.remember_outcome(key=f"{turn}.{number:03}", outcome={}, at=NOW)
                    uow.commit()
            except StaleIncident as lost:
                told.append(str(lost))

    numbers = list(range(300))
    assert both(lambda: work(numbers), lambda: work(numbers[::-1])) == []
    assert set(told) == {"another transaction took one of these events in"}
    assert len(told) == 20


def test_batches_that_reserve_for_two_teams_in_other_orders_do_not_block_each_other(process: OpenNamed) -> None:
    mine = process("web")
    jobs = [JobKey(scheduler="cron", name=f"job-{number}") for number in range(4)]
    known = [stored(mine, incident(job=job))[0] for job in jobs]
    sales, ops = scope("team:sales"), scope("team:ops")
    met = threading.Barrier(2)

    def work(batch: list[tuple[int, str]], last: bool) -> None:
        met.wait()
        for turn in range(20):
            with mine.begin_write(born_leased=False, now=NOW) as uow:
                rows = uow.lock_jobs(keys=[jobs[number] for number, _ in batch], now=NOW)
                for number, team in batch:
                    booked = booking(
                        known[number],
                        job_id=rows[jobs[number]].id,
                        key=f"{number}.{turn}.{last}",
                        scopes=(scope(f"job:{jobs[number]}"), scope(team)),
                    )
                    assert uow.reserve(booked, limits={sales: 1000.0, ops: 1000.0})
                uow.commit()

    assert (
        both(
            lambda: work([(0, sales.name), (1, ops.name)], False), lambda: work([(2, ops.name), (3, sales.name)], True)
        )
        == []
    )
    assert mine.reads.booked(scopes=[sales, ops]) == {sales: 40.0, ops: 40.0}


def test_a_timer_and_what_cancels_it_do_not_block_each_other(process: OpenNamed) -> None:
    mine = process("web")
    one, _ = stored(mine, incident())
    (timer,) = mine.due_timers(now=NOW + minutes(99), limit=9)
    consumed: list[bool] = []

    def fire() -> None:
        with mine.begin_write(born_leased=False, now=NOW) as uow:
            lock(uow)
            consumed.append(uow.consume_timer(id=timer.id, due_at=timer.due_at))
            uow.commit()

    assert both(fire, fire) == []
    assert sorted(consumed) == [False, True]
    assert mine.reads.incident(record=one.record, number=1) == one


def test_giving_leases_back_waits_for_nobody(process: OpenNamed) -> None:
    mine, yours = process("web"), process("worker")
    stored(mine, incident(), request("held"), request("free"))
    held, free = mine.claim_effects(now=NOW, limit=9)
    with yours.begin_write(born_leased=False, now=NOW) as uow:
        assert uow.settle_effect(id=held.id, state=EffectState.SETTLED, result={})

        assert mine.void_leases(now=NOW + minutes(5)) == 1
        assert [row.id for row in mine.claim_effects(now=NOW + minutes(5), limit=9)] == [free.id]
        uow.commit()


def test_a_claim_steps_over_what_somebody_works_on(process: OpenNamed) -> None:
    mine, yours = process("web"), process("worker")
    stored(mine, incident(), request("held"), request("free"))
    held = mine.reads.outbox(states=[EffectState.WAITING], limit=9)[-1]
    with yours.begin_write(born_leased=False, now=NOW) as uow:
        assert uow.settle_effect(id=held.id, state=EffectState.SETTLED, result={})

        assert [row.key for row in mine.claim_effects(now=NOW, limit=9)] == ["free"]


def test_moving_a_thread_takes_its_rows_in_the_order_in_which_settling_does(
    process: OpenNamed, postgresql_url: str
) -> None:
    mine = process("web")
    stored(mine, incident())

    def move() -> None:
        mine.move_conversation(conversation=1, left=("C0DATA", None), channel="C0JOBS", now=NOW)

    with held_up(postgresql_url, move, by="SELECT 1 FROM views FOR UPDATE") as third:
        assert third.execute("SELECT id FROM conversations FOR UPDATE NOWAIT").fetchone() == (1,)


def test_a_lock_that_is_held_too_long_is_told_as_down(process: OpenNamed, postgresql_url: str) -> None:
    mine = process("web")
    with mine.begin_write(born_leased=False, now=NOW) as uow:
        lock(uow)
        uow.commit()

    def write() -> None:
        with mine.begin_write(born_leased=False, now=NOW) as uow:
            uow._connection.execute(text("SET LOCAL lock_timeout = '20ms'"))
            lock(uow)

    with psycopg.connect(postgresql_url) as rude:
        rude.execute("LOCK TABLE jobs IN ACCESS EXCLUSIVE MODE")

        with pytest.raises(StorageDown, match="lock timeout"):
            write()


def test_every_transaction_has_its_time_limits(process: OpenNamed) -> None:
    mine = process("web")
    names = ("lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout", "transaction_isolation")
    with mine._database.write() as connection:
        found = [connection.execute(text(f"SHOW {name}")).scalar_one() for name in names]

    assert found == ["10s", "30s", "1min", "read committed"]
