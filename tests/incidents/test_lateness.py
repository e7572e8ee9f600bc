"""Deadlines: which run is expected to start or to finish by when."""

from datetime import datetime, time, timedelta

import pytest

from bot.incidents.lateness import FINISH_BY, NOT_FINISHED, NOT_STARTED, START_BY, Deadline, deadlines, late_failure
from bot.incidents.memory import JobMemory, LiveRun, Sample
from bot.incidents.policy import LatePolicy
from tests.incidents.worlds import DAY, HOUR, MINUTE, MONDAY, TUESDAY, run


def daily(after: datetime) -> datetime:
    return MONDAY + DAY * ((after - MONDAY) // DAY + 1)


def due(memory: JobMemory, policy: LatePolicy | None = None) -> tuple[Deadline, ...]:
    return deadlines(memory, policy or LatePolicy(), next_after=daily)


def living(**more: object) -> JobMemory:
    return JobMemory(live=(LiveRun(run=run(), started_at=MONDAY + MINUTE),), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(("latest", "nominal_time"), [(None, MONDAY), (MONDAY, TUESDAY)])
def test_the_next_time_without_a_run_is_expected_to_start(latest: datetime | None, nominal_time: datetime) -> None:
    memory = JobMemory(watched_from=MONDAY - HOUR, latest_started=latest)

    assert due(memory) == (Deadline(kind=START_BY, nominal_time=nominal_time, due_at=nominal_time + 15 * MINUTE),)


@pytest.mark.parametrize("policy", [LatePolicy(), LatePolicy(start_within=None)])
def test_what_is_not_watched_is_never_late_to_start(policy: LatePolicy) -> None:
    memory = JobMemory(watched_from=None if policy.start_within is not None else MONDAY)

    assert due(memory, policy) == ()


@pytest.mark.parametrize(
    ("policy", "due_at"),
    [
        (LatePolicy(finish_within=HOUR), MONDAY + HOUR + 15 * MINUTE),
        (LatePolicy(finish_by=time(4, 30), zone="Europe/Berlin"), MONDAY + HOUR / 2 + 15 * MINUTE),
        (LatePolicy(finish_within=HOUR, finish_by=time(4, 30), zone="Europe/Berlin"), MONDAY + HOUR / 2 + 15 * MINUTE),
        (LatePolicy(learned=False), None),
        (LatePolicy(), None),
    ],
)
def test_a_living_run_is_expected_to_finish_by_the_earliest_deadline_that_is_set(
    policy: LatePolicy, due_at: datetime | None
) -> None:
    found = [one.due_at for one in due(living(), policy) if one.kind == FINISH_BY]

    assert found == ([due_at] if due_at else [])


@pytest.mark.parametrize(
    ("minutes", "lasts"),
    [((1, 1, 1, 1, 1), 10 * MINUTE), ((20, 20, 20, 20, 60), 30 * MINUTE), ((20, 20, 20, 20), None)],
)
def test_without_one_it_is_learned_from_five_good_runs_but_never_under_the_floor(
    minutes: tuple[int, ...], lasts: timedelta | None
) -> None:
    memory = living(samples=tuple(Sample(duration=one * MINUTE) for one in minutes))
    found = [one.due_at for one in due(memory) if one.kind == FINISH_BY]

    assert found == ([MONDAY + MINUTE + lasts + 15 * MINUTE] if lasts else [])


def test_a_run_that_was_called_late_is_not_called_so_again() -> None:
    assert due(living(told_late=(MONDAY,)), LatePolicy(finish_within=HOUR)) == ()


def test_lateness_is_a_failure_that_can_never_be_marked_safe() -> None:
    not_started = late_failure(START_BY, MONDAY, MONDAY + HOUR, None)
    not_finished = late_failure(FINISH_BY, MONDAY, MONDAY + HOUR, run())

    assert (not_started.cause, not_finished.cause) == (NOT_STARTED, NOT_FINISHED)
    assert not_started.late
    assert not_started.never_safe
    assert not_started.run.nominal_time == MONDAY
    assert not_finished.run == run()
