"""Crons as Maestro reads them: Unix in five fields, Quartz in six or seven, in their zone, on the nights of the clocks too."""

from datetime import UTC, date, datetime, timedelta

import pytest
from cronsim import CronSim
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.schedulers.maestro.crons import latest_at_or_before, next_after, next_start, parsed
from bot.schedulers.maestro.quartz import BadCron, Cron, quartz
from bot.schedulers.maestro.shapes import TimeTrigger

NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)
BERLIN = "Europe/Berlin"
SPRING, AUTUMN = datetime(2026, 3, 28, 12, tzinfo=UTC), datetime(2026, 10, 24, 12, tzinfo=UTC)
"""Noon before the night in which Berlin's clocks leap from 02:00 to 03:00, and go back from 03:00 to 02:00."""


def ticks(cron: str, count: int, *, after: datetime = NEW_YEAR, zone: str = "UTC") -> list[str]:
    found: list[str] = []
    for _ in range(count):
        following = next_after(parsed(cron), zone, after)
        if following is None:
            break
        found.append(f"{following:%a %Y-%m-%d %H:%M:%S}".removesuffix(":00"))
        after = following
    return found


@pytest.mark.parametrize(
    ("cron", "expected"),
    [
        ("0 6 * * *", ["Thu 2026-01-01 06:00", "Fri 2026-01-02 06:00"]),
        ("*/30 8-9 * * *", ["Thu 2026-01-01 08:00", "Thu 2026-01-01 08:30", "Thu 2026-01-01 09:00"]),
        ("0 6 * * 1-5", ["Thu 2026-01-01 06:00", "Fri 2026-01-02 06:00", "Mon 2026-01-05 06:00"]),
        ("0 6 * * 0", ["Sun 2026-01-04 06:00", "Sun 2026-01-11 06:00"]),
        ("0 6 * * 7", ["Sun 2026-01-04 06:00", "Sun 2026-01-11 06:00"]),
        ("0 6 * * 5-7", ["Fri 2026-01-02 06:00", "Sat 2026-01-03 06:00", "Sun 2026-01-04 06:00"]),
        ("0 6 * * mon,FRI", ["Fri 2026-01-02 06:00", "Mon 2026-01-05 06:00"]),
        ("0 6 * * */2", ["Thu 2026-01-01 06:00", "Sat 2026-01-03 06:00", "Sun 2026-01-04 06:00"]),
        ("15 0 1 jan,Jul *", ["Thu 2026-01-01 00:15", "Wed 2026-07-01 00:15"]),
        ("0 0 31 * *", ["Sat 2026-01-31 00:00", "Tue 2026-03-31 00:00"]),
        ("0 0 29 2 *", ["Tue 2028-02-29 00:00", "Sun 2032-02-29 00:00"]),
        ("0 0 30 2 *", []),
        ("@hourly", ["Thu 2026-01-01 01:00", "Thu 2026-01-01 02:00"]),
        ("@daily", ["Fri 2026-01-02 00:00", "Sat 2026-01-03 00:00"]),
        ("@weekly", ["Sun 2026-01-04 00:00", "Sun 2026-01-11 00:00"]),
        ("@monthly", ["Sun 2026-02-01 00:00", "Sun 2026-03-01 00:00"]),
        ("@YEARLY", ["Fri 2027-01-01 00:00", "Sat 2028-01-01 00:00"]),
    ],
)
def test_five_fields_are_unix_cron(cron: str, expected: list[str]) -> None:
    assert ticks(cron, len(expected) or 1) == expected


@pytest.mark.parametrize(
    ("cron", "expected"),
    [
        ("0 0 12 1/1 * ? *", ["Thu 2026-01-01 12:00", "Fri 2026-01-02 12:00"]),
        ("30 0/20 8 * * ?", ["Thu 2026-01-01 08:00:30", "Thu 2026-01-01 08:20:30", "Thu 2026-01-01 08:40:30"]),
        ("0 /30 8 * * ?", ["Thu 2026-01-01 08:00", "Thu 2026-01-01 08:30", "Fri 2026-01-02 08:00"]),
        ("0 0 6 ? * 1", ["Sun 2026-01-04 06:00", "Sun 2026-01-11 06:00"]),
        ("0 0 6 ? * 2-6", ["Thu 2026-01-01 06:00", "Fri 2026-01-02 06:00", "Mon 2026-01-05 06:00"]),
        ("0 0 6 ? * MON-FRI", ["Thu 2026-01-01 06:00", "Fri 2026-01-02 06:00", "Mon 2026-01-05 06:00"]),
        ("0 0 6 ? * fri-mon", ["Fri 2026-01-02 06:00", "Sat 2026-01-03 06:00", "Sun 2026-01-04 06:00"]),
        ("0 0 6 ? * L", ["Sat 2026-01-03 06:00", "Sat 2026-01-10 06:00"]),
        ("0 0 6 ? * 6L", ["Fri 2026-01-30 06:00", "Fri 2026-02-27 06:00"]),
        ("0 0 6 ? * FRIL", ["Fri 2026-01-30 06:00", "Fri 2026-02-27 06:00"]),
        ("0 0 6 ? * 2#1", ["Mon 2026-01-05 06:00", "Mon 2026-02-02 06:00"]),
        ("0 0 6 ? * TUE#5", ["Tue 2026-03-31 06:00", "Tue 2026-06-30 06:00"]),
        ("0 0 6 L * ?", ["Sat 2026-01-31 06:00", "Sat 2026-02-28 06:00", "Tue 2026-03-31 06:00"]),
        ("0 0 6 L-3 * ?", ["Wed 2026-01-28 06:00", "Wed 2026-02-25 06:00", "Sat 2026-03-28 06:00"]),
        ("0 0 6 LW * ?", ["Fri 2026-01-30 06:00", "Fri 2026-02-27 06:00", "Tue 2026-03-31 06:00"]),
        ("0 0 6 L-3W * ?", ["Wed 2026-01-28 06:00", "Wed 2026-02-25 06:00", "Fri 2026-03-27 06:00"]),
        ("0 0 6 15W * ?", ["Thu 2026-01-15 06:00", "Mon 2026-02-16 06:00", "Mon 2026-03-16 06:00"]),
        ("0 0 6 1W 8,11 ?", ["Mon 2026-08-03 06:00", "Mon 2026-11-02 06:00"]),
        ("0 0 6 31W * ?", ["Fri 2026-01-30 06:00", "Tue 2026-03-31 06:00", "Fri 2026-05-29 06:00"]),
        ("0 0 6 1,15,L * ?", ["Thu 2026-01-01 06:00", "Thu 2026-01-15 06:00", "Sat 2026-01-31 06:00"]),
        ("0 0 22-2 * * ?", ["Thu 2026-01-01 01:00", "Thu 2026-01-01 02:00", "Thu 2026-01-01 22:00"]),
        ("0 0 6 1 NOV-FEB ?", ["Thu 2026-01-01 06:00", "Sun 2026-02-01 06:00", "Sun 2026-11-01 06:00"]),
        ("0 0 6 29 2 ? 2028-2040", ["Tue 2028-02-29 06:00", "Sun 2032-02-29 06:00"]),
        ("0 0 6 1 1 ? 2026,2030", ["Thu 2026-01-01 06:00", "Tue 2030-01-01 06:00"]),
        ("0 0 6 * * ? 2020-2025", []),
        ("0 0 6 ? * 2 2026/2", ["Mon 2026-01-05 06:00", "Mon 2026-01-12 06:00"]),
    ],
)
def test_six_and_seven_fields_are_quartz(cron: str, expected: list[str]) -> None:
    assert ticks(cron, len(expected) or 1) == expected


@pytest.mark.parametrize(
    "cron",
    [
        *("", "6", "0 6 * *", "0 0 6 * * ? * *", "@reboot", "@every 5m", "a b c d e", "0 6 * * MO", "0 24 * * *"),
        *("60 6 * * *", "0 6 0 * *", "0 6 32 * *", "0 6 * 13 *", "0 6 * * 8", "0 6 1-0 * *x", "0 6 ? * 1", "0 6 L * *"),
        *("0 6 15W * *", "0 6 * * 1#2", "0 6 1 * 1", "0 6 */2 * 1", "0 6 * * 0-7", "0 6 * * 1,", "0 6 * */0 *"),
        *(
            "0 0 6 * * *",
            "0 0 6 ? * ?",
            "0 0 6 1 * 2",
            "0 0 6 ? * 0",
            "0 0 6 ? * 2#6",
            "0 0 6 ? * 2,3#1",
            "0 0 6 ? * 5L,6",
        ),
        *("0 0 6 ? * MON-FRI/2", "0 0 6 L-31 * ?", "0 0 6 32W * ?", "0 0 6 1 1 ? 2030-2026", "0 0 6 1 1 ? 1900"),
        *("* * * * *", "* 6 * * *", "0-1 6 * * *", "59,0 * * * *", "0 * 6 * * ?", "0,30 0 6 * * ?", "*/5 * * * * ?"),
        "0 " * 200,
        "9" * 5000,
    ],
)
def test_what_maestro_would_not_take_is_refused(cron: str) -> None:
    with pytest.raises(BadCron):
        parsed(cron)


@pytest.mark.parametrize("cron", ["*/2 * * * *", "0 0/2 * * * ?", "58,0 * * * *", "0 59 23 * * ?", "59,1 0,23 * * *"])
def test_two_minutes_apart_is_often_enough(cron: str) -> None:
    assert parsed(cron).times


@pytest.mark.parametrize(
    ("cron", "after", "expected"),
    [
        ("30 2 * * *", SPRING, ["Mon 2026-03-30 00:30", "Tue 2026-03-31 00:30"]),
        ("0 30 2 * * ?", SPRING, ["Mon 2026-03-30 00:30", "Tue 2026-03-31 00:30"]),
        ("30 1-3 * * *", SPRING, ["Sun 2026-03-29 00:30", "Sun 2026-03-29 01:30", "Sun 2026-03-29 23:30"]),
        ("30 * * * *", datetime(2026, 3, 29, tzinfo=UTC), ["Sun 2026-03-29 00:30", "Sun 2026-03-29 01:30"]),
        ("30 2 * * *", AUTUMN, ["Sun 2026-10-25 01:30", "Mon 2026-10-26 01:30"]),
        ("0 30 2 * * ?", AUTUMN, ["Sun 2026-10-25 01:30", "Mon 2026-10-26 01:30"]),
        ("0 6 * * *", AUTUMN, ["Sun 2026-10-25 05:00", "Mon 2026-10-26 05:00"]),
        ("0 * * * *", datetime(2026, 10, 24, 22, 30, tzinfo=UTC), ["Sat 2026-10-24 23:00", "Sun 2026-10-25 01:00"]),
        ("0 2 * * *", datetime(2026, 10, 25, 0, 15, tzinfo=UTC), ["Sun 2026-10-25 01:00", "Mon 2026-10-26 01:00"]),
    ],
)
def test_a_night_that_changes_the_clocks(cron: str, after: datetime, expected: list[str]) -> None:
    assert ticks(cron, len(expected), after=after, zone=BERLIN) == expected


def test_a_midnight_that_is_leapt_over_is_left_out() -> None:
    before = datetime(2026, 4, 23, 12, tzinfo=UTC)

    assert ticks("@daily", 2, after=before, zone="Africa/Cairo") == ["Fri 2026-04-24 21:00", "Sat 2026-04-25 21:00"]


def test_the_first_of_several_triggers_counts() -> None:
    triggers = (
        TimeTrigger(type="CRON", cron="0 6 * * *", timezone="America/New_York"),
        TimeTrigger(type="PREDEFINED", expression="@daily", timezone=BERLIN, fuzzy_max_delay="10min"),
        TimeTrigger(type="INTERVAL"),
        TimeTrigger(type="CRON", cron="no cron"),
        TimeTrigger(type="CRON", cron="0 1 * * *", timezone="Mars/Olympus"),
    )

    assert next_start(triggers, NEW_YEAR) == datetime(2026, 1, 1, 11, tzinfo=UTC)
    assert next_start(triggers[1:], NEW_YEAR) == datetime(2026, 1, 1, 23, tzinfo=UTC)
    assert next_start(triggers[2:], NEW_YEAR) is None


def read_or_refused(text: str) -> Cron | str:
    try:
        return parsed(text)
    except BadCron as bad:
        return str(bad)


def field(low: int, high: int) -> st.SearchStrategy[str]:
    number = st.integers(low, high)
    span = st.tuples(st.integers(low, high - 1), st.integers(1, 5)).map(lambda one: f"{one[0]}-{min(sum(one), high)}")
    stepped = st.tuples(span, st.integers(1, high)).map(lambda pair: f"{pair[0]}/{pair[1]}")
    part = st.one_of(number.map(str), span, stepped)
    return st.one_of(st.just("*"), st.lists(part, min_size=1, max_size=3).map(",".join))


unix = st.one_of(
    st.tuples(field(0, 59), field(0, 23), field(1, 31), field(1, 12), st.just("*")),
    st.tuples(field(0, 59), field(0, 23), st.just("*"), field(1, 12), field(0, 6)),
).map(" ".join)
instants = st.integers(0, 15 * 365 * 24 * 60 * 60).map(lambda seconds: NEW_YEAR + timedelta(seconds=seconds))


@settings(max_examples=150, deadline=None)
@given(cron=unix, after=instants)
def test_where_clocks_never_change_five_fields_are_what_every_cron_makes_of_them(cron: str, after: datetime) -> None:
    read = read_or_refused(cron)
    expected = next(CronSim(cron, after), None)

    if isinstance(read, str):
        assert "two minutes" in read
    else:
        assert next_after(read, "UTC", after) == expected


@settings(max_examples=100, deadline=None)
@given(cron=unix, at=instants, zone=st.sampled_from([BERLIN, "America/New_York", "Australia/Lord_Howe", "UTC"]))
def test_the_one_before_and_the_one_after_enclose_every_instant(cron: str, at: datetime, zone: str) -> None:
    read = read_or_refused(cron)
    if isinstance(read, str):
        return
    before, after = latest_at_or_before(read, zone, at), next_after(read, zone, at)

    if before is not None:
        assert before <= at
        assert next_after(read, zone, before) == after
    if after is not None:
        assert at < after
        assert latest_at_or_before(read, zone, after) == after


@given(st.text(max_size=40))
def test_no_text_is_anything_but_read_or_refused(text: str) -> None:
    assert read_or_refused(text) is not None


def test_a_day_holds_by_its_year_as_well() -> None:
    cron = quartz("0 0 6 1 1 ? 2026")

    assert cron.holds(date(2026, 1, 1))
    assert not cron.holds(date(2027, 1, 1))
    assert next_after(cron, "UTC", NEW_YEAR + timedelta(days=1)) is None
