"""Every hour of both nights that change the clock, in four zones: no false late, and none missed.

What is expected is worked out minute by minute from what wall clocks show; nothing of the code under test is asked.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from bot import cron
from bot.incidents import memory as past
from bot.incidents.keys import RunRef
from bot.incidents.lateness import FINISH_BY, START_BY, deadlines
from bot.incidents.memory import JobMemory, LiveRun, Sample
from bot.incidents.policy import LatePolicy, Schedule

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
GRACE = timedelta(minutes=15)
NIGHTS = {
    "Europe/Berlin": (date(2026, 3, 29), date(2026, 10, 25)),
    "America/New_York": (date(2026, 3, 8), date(2026, 11, 1)),
    "Australia/Lord_Howe": (date(2026, 4, 5), date(2026, 10, 4)),
    "Africa/Cairo": (date(2026, 4, 24), date(2026, 10, 29)),
}
CASES = [(zone, night) for zone, nights in NIGHTS.items() for night in nights]


def minutes_of(day: date, zone: str) -> Iterator[datetime]:
    """Every minute of that local day, in the order in which they pass."""
    at = datetime(day.year, day.month, day.day, tzinfo=UTC) - 15 * HOUR
    for _ in range(60 * 54):
        if at.astimezone(ZoneInfo(zone)).date() == day:
            yield at
        at += MINUTE


def shown_first(day: date, clock: time, zone: str) -> datetime:
    """When a wall clock shows that time for the first time on that day; where it skips it, when it goes on after it."""
    for at in minutes_of(day, zone):
        if at.astimezone(ZoneInfo(zone)).time() >= clock:
            return at
    return next(minutes_of(day + DAY, zone))


def around(night: date) -> list[date]:
    return [night - DAY, night, night + DAY]


def of_every_hour(*minutes: int) -> list[time]:
    return [time(hour, minute) for hour in range(24) for minute in minutes]


def expects(memory: JobMemory, schedule: Schedule, policy: LatePolicy, kind: str) -> tuple[datetime, datetime] | None:
    found = deadlines(memory, policy, next_after=lambda after: cron.next_after(schedule, after))
    return next(((one.nominal_time, one.due_at) for one in found if one.kind == kind), None)


def plays(schedule: Schedule, nominal_times: list[datetime]) -> None:
    """Each run is expected at its time and at no other; it comes a minute later, and is good."""
    memory = JobMemory(watched_from=nominal_times[0] - MINUTE)
    for nominal_time in nominal_times:
        assert expects(memory, schedule, LatePolicy(), START_BY) == (nominal_time, nominal_time + GRACE)
        run = RunRef(run_id=nominal_time.isoformat(), nominal_time=nominal_time)
        memory = past.started(memory, LiveRun(run=run, started_at=nominal_time + MINUTE))
        memory = past.succeeded(memory, run, nominal_time + 2 * MINUTE, None)


def test_the_nights_are_those_on_which_the_clocks_change() -> None:
    lengths = {(zone, night): len(list(minutes_of(night, zone))) for zone, nights in NIGHTS.items() for night in nights}

    assert sorted(set(lengths.values())) == [1380, 1410, 1470, 1500]
    assert {len(list(minutes_of(night - 2 * DAY, zone))) for zone, night in CASES} == {1440}


@pytest.mark.scenario(33)
@pytest.mark.parametrize(("zone", "night"), CASES)
def test_a_job_of_one_time_of_day_is_expected_once_a_day(zone: str, night: date) -> None:
    for clock in of_every_hour(0, 15, 30, 45):
        schedule = Schedule(cron=f"{clock.minute} {clock.hour} * * *", zone=zone)
        plays(schedule, [shown_first(day, clock, zone) for day in around(night)])


@pytest.mark.scenario(33)
@pytest.mark.parametrize(("zone", "night"), CASES)
def test_a_job_of_every_hour_is_expected_whenever_the_wall_clock_shows_its_minute(zone: str, night: date) -> None:
    for minute in (0, 15, 30):
        shown = [
            at
            for day in around(night)
            for at in minutes_of(day, zone)
            if at.astimezone(ZoneInfo(zone)).minute == minute
        ]
        plays(Schedule(cron=f"{minute} * * * *", zone=zone), shown)


@pytest.mark.scenario(33)
@pytest.mark.parametrize(("zone", "night"), CASES)
@pytest.mark.parametrize("hours", [1, 2, 6, 24])
def test_a_job_of_equal_steps_does_not_know_of_wall_clocks(zone: str, night: date, hours: int) -> None:
    step = hours * HOUR
    first = datetime(night.year, night.month, night.day, tzinfo=UTC) - DAY
    plays(Schedule(every=step, zone=zone), [first + number * step for number in range(72 // hours)])


@pytest.mark.scenario(33)
@pytest.mark.parametrize(("zone", "night"), CASES)
def test_a_run_has_to_be_done_when_a_wall_clock_shows_that_time_for_the_first_time_after_it(
    zone: str, night: date
) -> None:
    minutes = [at for day in around(night) for at in minutes_of(day, zone)]
    never = Schedule(next_run_at=None)
    for clock in of_every_hour(0, 30):
        policy = LatePolicy(finish_by=clock, zone=zone, grace=timedelta(), start_within=None)
        wanted = [shown_first(day, clock, zone) for day in (*around(night), night + 2 * DAY)]
        for nominal_time in minutes[::60]:
            live = LiveRun(run=RunRef(run_id="r", nominal_time=nominal_time), started_at=nominal_time)
            found = expects(JobMemory(live=(live,)), never, policy, FINISH_BY)

            assert found == (nominal_time, min(at for at in wanted if at > nominal_time)), (clock, nominal_time)


@pytest.mark.scenario(33)
@pytest.mark.parametrize(("zone", "night"), CASES)
def test_what_is_learned_is_a_length_of_time_and_no_wall_clock(zone: str, night: date) -> None:
    samples = tuple(Sample(duration=2 * HOUR) for _ in range(5))
    for day in around(night):
        for nominal_time in list(minutes_of(day, zone))[::60]:
            live = LiveRun(run=RunRef(run_id="r", nominal_time=nominal_time), started_at=nominal_time + MINUTE)
            memory = JobMemory(live=(live,), samples=samples)
            due_at = nominal_time + MINUTE + 3 * HOUR + GRACE

            assert expects(memory, Schedule(), LatePolicy(), FINISH_BY) == (nominal_time, due_at)
