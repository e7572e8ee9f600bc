"""What the storage tells the pages, on both databases: lists by keyset, what is like a failure, the runs of a job."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.incidents.keys import JobKey
from bot.incidents.model import UNRESOLVED, DecisionKind, Incident, Outcome, OwnerDecision, Status
from bot.incidents.people import By
from bot.store import RunState
from bot.store.page_reads import PageReads, RecordLine, RecordPlace, RecordsWanted
from storage import page_reads as sql
from storage.opening import SqlStorage
from tests.storage.conftest import Open, open_again
from tests.storage.samples import ANA, NOW, acknowledged, incident, lock, minutes, resolved, run, run_row, saved, stored

__all__ = ["open_again"]

DAILY, WEEKLY = JobKey(scheduler="cron", name="daily"), JobKey(scheduler="cron", name="weekly")
ALL, OPEN = RecordsWanted(), RecordsWanted(statuses=UNRESOLVED)


@pytest.fixture
def storage(open_again: Open) -> SqlStorage:
    return open_again()


@pytest.fixture
def reads(storage: SqlStorage) -> PageReads:
    return storage.reads


def anything(job: JobKey) -> bool:
    return True


def settled(storage: SqlStorage, *, job: JobKey, opened: float, closed: float = 1, fingerprint: str = "f1") -> Incident:
    """An occurrence that was opened and settled so many minutes ago."""
    one, _ = stored(storage, incident(job=job, opened_at=NOW - minutes(opened), fingerprint=fingerprint))
    saved(storage, after := resolved(one, at=NOW - minutes(closed)))
    return after


def left(storage: SqlStorage, *, job: JobKey) -> Incident:
    one, _ = stored(storage, incident(job=job, opened_at=NOW - minutes(3)))
    decision = OwnerDecision(kind=DecisionKind.LEFT, by=By(person=ANA, at=NOW), until=NOW + timedelta(days=2))
    after = replace(one, version=2, status=Status.LEFT, decision=decision, closed_at=NOW, owed=())
    saved(storage, after)
    return after


def names(lines: tuple[RecordLine, ...]) -> list[str]:
    return [f"{line.record}.{line.number}" for line in lines]


def test_a_line_tells_what_a_list_shows(storage: SqlStorage, reads: PageReads) -> None:
    one, _ = stored(storage, incident(job=DAILY))
    saved(storage, acknowledged(one))
    found = reads.record_lines(OPEN, keep=anything, before=None, limit=10)

    assert found.lines == (
        RecordLine(
            record=one.record,
            number=1,
            job=DAILY,
            status=Status.OPEN,
            cause="network.connection_reset",
            fingerprint="f1",
            opened_at=NOW,
            held_by="U0ANA",
            held_until=NOW + timedelta(hours=4),
        ),
    )
    assert (found.older, found.looked_at) == (None, 1)


@pytest.mark.parametrize("wanted", [ALL, OPEN, RecordsWanted(statuses=frozenset({Status.OPEN, Status.LEFT}))])
def test_a_list_goes_on_where_its_page_ended(storage: SqlStorage, reads: PageReads, wanted: RecordsWanted) -> None:
    opened = [stored(storage, incident(job=JobKey(scheduler="cron", name=f"job{number}")))[0] for number in range(7)]
    pages: list[list[str]] = []
    before: RecordPlace | None = None
    while not pages or before is not None:
        found = reads.record_lines(wanted, keep=anything, before=before, limit=3)
        pages.append(names(found.lines))
        before = found.older

    assert pages == [["7.1", "6.1", "5.1"], ["4.1", "3.1", "2.1"], ["1.1"]]
    assert len({one.opened_at for one in opened}) == 1


def test_a_list_is_narrowed_by_state_cause_time_and_job(storage: SqlStorage, reads: PageReads) -> None:
    settled(storage, job=DAILY, opened=90)
    left(storage, job=WEEKLY)
    stored(storage, incident(job=DAILY))

    def listed(wanted: RecordsWanted, *, job: JobKey | None = None) -> list[str]:
        found = reads.record_lines(wanted, keep=lambda key: job in (None, key), before=None, limit=10)
        return names(found.lines)

    assert listed(ALL) == ["3.1", "2.1", "1.1"]
    assert listed(OPEN) == ["3.1"]
    assert listed(RecordsWanted(statuses=frozenset({Status.LEFT, Status.PAUSED}))) == ["2.1"]
    assert listed(RecordsWanted(statuses=frozenset({Status.RESOLVED}))) == ["1.1"]
    assert listed(RecordsWanted(since=NOW - minutes(60))) == ["3.1", "2.1"]
    assert listed(RecordsWanted(cause="unknown")) == []
    assert listed(RecordsWanted(cause="network.connection_reset", statuses=UNRESOLVED)) == ["3.1"]
    assert listed(ALL, job=DAILY) == ["3.1", "1.1"]


def test_a_look_far_back_is_bounded_and_tells_where_to_go_on(
    storage: SqlStorage, reads: PageReads, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql, "LOOKED_AT", 4)
    settled(storage, job=DAILY, opened=100)
    for number in range(5):
        settled(storage, job=WEEKLY, opened=50 - number)
    first = reads.record_lines(ALL, keep=lambda job: job == DAILY, before=None, limit=3)

    assert (first.lines, first.looked_at) == ((), 4)
    assert first.older == RecordPlace(opened_at=NOW - minutes(49), record=3, number=1)

    second = reads.record_lines(ALL, keep=lambda job: job == DAILY, before=first.older, limit=3)

    assert (names(second.lines), second.older, second.looked_at) == (["1.1"], None, 2)


def test_the_occurrences_of_a_record_come_newest_first(storage: SqlStorage, reads: PageReads) -> None:
    first = settled(storage, job=DAILY, opened=90)
    stored(storage, incident(job=DAILY, record=first.record, number=2))

    assert names(reads.occurrence_lines(record=first.record, limit=10)) == ["1.2", "1.1"]
    assert names(reads.occurrence_lines(record=first.record, limit=1)) == ["1.2"]
    assert reads.occurrence_lines(record=99, limit=1) == ()


def test_a_job_tells_what_is_open_then_what_was_settled_last(storage: SqlStorage, reads: PageReads) -> None:
    settled(storage, job=DAILY, opened=300, closed=200)
    settled(storage, job=DAILY, opened=100, closed=50)
    stored(storage, incident(job=DAILY))
    settled(storage, job=WEEKLY, opened=5)
    found = reads.job_lines(job=DAILY, limit=10)

    assert names(found) == ["3.1", "2.1", "1.1"]
    assert [line.outcome for line in found] == [None, Outcome.RECOVERED_BY_HAND, Outcome.RECOVERED_BY_HAND]
    assert names(reads.job_lines(job=DAILY, limit=2)) == ["3.1", "2.1"]
    assert reads.job_lines(job=JobKey(scheduler="cron", name="never"), limit=2) == ()


def test_the_same_failure_of_a_job_is_found_whenever_it_was(storage: SqlStorage, reads: PageReads) -> None:
    settled(storage, job=DAILY, opened=900_000, closed=800_000)
    settled(storage, job=DAILY, opened=100, fingerprint="f2")
    settled(storage, job=WEEKLY, opened=100)
    stored(storage, incident(job=DAILY))

    assert names(reads.same_failure(job=DAILY, fingerprint="f1", limit=5)) == ["1.1"]


def test_what_is_alike_elsewhere_is_found_lately(storage: SqlStorage, reads: PageReads) -> None:
    others = [JobKey(scheduler="cron", name=name) for name in ("same", "cause", "old", "other")]
    stored(storage, incident(job=others[0], opened_at=NOW - minutes(1)))
    stored(storage, incident(job=others[1], opened_at=NOW - minutes(2), fingerprint="f2"))
    stored(storage, incident(job=others[2], opened_at=NOW - timedelta(days=8)))
    stored(storage, incident(job=others[3], opened_at=NOW, fingerprint="f3", corrected_cause="disk.full"))
    stored(storage, incident(job=DAILY))

    def alike(cause: str | None) -> list[str]:
        since = NOW - timedelta(days=7)
        found = reads.alike_elsewhere(job=DAILY, fingerprint="f1", cause=cause, since=since, limit=5)
        return [line.job.name for line in found]

    assert alike("network.connection_reset") == ["same", "cause"]
    assert alike(None) == ["same"]
    assert alike("disk.full") == ["other", "same"]


def test_the_runs_of_a_job_come_newest_first_with_and_without_a_nominal_time(
    storage: SqlStorage, reads: PageReads
) -> None:
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        job = lock(uow, DAILY)
        runs = [
            run_row(job, run=run(run_id=f"r{number}", nominal_time=NOW - timedelta(days=number)), state=state)
            for number, state in enumerate((RunState.FAILED, RunState.SUCCEEDED, RunState.SKIPPED))
        ]
        again = run_row(job, run=run(run_id="r0", nominal_time=NOW, generation=1), state=RunState.STARTED)
        by_hand = run_row(job, run=run(run_id="hand", nominal_time=None), at=NOW - timedelta(hours=30))
        for one in (*runs, again, by_hand):
            uow.save_run(one)
        uow.commit()
    found = reads.newest_runs(job=DAILY, limit=10)

    assert [(line.run.run_id, line.run.generation) for line in found] == [
        ("r0", 1),
        ("r0", 0),
        ("r1", 0),
        ("hand", 0),
        ("r2", 0),
    ]
    assert [line.state for line in found[:2]] == [RunState.STARTED, RunState.FAILED]
    assert [line.run.run_id for line in reads.newest_runs(job=DAILY, limit=2)] == ["r0", "r0"]
    assert reads.newest_runs(job=WEEKLY, limit=2) == ()
