"""The columns of the chart: hours put together to days of the period's zone, or to weeks where it is long. Pure."""

from collections import Counter
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from bot.incidents.health import Day, Period

MOST_DAYS = 62
"""A longer period is told by weeks, which begin on Mondays."""


def days_of(period: Period, opened: Mapping[datetime, int], settled: Mapping[datetime, int]) -> tuple[Day, ...]:
    """Every day of the period, or every week, those without any as well."""
    zone = ZoneInfo(period.zone)
    first, last = _day(period.since, zone), _day(period.until - timedelta(microseconds=1), zone)
    by_week = (last - first).days >= MOST_DAYS
    openings, settlements = _by_column(opened, zone, by_week), _by_column(settled, zone, by_week)
    begins = [_column(first + timedelta(days=number), by_week) for number in range((last - first).days + 1)]
    return tuple(Day(begins=day, opened=openings[day], settled=settlements[day]) for day in dict.fromkeys(begins))


def daily(period: Period, hours: Mapping[datetime, int]) -> tuple[int, ...]:
    """How many on each day of the period, in a row: 24 hours each, from its beginning on."""
    whole = max(1, -((period.since - period.until) // timedelta(days=1)))
    counted = Counter(dict.fromkeys(range(whole), 0))
    for hour, n in hours.items():
        counted[min(whole - 1, max(0, (hour - period.since) // timedelta(days=1)))] += n
    return tuple(counted[number] for number in range(whole))


def _by_column(hours: Mapping[datetime, int], zone: ZoneInfo, by_week: bool) -> Counter[date]:
    found: Counter[date] = Counter()
    for hour, n in hours.items():
        found[_column(_day(hour, zone), by_week)] += n
    return found


def _column(day: date, by_week: bool) -> date:
    return day - timedelta(days=day.weekday()) if by_week else day


def _day(at: datetime, zone: ZoneInfo) -> date:
    return at.astimezone(zone).date()
