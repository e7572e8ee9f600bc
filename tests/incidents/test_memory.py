"""What a job's past says: good runs, living runs, rows of failures, safe marks and their suspension."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.incidents import memory as past
from bot.incidents.keys import Cost, RunRef, Trigger
from bot.incidents.memory import JobMemory, LiveRun, Sample
from tests.incidents.worlds import (
    DAY,
    HOUR,
    MINUTE,
    MONDAY,
    OTHER_SAFE,
    SAFE,
    TUESDAY,
    failure,
    mark,
    rerun_of,
    run,
)


def living(of: RunRef) -> LiveRun:
    return LiveRun(run=of, started_at=MONDAY)


def taking(*minutes: int) -> JobMemory:
    return JobMemory(samples=tuple(Sample(duration=one * MINUTE) for one in minutes))


@pytest.mark.parametrize(
    ("minutes", "usual"),
    [((), None), ((30,), 30 * MINUTE), ((10, 30, 500), 30 * MINUTE), ((10, 20, 30, 500), 30 * MINUTE)],
)
def test_the_usual_duration_is_the_median_of_good_runs(minutes: tuple[int, ...], usual: timedelta | None) -> None:
    assert taking(*minutes).usual_duration == usual


def test_run_hours_are_always_known_other_units_only_where_they_were_reported() -> None:
    memory = JobMemory(
        samples=(
            Sample(duration=HOUR, cost=Cost(amount=8.0, unit="core_hours")),
            Sample(duration=HOUR, cost=Cost(amount=4.0, unit="gpu_hours")),
        )
    )

    assert memory.usual_cost("run_hours") == 1.0
    assert memory.usual_cost("core_hours") == 8.0
    assert memory.usual_cost("euro") is None


def test_a_good_run_ends_the_row_of_failures_and_is_the_last_good_one() -> None:
    failing = past.failed(past.failed(JobMemory(), failure()), failure(run(TUESDAY)))
    good = past.succeeded(failing, rerun_of(TUESDAY), TUESDAY + HOUR, Sample(duration=HOUR))

    assert (failing.failures_in_a_row, [one.run.nominal_time for one in failing.streak]) == (2, [MONDAY, TUESDAY])
    assert (good.failures_in_a_row, good.streak) == (0, ())
    assert good.last_good is not None
    assert good.last_good.run == rerun_of(TUESDAY)


@pytest.mark.scenario(35)
@pytest.mark.parametrize(
    "older", [run(MONDAY), run(TUESDAY + DAY, trigger=Trigger.BACKFILL)], ids=["an older time", "a backfill"]
)
def test_what_only_fills_in_the_past_never_becomes_the_last_good_run(older: RunRef) -> None:
    memory = past.succeeded(JobMemory(), run(TUESDAY), TUESDAY + HOUR, Sample(duration=HOUR))
    after = past.succeeded(memory, older, TUESDAY + DAY, Sample(duration=9 * HOUR))

    assert after.last_good == memory.last_good
    assert after.usual_duration == HOUR


def test_good_runs_without_a_nominal_time_are_ordered_by_their_end() -> None:
    memory = past.succeeded(JobMemory(), run(None, run_id="second"), MONDAY + HOUR, None)
    after = past.succeeded(memory, run(None, run_id="first"), MONDAY, None)

    assert after.last_good == memory.last_good


def test_a_run_lives_once_and_its_end_ends_its_earlier_generations_too() -> None:
    memory = JobMemory()
    for of in (run(), run(), rerun_of(), run(TUESDAY)):
        memory = past.started(memory, living(of))

    assert [live.run for live in memory.live] == [run(), rerun_of(), run(TUESDAY)]
    assert memory.latest_started == TUESDAY
    assert [live.run for live in past.ended(memory, rerun_of()).live] == [run(TUESDAY)]
    assert [live.run for live in past.ended(memory, run()).live] == [rerun_of(), run(TUESDAY)]


def test_three_failing_automatic_reruns_in_a_row_suspend_a_mark_until_it_is_made_again() -> None:
    memory = past.marked(JobMemory(), mark(SAFE), safe=True)
    for ok in (True, False, False):
        memory = past.reran(memory, SAFE, ok=ok)
    memory = past.reran(memory, OTHER_SAFE, ok=False)

    assert memory.suspended() == frozenset()

    memory = past.reran(memory, SAFE, ok=False)

    assert memory.suspended() == {SAFE}
    assert past.reran(memory, SAFE, ok=True).suspended() == frozenset()
    assert past.marked(memory, mark(SAFE), safe=True).suspended() == frozenset()


def test_a_mark_is_replaced_not_doubled_and_goes_when_revoked() -> None:
    memory = past.marked(past.marked(JobMemory(), mark(SAFE), safe=True), replace(mark(SAFE), by="U0BEN"), safe=True)

    assert [one.by for one in memory.marks] == ["U0BEN"]
    assert past.marked(memory, mark(SAFE), safe=False).marks == ()


def test_the_memory_stays_small_however_long_a_job_fails() -> None:
    memory = JobMemory()
    for turn in range(500):
        memory = past.failed(memory, failure(run(MONDAY + turn * HOUR)))
        memory = past.reran(memory, f"cause.{turn}", ok=False)
        memory = past.started(memory, living(run(MONDAY + turn * HOUR, generation=1)))

    assert memory.failures_in_a_row == 500
    assert len(memory.streak) <= past.KEEP_STREAK
    assert len(memory.results) <= past.KEEP_RESULTS
    assert len(memory.live) <= past.KEEP_LIVE
