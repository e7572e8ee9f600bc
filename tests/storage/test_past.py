"""What went before: good runs to compare with, how a failure ended earlier, who else failed of the same cause."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from bot.incidents.keys import JobKey, RunRef, Trigger
from bot.incidents.memory import GoodRun, JobMemory, Sample
from bot.store import RunState
from storage.opening import SqlStorage
from storage.past import BIG_FACTS, GOOD_RUNS
from tests.storage.samples import JOB, NIGHT, NOW, incident, lock, minutes, resolved, run, run_row

DAY = timedelta(days=1)
OTHER = JobKey(scheduler="cron", name="other")


def night(back: int, **fields: object) -> RunRef:
    return run(run_id=f"night-{back}", nominal_time=NIGHT - back * DAY, **fields)


def keep(storage: SqlStorage, *, last: RunRef, others: int = 0, samples: tuple[Sample, ...] = ()) -> None:
    """The good run `last`, and so many nights before it."""
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        row = uow.lock_jobs(keys=[JOB], now=NOW)[JOB]
        for back in range(others, 0, -1):
            one = run_row(row.id, state=RunState.SUCCEEDED, run=night(back), facts={"resources": {"rows": back}})
            uow.save_run(replace(one, started_at=NOW - minutes(back), ended_at=NOW))
        newest = run_row(row.id, state=RunState.SUCCEEDED, run=last, facts={"resources": {"rows": 0}})
        uow.save_run(replace(newest, started_at=NOW - minutes(9), ended_at=NOW))
        uow.save_job(replace(row, memory=JobMemory(last_good=GoodRun(run=last, ended_at=NOW), samples=samples)))
        uow.commit()


def test_a_job_without_a_good_run_has_none(storage: SqlStorage) -> None:
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        uow.save_run(run_row(lock(uow), state=RunState.FAILED))
        uow.commit()

    assert storage.reads.good_runs(JOB) == ()
    assert storage.reads.good_runs(OTHER) == ()


def test_good_runs_come_newest_first_and_are_bounded(storage: SqlStorage) -> None:
    keep(storage, last=night(0), others=GOOD_RUNS + 5)

    found = storage.reads.good_runs(JOB)

    assert [one.facts["resources"]["rows"] for one in found] == list(range(GOOD_RUNS))
    assert [one.took for one in found][:3] == [minutes(9), minutes(1), minutes(2)]


def test_failed_runs_backfills_and_big_facts_do_not_count(storage: SqlStorage) -> None:
    keep(storage, last=night(0))
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        job = lock(uow)
        uow.save_run(run_row(job, state=RunState.FAILED, run=night(1), facts={"a": 1}))
        uow.save_run(run_row(job, state=RunState.SUCCEEDED, run=night(2, trigger=Trigger.BACKFILL), facts={"a": 1}))
        uow.save_run(run_row(job, state=RunState.SUCCEEDED, run=night(3), facts={"a": "x" * (BIG_FACTS + 1)}))
        uow.save_run(run_row(job, state=RunState.SUCCEEDED, run=night(-1), facts={"a": "newer than the last good run"}))
        uow.commit()

    last, before = storage.reads.good_runs(JOB)

    assert last.facts == {"resources": {"rows": 0}}
    assert before.facts == {}


def test_the_last_good_run_has_its_facts_however_big_they_are(storage: SqlStorage) -> None:
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        row = uow.lock_jobs(keys=[JOB], now=NOW)[JOB]
        facts = {"a": "x" * (BIG_FACTS + 1)}
        uow.save_run(run_row(row.id, state=RunState.SUCCEEDED, run=night(0), facts=facts))
        uow.save_job(replace(row, memory=JobMemory(last_good=GoodRun(run=night(0), ended_at=NOW))))
        uow.commit()

    assert [one.facts for one in storage.reads.good_runs(JOB)] == [facts]


def test_a_job_without_nominal_times_has_the_durations_that_it_remembers(storage: SqlStorage) -> None:
    samples = tuple(Sample(duration=minutes(number)) for number in (1, 2, 9))
    keep(storage, last=run(run_id="by hand", nominal_time=None), samples=samples)

    found = storage.reads.good_runs(JOB)

    assert found[0].facts == {"resources": {"rows": 0}}
    assert [one.took for one in found] == [minutes(9), minutes(2), minutes(1)]


@pytest.mark.parametrize("names", [("last",), ("last", "not kept")])
def test_the_run_that_the_memory_names_comes_first(storage: SqlStorage, names: tuple[str, ...]) -> None:
    last = run(run_id="last")
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        row = uow.lock_jobs(keys=[JOB], now=NOW)[JOB]
        for name in ("last", "zzz of the same night"):
            uow.save_run(run_row(row.id, state=RunState.SUCCEEDED, run=run(run_id=name), facts={"name": name}))
        named = last if len(names) == 1 else run(run_id="not kept")
        uow.save_job(replace(row, memory=JobMemory(last_good=GoodRun(run=named, ended_at=NOW))))
        uow.commit()

    found = [one.facts["name"] for one in storage.reads.good_runs(JOB)]

    assert found == (["last", "zzz of the same night"] if len(names) == 1 else [])


def settle(storage: SqlStorage, *, fingerprint: str, at: datetime, job: JobKey = JOB) -> None:
    with storage.begin_write(born_leased=False, now=at) as uow:
        uow.lock_jobs(keys=[job], now=at)
        one = incident(job=job, fingerprint=fingerprint, opened_at=at)
        opened = uow.save_incident(one, expected=None)
        uow.save_incident(resolved(opened, at=at), expected=1)
        uow.commit()


def test_past_failures_are_the_settled_ones_of_the_fingerprint(storage: SqlStorage) -> None:
    for number in range(4):
        settle(storage, fingerprint="f1", at=NOW + minutes(number))
    settle(storage, fingerprint="f2", at=NOW + minutes(9))
    settle(storage, fingerprint="f1", at=NOW + minutes(9), job=OTHER)

    found = storage.reads.past_failures(job=JOB, fingerprint="f1", limit=2)

    assert found.times == 4
    assert [one.closed_at for one in found.newest] == [NOW + minutes(3), NOW + minutes(2)]
    assert storage.reads.past_failures(job=JOB, fingerprint="f3", limit=2).times == 0


def test_others_with_the_cause_are_other_jobs_since_then(storage: SqlStorage) -> None:
    cause = incident().failure.cause
    settle(storage, fingerprint="f1", at=NOW)
    for number, name in enumerate(("old", "a", "b", "b")):
        settle(storage, fingerprint="f1", at=NOW + minutes(number), job=JobKey(scheduler="cron", name=name))

    def others(**changes: object) -> list[str]:
        asked = {"cause": cause, "since": NOW + minutes(1), "job": JOB, "limit": 50, **changes}
        return [one.name for one in storage.reads.others_with_cause(**asked)]  # type: ignore[arg-type]

    assert others() == ["b", "a"]
    assert others(limit=1) == ["b"]
    assert others(cause="data.missing") == []
    assert others(since=NOW + minutes(9)) == []
