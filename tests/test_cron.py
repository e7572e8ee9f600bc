"""Cron in its own zone: what fires on the nights that change the clock, what never fires, both directions alike."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.cron import check, interval, latest_at_or_before, next_after
from bot.incidents.policy import Schedule

NIGHTS = {
    "Europe/Berlin": ("2026-03-29", "2026-10-25"),
    "America/New_York": ("2026-03-08", "2026-11-01"),
    "Australia/Sydney": ("2026-10-04", "2026-04-05"),
    "America/Santiago": ("2026-09-06", "2026-04-05"),
}


def fired(schedule: Schedule, *, since: datetime, until: datetime) -> list[datetime]:
    times: list[datetime] = []
    at = next_after(schedule, since)
    while at is not None and at < until:
        times.append(at)
        at = next_after(schedule, at)
    return times


def night(zone: str, date: str) -> tuple[datetime, datetime]:
    """From noon before the local date to noon of it."""
    noon = datetime.fromisoformat(f"{date}T12:00").replace(tzinfo=ZoneInfo(zone))
    return (noon - timedelta(days=1)).astimezone(UTC), noon.astimezone(UTC)


@pytest.mark.scenario(33)
@pytest.mark.parametrize(
    ("zone", "cron", "date", "expected"),
    [
        ("Europe/Berlin", "30 2 * * *", "2026-03-29", ["2026-03-29T03:00:00+02:00"]),
        ("America/New_York", "30 2 * * *", "2026-03-08", ["2026-03-08T03:00:00-04:00"]),
        ("Australia/Sydney", "30 2 * * *", "2026-10-04", ["2026-10-04T03:00:00+11:00"]),
        ("America/Santiago", "30 0 * * *", "2026-09-06", ["2026-09-06T01:00:00-03:00"]),
        ("Europe/Berlin", "15,45 2 * * *", "2026-03-29", ["2026-03-29T03:00:00+02:00"]),
        ("Europe/Berlin", "0 2,3 * * *", "2026-03-29", ["2026-03-29T03:00:00+02:00"]),
        ("Europe/Berlin", "30 2 * * *", "2026-10-25", ["2026-10-25T02:30:00+02:00"]),
        ("America/New_York", "30 1 * * *", "2026-11-01", ["2026-11-01T01:30:00-04:00"]),
        ("Australia/Sydney", "30 2 * * *", "2026-04-05", ["2026-04-05T02:30:00+11:00"]),
        ("America/Santiago", "30 23 * * *", "2026-04-05", ["2026-04-04T23:30:00-03:00"]),
        (
            "Europe/Berlin",
            "30 1,3 * * *",
            "2026-10-25",
            ["2026-10-25T01:30:00+02:00", "2026-10-25T03:30:00+01:00"],
        ),
    ],
)
def test_a_fixed_time_fires_once_on_the_night_that_changes_the_clock(
    zone: str, cron: str, date: str, expected: list[str]
) -> None:
    since, until = night(zone, date)

    times = fired(Schedule(cron=cron, zone=zone), since=since, until=until)

    assert [at.astimezone(ZoneInfo(zone)).isoformat() for at in times] == expected


@pytest.mark.scenario(33)
@pytest.mark.parametrize(("zone", "dates"), NIGHTS.items())
def test_every_half_hour_fires_in_both_passes_of_a_repeated_hour_and_in_no_hour_that_is_left_out(
    zone: str, dates: tuple[str, str]
) -> None:
    gap, overlap = dates

    for date, hours in ((gap, 23), (overlap, 25)):
        since, until = night(zone, date)
        times = fired(Schedule(cron="*/30 * * * *", zone=zone), since=since, until=until)

        assert until - since == timedelta(hours=hours)
        assert times == [since + timedelta(minutes=30 * step) for step in range(1, 2 * hours)]


@pytest.mark.scenario(33)
def test_a_time_that_has_fired_in_the_first_pass_is_over_in_the_second() -> None:
    schedule = Schedule(cron="30 2 * * *", zone="Europe/Berlin")
    second_pass = datetime(2026, 10, 25, 1, 15, tzinfo=UTC)

    assert next_after(schedule, second_pass) == datetime(2026, 10, 26, 1, 30, tzinfo=UTC)
    assert latest_at_or_before(schedule, second_pass) == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)


def test_a_time_in_the_gap_is_found_from_behind_where_it_fired() -> None:
    schedule = Schedule(cron="30 2 * * *", zone="Europe/Berlin")

    found = latest_at_or_before(schedule, datetime(2026, 3, 29, 1, 0, tzinfo=UTC))

    assert found == datetime(2026, 3, 29, 1, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("schedule", "problem"),
    [
        (Schedule(cron="0 0 31 2 *"), "cron '0 0 31 2 *' never fires: no such day in the months it names"),
        (Schedule(cron="0 0 30 2 *"), "cron '0 0 30 2 *' never fires: no such day in the months it names"),
        (Schedule(cron="0 0 31 4,6 *"), "cron '0 0 31 4,6 *' never fires: no such day in the months it names"),
        (Schedule(cron="61 0 * * *"), "cron '61 0 * * *': bad minute"),
        (Schedule(cron="0 0 32 2 *"), "cron '0 0 32 2 *': bad day-of-month"),
        (Schedule(cron="0 0 1 13 *"), "cron '0 0 1 13 *': bad month"),
        (Schedule(cron="0 0 31 2 9"), "cron '0 0 31 2 9': bad day-of-week"),
        (Schedule(cron="0 0 * *"), "cron '0 0 * *': wrong number of fields"),
        (Schedule(cron=""), "cron '': wrong number of fields"),
        (Schedule(cron="@daily"), "cron '@daily': write five fields, such as `0 0 * * *` for @daily"),
        (Schedule(cron="9" * 5000 + " * * * *"), "a cron expression has at most 200 characters"),
        (Schedule(cron="0 0 * * *", zone="Europe/Berlln"), "unknown time zone 'Europe/Berlln'"),
        (Schedule(cron="0 0 * * *", zone="Europe"), "unknown time zone 'Europe'"),
        (Schedule(cron="0 0 * * *", zone="../etc/passwd"), "unknown time zone '../etc/passwd'"),
        (Schedule(cron="0 0 * * *", zone=""), "unknown time zone ''"),
        (Schedule(every=timedelta(0)), "the interval must be 1s or longer"),
        (Schedule(every=timedelta(seconds=-5)), "the interval must be 1s or longer"),
        (Schedule(every=timedelta(milliseconds=500)), "the interval must be 1s or longer"),
        (Schedule(cron="0 0 * * *", every=timedelta(hours=1)), "a schedule has a cron or an interval, not both"),
        (Schedule(), "a schedule needs a cron or an interval"),
    ],
)
def test_a_schedule_that_cannot_work_is_refused_with_words(schedule: Schedule, problem: str) -> None:
    assert check(schedule) == problem


@pytest.mark.parametrize(
    "schedule",
    [
        Schedule(cron="30 2 * * *", zone="Europe/Berlin"),
        Schedule(cron="0 0 29 2 *"),
        Schedule(cron="0 0 * 2 MON#5"),
        Schedule(cron="0 0 31 2 MON"),
        Schedule(cron="0 0 L * *"),
        Schedule(cron="*/10 * * * * *"),
        Schedule(every=timedelta(seconds=1)),
        Schedule(next_run_at=datetime(2026, 12, 1, tzinfo=UTC)),
    ],
)
def test_a_schedule_that_fires_however_seldom_is_taken(schedule: Schedule) -> None:
    assert check(schedule) is None


def test_sunday_is_sunday() -> None:
    at = next_after(Schedule(cron="0 0 * * 0"), datetime(2026, 11, 30, tzinfo=UTC))

    assert at is not None
    assert at.strftime("%A") == "Sunday"


def test_intervals_are_aligned_to_the_epoch_so_that_a_restart_moves_nothing() -> None:
    schedule = Schedule(every=timedelta(minutes=15))
    at = datetime(2026, 11, 30, 2, 37, 11, tzinfo=UTC)

    assert next_after(schedule, at) == datetime(2026, 11, 30, 2, 45, tzinfo=UTC)
    assert latest_at_or_before(schedule, at) == datetime(2026, 11, 30, 2, 30, tzinfo=UTC)
    assert interval(schedule, at) == timedelta(minutes=15)


@pytest.mark.parametrize(
    ("cron", "expected"),
    [
        ("*/5 * * * *", timedelta(minutes=5)),
        ("0 6 * * *", timedelta(days=1)),
        ("0 6 * * MON-FRI", timedelta(days=3)),
        ("0 0 29 2 *", timedelta(days=1461)),
    ],
)
def test_the_interval_lies_between_the_neighbours_of_the_instant(cron: str, expected: timedelta) -> None:
    sunday = datetime(2026, 11, 29, 12, tzinfo=UTC)

    assert interval(Schedule(cron=cron), sunday) == expected


def test_the_schedulers_own_word_is_the_next_time_until_it_is_reached() -> None:
    told = datetime(2026, 12, 1, 6, tzinfo=UTC)
    schedule = Schedule(next_run_at=told)

    assert next_after(schedule, told - timedelta(seconds=1)) == told
    assert next_after(schedule, told) is None
    assert latest_at_or_before(schedule, told) == told
    assert interval(schedule, told) is None


def test_the_end_of_the_calendar_is_no_error() -> None:
    last = datetime.max.replace(tzinfo=UTC)

    assert next_after(Schedule(cron="0 0 * * *"), last) is None
    assert next_after(Schedule(every=timedelta(days=1)), last) is None
    assert latest_at_or_before(Schedule(cron="0 0 29 2 *"), datetime.min.replace(tzinfo=UTC)) is None


CRONS = st.sampled_from(
    [
        "*/7 * * * *",
        "0 * * * *",
        "30 2 * * *",
        "30 1 * * *",
        "15,45 0-3 * * *",
        "30 */2 * * *",
        "0 9 * * MON",
        "0 0 L * *",
        "*/1 3 * * SUN",
        "59 23 31 12 *",
    ]
)


@settings(deadline=None)
@given(
    cron=CRONS,
    zone=st.sampled_from([*NIGHTS, "UTC", "Asia/Kathmandu", "Australia/Lord_Howe"]),
    seconds=st.integers(min_value=0, max_value=3 * 366 * 86_400),
)
def test_forwards_and_backwards_tell_the_same_nominal_times(cron: str, zone: str, seconds: int) -> None:
    schedule = Schedule(cron=cron, zone=zone)
    instant = datetime(2025, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)

    following = next_after(schedule, instant)
    previous = latest_at_or_before(schedule, instant)

    assert following is not None
    assert previous is not None
    assert previous <= instant < following
    assert next_after(schedule, previous) == following
    assert latest_at_or_before(schedule, previous) == previous


@settings(deadline=None)
@given(
    cron=st.text(alphabet="0123456789*/,-#L WMONSU", max_size=30),
    zone=st.sampled_from(["UTC", "Europe/Berlin", "Nowhere/Town", "\0"]),
)
def test_no_text_breaks_the_check_and_what_passes_it_fires(cron: str, zone: str) -> None:
    schedule = Schedule(cron=cron, zone=zone)

    if check(schedule) is None:
        assert next_after(schedule, datetime(2026, 11, 30, tzinfo=UTC)) is not None
