"""What is kept of runs: the newest word about each generation, and the facts of the last good one."""

from dataclasses import replace

import pytest

from bot.incidents.memory import GoodRun, JobMemory
from bot.store import RunRow, RunState
from storage.opening import SqlStorage
from tests.storage.samples import (
    JOB,
    NIGHT,
    NOW,
    lock,
    minutes,
    run,
    run_row,
)


def test_a_run_that_ended_never_starts_again(storage: SqlStorage) -> None:
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        job = lock(uow)
        uow.save_run(run_row(job, state=RunState.STARTED, started_at=NOW - minutes(9), rerun_key="k"))
        uow.save_run(
            run_row(job, state=RunState.FAILED, ended_at=NOW, cause="unknown", facts={"code": {"version": "a"}})
        )
        uow.save_run(run_row(job, state=RunState.STARTED, at=NOW + minutes(1)))
        uow.commit()

    with storage.begin_write(born_leased=False, now=NOW) as uow:
        (found,) = uow.run_rows(wanted=[(job, NIGHT)])[job, NIGHT]
    assert (found.state, found.started_at, found.ended_at) == (RunState.FAILED, NOW - minutes(9), NOW)
    assert (found.rerun_key, found.cause) == ("k", "unknown")
    assert storage.reads.run_facts(job=JOB, run=run()) == {"code": {"version": "a"}}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (
            run_row(0, state=RunState.FAILED),
            run_row(0, state=RunState.SUCCEEDED, at=NOW + minutes(1)),
            RunState.SUCCEEDED,
        ),
        (
            run_row(0, state=RunState.SUCCEEDED),
            run_row(0, state=RunState.FAILED, at=NOW + minutes(1)),
            RunState.SUCCEEDED,
        ),
        (run_row(0, state=RunState.FAILED), run_row(0, state=RunState.CANCELLED, at=NOW - minutes(1)), RunState.FAILED),
        (
            run_row(0, state=RunState.RETRYING, run=run(attempt=2)),
            run_row(0, state=RunState.STARTED, run=run(attempt=1), at=NOW + minutes(1)),
            RunState.RETRYING,
        ),
        (run_row(0, state=RunState.RETRYING), run_row(0, state=RunState.FAILED, at=NOW - minutes(1)), RunState.FAILED),
    ],
)
def test_the_newest_word_about_a_generation_counts(
    storage: SqlStorage, before: RunRow, after: RunRow, expected: RunState
) -> None:
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        job = lock(uow)
        for row in (before, after):
            uow.save_run(replace(row, job_id=job))
        uow.commit()

    with storage.begin_write(born_leased=False, now=NOW) as uow:
        (found,) = uow.run_rows(wanted=[(job, NIGHT)])[job, NIGHT]
    assert found.state is expected


def test_generations_of_a_run_without_a_nominal_time_are_kept_apart(storage: SqlStorage) -> None:
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        job = lock(uow)
        for generation in (1, 0):
            uow.save_run(run_row(job, run=run(nominal_time=None, generation=generation)))
            uow.save_run(run_row(job, run=run(nominal_time=None, generation=generation), at=NOW + minutes(1)))
        uow.commit()

    with storage.begin_write(born_leased=False, now=NOW) as uow:
        found = uow.run_rows(wanted=[(job, None), (job, NIGHT)])
    assert [row.run.generation for row in found[job, None]] == [0, 1]
    assert found[job, NIGHT] == ()


def test_the_last_good_facts_are_those_of_the_run_that_the_memory_names(storage: SqlStorage) -> None:
    good = run(run_id="good")
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        row = uow.lock_jobs(keys=[JOB], now=NOW)[JOB]
        uow.save_run(run_row(row.id, state=RunState.SUCCEEDED, run=good, facts={"code": {"version": "good"}}))
        uow.save_run(run_row(row.id, state=RunState.SUCCEEDED, run=run(run_id="filled in"), at=NOW + minutes(1)))
        uow.save_job(replace(row, memory=JobMemory(last_good=GoodRun(run=good, ended_at=NOW))))
        uow.commit()

    assert storage.reads.good_runs(JOB)[0].facts == {"code": {"version": "good"}}
