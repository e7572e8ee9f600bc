"""Deadlines: which run is expected to start or to finish by when, and who said so."""

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta

import pytest

from bot.incidents import memory as past
from bot.incidents.absence import Absence
from bot.incidents.keys import Trigger
from bot.incidents.late_words import late_title, span
from bot.incidents.lateness import (
    FINISH_BY,
    NOT_FINISHED,
    NOT_STARTED,
    START_BY,
    Deadline,
    SetBy,
    deadlines,
    delay_of,
    late_failure,
    lost_in,
    missed,
)
from bot.incidents.memory import JobMemory, LiveRun, Sample
from bot.incidents.policy import LatePolicy
from bot.incidents.target import Target
from tests.incidents.worlds import DAY, HOUR, MINUTE, MONDAY, TUESDAY, run

BERLIN = "Europe/Berlin"
OFF = LatePolicy(start_within=None, learned=False)


def daily(after: datetime) -> datetime:
    return MONDAY + DAY * ((after - MONDAY) // DAY + 1)


def due(memory: JobMemory, policy: LatePolicy | None = None) -> tuple[Deadline, ...]:
    return deadlines(memory, policy or LatePolicy(), next_after=daily)


def to_finish(memory: JobMemory, policy: LatePolicy | None = None) -> Deadline | None:
    return next((one for one in due(memory, policy) if one.kind == FINISH_BY), None)


def living(**more: object) -> JobMemory:
    return JobMemory(live=(LiveRun(run=run(), started_at=MONDAY + MINUTE),), **more)  # type: ignore[arg-type]


def took(*minutes: float) -> tuple[Sample, ...]:
    return tuple(Sample(duration=one * MINUTE) for one in minutes)


def said(memory: JobMemory, policy: LatePolicy, zone: str = "UTC") -> str:
    (deadline,) = due(memory, policy)
    return late_title(deadline, memory, policy, scheduler="airflow-prod", zone=zone)


@pytest.mark.parametrize(("latest", "nominal_time"), [(None, MONDAY), (MONDAY, TUESDAY)])
def test_the_next_time_without_a_run_is_expected_to_start(latest: datetime | None, nominal_time: datetime) -> None:
    memory = JobMemory(watched_from=MONDAY - HOUR, latest_started=latest)
    (found,) = due(memory)

    assert (found.kind, found.nominal_time, found.due_at) == (START_BY, nominal_time, nominal_time + 15 * MINUTE)


@pytest.mark.parametrize("policy", [LatePolicy(), LatePolicy(start_within=None)])
def test_what_is_not_watched_is_never_late_to_start(policy: LatePolicy) -> None:
    memory = JobMemory(watched_from=None if policy.start_within is not None else MONDAY)

    assert due(memory, policy) == ()


@pytest.mark.parametrize(
    ("policy", "due_at"),
    [
        (LatePolicy(finish_within=HOUR), MONDAY + HOUR + 15 * MINUTE),
        (LatePolicy(finish_by=time(4, 30), zone=BERLIN), MONDAY + HOUR / 2 + 15 * MINUTE),
        (LatePolicy(finish_within=HOUR, finish_by=time(4, 30), zone=BERLIN), MONDAY + HOUR / 2 + 15 * MINUTE),
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
    ("policy", "target", "set_by", "due_at"),
    [
        (LatePolicy(finish_within=HOUR), Target(finish_within=2 * HOUR), SetBy.FINISH_WITHIN, MONDAY + HOUR),
        (LatePolicy(), Target(finish_within=2 * HOUR), SetBy.TARGET_WITHIN, MONDAY + 2 * HOUR),
        (LatePolicy(), Target(finish_by=time(7), zone=BERLIN), SetBy.TARGET_BY, MONDAY + 3 * HOUR),
        (LatePolicy(), Target(), SetBy.LEARNED, MONDAY + MINUTE + 30 * MINUTE),
        (LatePolicy(), None, SetBy.LEARNED, MONDAY + MINUTE + 30 * MINUTE),
    ],
)
def test_the_policy_is_believed_first_then_the_scheduler_then_what_was_learned(
    policy: LatePolicy, target: Target | None, set_by: SetBy, due_at: datetime
) -> None:
    found = to_finish(living(samples=took(20, 20, 20, 20, 20), target=target), policy)

    assert found is not None
    assert (found.set_by, found.due_at) == (set_by, due_at + 15 * MINUTE)


def test_a_policy_that_watches_no_ends_is_not_overruled_by_the_scheduler() -> None:
    assert due(living(target=Target(finish_within=HOUR), samples=took(*[20] * 9)), OFF) == ()


def test_a_schedulers_word_on_one_run_goes_before_its_target_for_all_and_is_forgotten_with_the_run() -> None:
    memory = past.promised(JobMemory(target=Target(finish_within=HOUR)), MONDAY, MONDAY + 2 * HOUR)
    memory = past.started(memory, LiveRun(run=run(), started_at=MONDAY + MINUTE))
    found = to_finish(memory)

    assert found is not None
    assert (found.set_by, found.due_at) == (SetBy.TARGET_OF_RUN, MONDAY + 2 * HOUR + 15 * MINUTE)
    assert past.ended(memory, run()).promised == ()


@pytest.mark.parametrize(
    ("minutes", "lasts"),
    [((1, 1, 1, 1, 1), 10 * MINUTE), ((20, 20, 20, 20, 60), 30 * MINUTE), ((20, 20, 20, 20), None)],
)
def test_without_one_it_is_learned_from_five_good_runs_but_never_under_the_floor(
    minutes: tuple[int, ...], lasts: timedelta | None
) -> None:
    memory = living(samples=took(*minutes))
    found = [one.due_at for one in due(memory) if one.kind == FINISH_BY]

    assert found == ([MONDAY + MINUTE + lasts + 15 * MINUTE] if lasts else [])


@pytest.mark.parametrize("outlier", [0, 1000])
@pytest.mark.parametrize("known", [5, 6, 9, 10, 19])
def test_one_outlier_in_either_direction_changes_nothing_that_was_learned(known: int, outlier: int) -> None:
    steady = to_finish(living(samples=took(*[20] * known)))

    for place in range(known + 1):
        minutes = [20] * known
        minutes.insert(place, outlier)
        found = to_finish(living(samples=took(*minutes)))
        assert found == steady


def test_a_run_that_was_called_late_is_not_called_so_again() -> None:
    assert due(living(told_late=(MONDAY,)), LatePolicy(finish_within=HOUR)) == ()


def test_however_many_runs_live_each_is_called_late_once() -> None:
    memory = JobMemory()
    for number in range(150):
        at = MONDAY + number * MINUTE
        memory = past.started(memory, LiveRun(run=run(at), started_at=at))
    told = []
    while (found := to_finish(memory, LatePolicy(finish_within=HOUR))) is not None:
        told.append(found.nominal_time)
        assert len(told) <= 150, "it is called late again and again"
        memory = past.told_late(memory, found.nominal_time, living=True, expected=False)

    assert told == [MONDAY + number * MINUTE for number in range(150)]


def test_of_several_living_runs_the_one_whose_deadline_comes_first_is_watched() -> None:
    first = LiveRun(run=run(), started_at=MONDAY, finish_by=MONDAY + 5 * HOUR)
    second = LiveRun(run=run(TUESDAY), started_at=MONDAY + HOUR, finish_by=MONDAY + 2 * HOUR)
    found = to_finish(JobMemory(live=(first, second)))

    assert found is not None
    assert found.run == second.run


def test_where_starts_are_not_watched_a_run_that_never_began_has_to_be_done_in_time_all_the_same() -> None:
    policy = LatePolicy(start_within=None, finish_by=time(7), zone=BERLIN)
    memory = JobMemory(watched_from=MONDAY - HOUR)
    (found,) = due(memory, policy)

    assert (found.kind, found.nominal_time, found.run) == (FINISH_BY, MONDAY, None)
    assert found.due_at == MONDAY + 3 * HOUR + 15 * MINUTE
    assert late_failure(found, found.due_at, "late").cause == NOT_FINISHED
    told = past.told_late(memory, MONDAY, living=True, expected=True)
    began = past.started(told, LiveRun(run=run(), started_at=MONDAY + 5 * HOUR))
    assert [one.nominal_time for one in due(began, policy)] == [TUESDAY]


def test_a_run_without_a_nominal_time_is_watched_by_when_it_began() -> None:
    began_at = MONDAY + 7 * MINUTE
    memory = JobMemory(live=(LiveRun(run=run(None), started_at=began_at),), samples=took(*[20] * 5))
    found = to_finish(memory)

    assert found is not None
    assert (found.nominal_time, found.run, found.due_at) == (began_at, run(None), began_at + 45 * MINUTE)
    told = past.told_late(memory, began_at, living=True, expected=False)
    assert to_finish(told) is None
    assert past.ended(told, run(None)).told_late == ()


@pytest.mark.parametrize("trigger", [Trigger.RERUN, Trigger.BACKFILL, Trigger.MANUAL])
def test_a_run_of_a_time_that_is_long_over_is_late_by_how_long_it_takes_only(trigger: Trigger) -> None:
    began_at = MONDAY + 10 * DAY
    live = LiveRun(run=run(MONDAY, trigger=trigger), started_at=began_at)
    memory = JobMemory(live=(live,), samples=took(*[20] * 5))
    by_clock = to_finish(memory, LatePolicy(finish_by=time(7)))
    within = to_finish(memory, LatePolicy(finish_within=HOUR))

    assert by_clock is not None
    assert (by_clock.set_by, by_clock.due_at) == (SetBy.LEARNED, began_at + 45 * MINUTE)
    assert within is not None
    assert within.due_at == began_at + 75 * MINUTE


def test_a_run_that_began_after_its_deadline_is_not_called_late_at_once() -> None:
    live = LiveRun(run=run(), started_at=MONDAY + 6 * HOUR)

    assert to_finish(JobMemory(live=(live,)), LatePolicy(finish_within=HOUR)) is None


def test_a_deadline_that_passed_is_the_one_that_the_job_has_now() -> None:
    memory = living(watched_from=MONDAY - HOUR, latest_started=MONDAY)
    policy = LatePolicy(finish_within=HOUR)
    finish = missed(memory, policy, FINISH_BY, MONDAY, next_after=daily)
    start = missed(memory, policy, START_BY, TUESDAY, next_after=daily)

    assert finish is not None
    assert finish.due_at == MONDAY + 75 * MINUTE
    assert start is not None
    assert start.due_at == TUESDAY + 15 * MINUTE
    assert missed(memory, policy, START_BY, MONDAY, next_after=daily) is None
    assert missed(past.ended(memory, run()), policy, FINISH_BY, MONDAY, next_after=daily) is None


@pytest.mark.parametrize(
    ("policy", "title"),
    [
        (
            LatePolicy(finish_by=time(7), zone=BERLIN),
            "Not finished by 07:15 (policy: 07:00 Europe/Berlin and 15m grace)",
        ),
        (LatePolicy(finish_within=HOUR), "Not finished by 05:15 CET (policy: 1h and 15m grace)"),
        (LatePolicy(finish_within=30 * HOUR), "Not finished by Tue 1 Dec 10:15 CET (policy: 1d6h and 15m grace)"),
        (LatePolicy(finish_within=HOUR, grace=timedelta()), "Not finished by 05:00 CET (policy: 1h)"),
        (
            LatePolicy(),
            "Not finished by 04:47 CET (learned from 6 good runs: usually 18m, at most 31m30s; grace 15m)",
        ),
    ],
)
def test_a_late_run_says_which_deadline_it_was_and_where_it_came_from(policy: LatePolicy, title: str) -> None:
    assert said(living(samples=took(17, 18, 18, 18, 21, 50)), policy, BERLIN) == title


@pytest.mark.parametrize(
    ("target", "title"),
    [
        (Target(finish_within=45 * MINUTE), "Not finished by 04:00 UTC (airflow-prod's own target: 45m and 15m grace)"),
        (
            Target(finish_by=time(7), zone=BERLIN),
            "Not finished by 07:15 (airflow-prod's own target: 07:00 Europe/Berlin and 15m grace)",
        ),
    ],
)
def test_a_schedulers_own_target_is_named_as_such(target: Target, title: str) -> None:
    assert said(living(target=target), LatePolicy()) == title


def test_a_run_that_did_not_start_says_what_was_expected() -> None:
    memory = JobMemory(watched_from=MONDAY - HOUR)

    assert said(memory, LatePolicy()) == "Not started by 03:15 UTC (policy: at its nominal time and 15m grace)"
    later = LatePolicy(start_within=2 * HOUR)
    assert said(memory, later) == "Not started by 05:15 UTC (policy: 2h after its nominal time and 15m grace)"
    promised = replace(
        memory, watched_from=None, live=(LiveRun(run=run(), started_at=MONDAY, finish_by=MONDAY + HOUR),)
    )
    of_run = "Not finished by 04:15 UTC (airflow-prod's own target for this run and 15m grace)"
    assert said(promised, LatePolicy()) == of_run


@pytest.mark.parametrize(
    ("duration", "written"),
    [
        (timedelta(), "0s"),
        (timedelta(seconds=45), "45s"),
        (90 * MINUTE, "1h30m"),
        (2 * DAY, "2d"),
        (DAY + MINUTE, "1d"),
    ],
)
def test_durations_are_written_as_in_the_policies(duration: timedelta, written: str) -> None:
    assert span(duration) == written


def test_lateness_is_a_failure_that_can_never_be_marked_safe() -> None:
    starts = Deadline(kind=START_BY, nominal_time=MONDAY, due_at=MONDAY + MINUTE, set_by=SetBy.START)
    not_started = late_failure(starts, MONDAY + HOUR, "Not started")
    not_finished = late_failure(replace(starts, kind=FINISH_BY, run=run()), MONDAY + HOUR, "Not finished")

    assert (not_started.cause, not_finished.cause) == (NOT_STARTED, NOT_FINISHED)
    assert not_started.late
    assert not_started.never_safe
    assert not_started.due_at == MONDAY + MINUTE
    assert not_started.run.nominal_time == MONDAY
    assert not_finished.run == run()


def test_a_late_run_is_as_late_as_it_ended_after_its_deadline() -> None:
    ends = Deadline(kind=FINISH_BY, nominal_time=MONDAY, due_at=MONDAY + HOUR, set_by=SetBy.LEARNED, run=run())
    starts = replace(ends, kind=START_BY, run=None)
    ended_at = MONDAY + 2 * HOUR

    assert delay_of(late_failure(ends, MONDAY, ""), ended_at, 20 * MINUTE) == HOUR
    assert delay_of(late_failure(starts, MONDAY, ""), ended_at, 20 * MINUTE) == 40 * MINUTE
    assert delay_of(late_failure(starts, MONDAY, ""), MONDAY + HOUR, 20 * MINUTE) == timedelta()


@pytest.mark.parametrize(
    ("kind", "began", "ended", "lost"),
    [
        (START_BY, -1 * HOUR, 5 * HOUR, True),
        (START_BY, 10 * MINUTE, 5 * HOUR, True),
        (START_BY, -2 * HOUR, 5 * MINUTE, True),
        (START_BY, -2 * HOUR, -1 * HOUR, False),
        (START_BY, 20 * MINUTE, 5 * HOUR, False),
        (FINISH_BY, -2 * HOUR, 5 * MINUTE, False),
        (FINISH_BY, -2 * HOUR, 12 * MINUTE, True),
        (FINISH_BY, 14 * MINUTE, 5 * HOUR, True),
    ],
)
def test_what_would_have_met_a_deadline_may_have_been_told_in_an_absence(
    kind: str, began: timedelta, ended: timedelta, *, lost: bool
) -> None:
    deadline = Deadline(kind=kind, nominal_time=MONDAY, due_at=MONDAY + 15 * MINUTE, set_by=SetBy.START)
    absence = Absence(began_at=MONDAY + began, ended_at=MONDAY + ended)

    assert lost_in(absence, deadline, JobMemory(samples=took(10))) is lost


def test_an_absence_is_written_with_its_days_where_it_has_two() -> None:
    began = datetime(2026, 11, 30, 2, 0, tzinfo=UTC)

    assert str(Absence(began_at=began, ended_at=began + 6 * HOUR)) == "Mon 30 Nov 02:00-08:00 UTC"
    assert str(Absence(began_at=began, ended_at=began + DAY)) == "Mon 30 Nov 02:00 to Tue 1 Dec 02:00 UTC"
