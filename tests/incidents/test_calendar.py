"""People's zones: gaps and overlaps, shifts and periods across the change of clocks, hours over midnight."""

from datetime import UTC, date, datetime, time, timedelta

import pytest

from bot.incidents.calendar import (
    at_local,
    first_local_after,
    last_within_before,
    next_within,
    next_working_morning,
    on_shift,
    period_start,
    within,
)
from bot.incidents.policy import Hours, Period, Rota

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
BERLIN = "Europe/Berlin"
OFFICE = Hours(days=(0, 1, 2, 3, 4), starts=time(8), ends=time(18), zone=BERLIN)
NIGHT = Hours(days=(4,), starts=time(22), ends=time(6), zone=BERLIN)


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type,misc]


@pytest.mark.scenario(33)
@pytest.mark.parametrize(
    ("zone", "day", "clock", "instant"),
    [
        (BERLIN, date(2026, 3, 29), time(2, 30), utc(2026, 3, 29, 1, 0)),
        (BERLIN, date(2026, 10, 25), time(2, 30), utc(2026, 10, 25, 0, 30)),
        ("America/New_York", date(2026, 3, 8), time(2, 30), utc(2026, 3, 8, 7, 0)),
        ("America/New_York", date(2026, 11, 1), time(1, 30), utc(2026, 11, 1, 5, 30)),
        ("Australia/Lord_Howe", date(2026, 10, 4), time(2, 15), utc(2026, 10, 3, 15, 30)),
        ("Australia/Lord_Howe", date(2026, 4, 5), time(1, 45), utc(2026, 4, 4, 14, 45)),
        ("America/Santiago", date(2026, 9, 6), time(0, 0), utc(2026, 9, 6, 4, 0)),
        (BERLIN, date(2026, 7, 1), time(2, 30), utc(2026, 7, 1, 0, 30)),
        ("Asia/Kolkata", date(2026, 3, 29), time(2, 30), utc(2026, 3, 28, 21, 0)),
    ],
)
def test_a_skipped_local_time_is_the_end_of_the_gap_a_repeated_one_its_first(
    zone: str, day: date, clock: time, instant: datetime
) -> None:
    assert at_local(day, clock, zone) == instant


@pytest.mark.parametrize(
    ("after", "instant"),
    [
        (utc(2026, 11, 30, 5, 59), utc(2026, 11, 30, 6, 0)),
        (utc(2026, 11, 30, 6, 0), utc(2026, 12, 1, 6, 0)),
        (utc(2026, 3, 28, 6, 0), utc(2026, 3, 29, 5, 0)),
        (utc(2026, 10, 24, 5, 0), utc(2026, 10, 25, 6, 0)),
    ],
)
def test_the_first_such_local_time_is_strictly_after(after: datetime, instant: datetime) -> None:
    assert first_local_after(time(7), after, BERLIN) == instant


@pytest.mark.scenario(17)
@pytest.mark.parametrize(
    ("per", "at", "zone", "start"),
    [
        (Period.DAY, utc(2026, 3, 29, 21, 59), BERLIN, utc(2026, 3, 28, 23, 0)),
        (Period.DAY, utc(2026, 3, 29, 22, 0), BERLIN, utc(2026, 3, 29, 22, 0)),
        (Period.DAY, utc(2026, 10, 25, 22, 59), BERLIN, utc(2026, 10, 24, 22, 0)),
        (Period.DAY, utc(2026, 10, 25, 23, 0), BERLIN, utc(2026, 10, 25, 23, 0)),
        (Period.DAY, utc(2026, 11, 30, 23, 0), "UTC", utc(2026, 11, 30)),
        (Period.WEEK, utc(2026, 11, 29, 22, 59), BERLIN, utc(2026, 11, 22, 23, 0)),
        (Period.WEEK, utc(2026, 11, 29, 23, 0), BERLIN, utc(2026, 11, 29, 23, 0)),
        (Period.MONTH, utc(2026, 11, 30, 23, 0), BERLIN, utc(2026, 11, 30, 23, 0)),
        (Period.MONTH, utc(2026, 10, 31, 22, 59), BERLIN, utc(2026, 9, 30, 22, 0)),
        (Period.DAY, utc(2026, 9, 6, 12, 0), "America/Santiago", utc(2026, 9, 6, 4, 0)),
    ],
)
def test_a_budgets_day_begins_in_its_own_zone_on_days_of_23_and_25_hours_too(
    per: Period, at: datetime, zone: str, start: datetime
) -> None:
    assert period_start(per, at, zone) == start


@pytest.mark.parametrize(
    ("day", "hours"), [(date(2026, 3, 29), 23), (date(2026, 10, 25), 25), (date(2026, 11, 30), 24)]
)
def test_a_day_is_as_long_as_its_clocks_say(day: date, hours: int) -> None:
    begin, end = at_local(day, time(0), BERLIN), at_local(day + DAY, time(0), BERLIN)

    assert end - begin == hours * HOUR
    assert period_start(Period.DAY, begin, BERLIN) == begin
    assert period_start(Period.DAY, end - timedelta(microseconds=1), BERLIN) == begin


@pytest.mark.parametrize(
    ("at", "who"),
    [
        (utc(2026, 3, 23, 7, 59), None),
        (utc(2026, 3, 23, 8, 0), "ana"),
        (utc(2026, 3, 30, 6, 59), "ana"),
        (utc(2026, 3, 30, 7, 0), "ben"),
        (utc(2026, 4, 6, 6, 59), "ben"),
        (utc(2026, 4, 6, 7, 0), "ana"),
        (utc(2026, 10, 26, 7, 59), "ana"),
        (utc(2026, 10, 26, 8, 0), "ben"),
    ],
)
def test_a_weekly_shift_hands_over_at_nine_local_across_the_change_of_clocks(at: datetime, who: str | None) -> None:
    rota = Rota(members=("ana", "ben"), every=timedelta(weeks=1), since=utc(2026, 3, 23, 8), zone=BERLIN)

    assert on_shift(rota, at) == who


def test_a_shift_of_hours_is_counted_in_real_hours() -> None:
    rota = Rota(members=("ana", "ben", "cem"), every=12 * HOUR, since=utc(2026, 3, 28, 20), zone=BERLIN)

    assert [on_shift(rota, rota.since + turn * 12 * HOUR) for turn in range(4)] == ["ana", "ben", "cem", "ana"]


def test_an_empty_rota_has_nobody() -> None:
    assert on_shift(Rota(members=(), every=DAY, since=utc(2026, 1, 1), zone=BERLIN), utc(2026, 2, 1)) is None


@pytest.mark.parametrize(
    ("hours", "at", "inside"),
    [
        (OFFICE, utc(2026, 11, 30, 7, 0), True),
        (OFFICE, utc(2026, 11, 30, 6, 59), False),
        (OFFICE, utc(2026, 11, 30, 17, 0), False),
        (OFFICE, utc(2026, 12, 5, 9, 0), False),
        (NIGHT, utc(2026, 12, 4, 21, 0), True),
        (NIGHT, utc(2026, 12, 5, 4, 59), True),
        (NIGHT, utc(2026, 12, 5, 5, 0), False),
        (NIGHT, utc(2026, 12, 4, 4, 0), False),
    ],
)
def test_hours_are_half_open_and_may_pass_midnight(hours: Hours, at: datetime, *, inside: bool) -> None:
    assert within(hours, at) is inside


@pytest.mark.parametrize(
    ("hours", "at", "instant"),
    [
        (OFFICE, utc(2026, 11, 30, 9, 0), utc(2026, 11, 30, 9, 0)),
        (OFFICE, utc(2026, 12, 4, 20, 0), utc(2026, 12, 7, 7, 0)),
        (OFFICE, utc(2026, 3, 27, 20, 0), utc(2026, 3, 30, 6, 0)),
        (NIGHT, utc(2026, 12, 5, 5, 0), utc(2026, 12, 11, 21, 0)),
        (Hours(days=(), starts=time(8), ends=time(18), zone=BERLIN), utc(2026, 12, 5), utc(2026, 12, 5)),
    ],
)
def test_the_next_instant_within_hours(hours: Hours, at: datetime, instant: datetime) -> None:
    assert next_within(hours, at) == instant


@pytest.mark.parametrize(
    ("before", "instant"),
    [
        (utc(2026, 12, 1, 2, 0), utc(2026, 11, 30, 16, 30)),
        (utc(2026, 12, 1, 7, 10), utc(2026, 12, 1, 7, 0)),
        (utc(2026, 12, 1, 12, 0), utc(2026, 12, 1, 11, 30)),
        (utc(2026, 12, 6, 3, 0), utc(2026, 12, 4, 16, 30)),
    ],
)
def test_the_last_instant_within_hours_that_still_helps(before: datetime, instant: datetime) -> None:
    assert last_within_before(OFFICE, before, HOUR / 2) == instant


@pytest.mark.parametrize(
    ("hours", "at", "morning"),
    [
        (OFFICE, utc(2026, 11, 30, 2, 0), utc(2026, 12, 1, 7, 0)),
        (OFFICE, utc(2026, 12, 4, 20, 0), utc(2026, 12, 7, 7, 0)),
        (None, utc(2026, 3, 28, 20, 0), utc(2026, 3, 29, 7, 0)),
    ],
)
def test_the_next_working_morning(hours: Hours | None, at: datetime, morning: datetime) -> None:
    assert next_working_morning(hours, at, BERLIN) == morning
