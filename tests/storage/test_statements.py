"""How many statements an event costs: their number decides the latency, so it may not creep up."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

from sqlalchemy import Engine, event

from bot.incidents.effects import Note
from bot.incidents.keys import JobKey
from bot.store import Lane, RunState
from storage.opening import SqlStorage
from tests.storage.samples import DAY, JOB, NIGHT, NOW, booking, evidence, incident, reply, run_row, scope, stored


@contextmanager
def counted() -> Iterator[list[str]]:
    """The statements that are executed inside, those that begin a transaction aside."""
    seen: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        if not statement.startswith("BEGIN"):
            seen.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def known_job(storage: SqlStorage) -> None:
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        uow.lock_jobs(keys=[JOB], now=NOW)
        uow.commit()


def take_in_failure(storage: SqlStorage, *, rerun: bool) -> None:
    """What intake asks of the storage for the first failure of a run."""
    limits = {scope(): 4.0, scope("team:data"): 40.0}
    with storage.begin_write(born_leased=True, now=NOW) as uow:
        uow.outcomes(keys=["event-1"])
        row = uow.lock_jobs(keys=[JOB], now=NOW)[JOB]
        uow.incidents_of(jobs=[row.id])
        uow.run_rows(wanted=[(row.id, NIGHT)])
        uow.save_run(run_row(row.id))
        uow.save_evidence(key="ev-1", evidence=evidence())
        uow.booked(scopes=list(limits))
        uow.previous(job=row.id, fingerprint="f1", since=DAY - timedelta(days=30))
        one = uow.save_incident(incident(), expected=None)
        uow.open_thread(incident=one, channel="C0DATA", continue_from=None)
        uow.add_notes(incident=one, notes=[Note(kind="opened", reason="it failed")], key="event-1", at=NOW)
        if rerun:
            assert uow.reserve(booking(one, job_id=row.id), limits=limits)
        uow.add_effects(incident=one, effects=[reply("evidence"), reply("log"), reply("ask")], now=NOW)
        uow.save_job(replace(row, memory=replace(row.memory, failures_in_a_row=1)))
        uow.remember_outcome(key="event-1", outcome={"result": "accepted"}, at=NOW)
        uow.commit()


def take_in_success(storage: SqlStorage, job: JobKey) -> None:
    with storage.begin_write(born_leased=True, now=NOW) as uow:
        uow.outcomes(keys=["event-2"])
        row = uow.lock_jobs(keys=[job], now=NOW)[job]
        uow.incidents_of(jobs=[row.id])
        uow.save_run(run_row(row.id, state=RunState.SUCCEEDED))
        uow.save_job(replace(row, memory=replace(row.memory, failures_in_a_row=0)))
        uow.remember_outcome(key="event-2", outcome={"result": "accepted"}, at=NOW)
        uow.commit()


def test_a_failure_costs_few_statements(storage: SqlStorage) -> None:
    known_job(storage)
    with counted() as statements:
        take_in_failure(storage, rerun=False)

    assert len(statements) <= 15, statements


def test_a_failure_with_a_licensed_rerun_costs_three_more(storage: SqlStorage) -> None:
    known_job(storage)
    with counted() as statements:
        take_in_failure(storage, rerun=True)

    assert len(statements) <= 18, statements


def test_a_success_costs_five_statements(storage: SqlStorage) -> None:
    known_job(storage)
    with counted() as statements:
        take_in_success(storage, JOB)

    assert len(statements) <= 5, statements


def test_a_batch_costs_as_many_statements_as_one_event(storage: SqlStorage) -> None:
    keys = [JobKey(scheduler="cron", name=f"job-{number}") for number in range(100)]
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        uow.lock_jobs(keys=keys, now=NOW)
        uow.commit()
    with counted() as statements, storage.begin_write(born_leased=True, now=NOW) as uow:
        uow.outcomes(keys=[str(key) for key in keys])
        rows = uow.lock_jobs(keys=keys, now=NOW)
        uow.incidents_of(jobs=[row.id for row in rows.values()])
        for row in rows.values():
            uow.save_run(run_row(row.id, state=RunState.SUCCEEDED))
            uow.save_job(row)
            uow.remember_outcome(key=str(row.key), outcome={}, at=NOW)
        uow.commit()

    assert len(statements) <= 5, statements


def test_a_note_of_a_thread_costs_four_statements_and_leases_the_next(storage: SqlStorage) -> None:
    stored(storage, incident(), reply("first"), reply("second"))
    (view,) = storage.claim_views(now=NOW, limit=9)
    lane = Lane(method="chat.postMessage", scope="C0DATA", gap=timedelta(seconds=1))
    left = storage.settle_view(row=view, root_ts="1.0", now=NOW)
    assert [row.key for row in left.effects] == ["first"]

    with counted() as statements:
        assert storage.begin_sending(id=left.effects[0].id, now=NOW, lane=lane)
        following = storage.settle(row=left.effects[0], result={}, now=NOW)

    assert following is not None
    (second,) = following.effects
    assert (second.key, second.channel, second.root_ts, second.job) == ("second", "C0DATA", "1.0", JOB)
    assert len(statements) <= 5, statements
