"""Reads a Quartz cron expression and tells which days and which times of a day it means. Pure; it knows no time zone.

What Quartz's own reader takes by accident (names with a step, `#` in a list) is refused: a schedule that is guessed is
worse than none.
"""

import re
from calendar import monthrange
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, time, timedelta

_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_WEEKDAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
MONTHS = {name: number for number, name in enumerate(_MONTHS, 1)}
WEEKDAYS = {name: number for number, name in enumerate(_WEEKDAYS, 1)}
SATURDAY, SUNDAY = 7, 1
FIRST_YEAR, LAST_YEAR = 1970, 2199
MOST_BEFORE_LAST = 30
ANY, NONE_NAMED = "*", "?"

_SPAN = re.compile(r"(?:(?P<low>[0-9A-Z]+)(?:-(?P<high>[0-9A-Z]+))?|(?P<any>\*?))(?:/(?P<step>[0-9]{1,4}))?")
_LAST = re.compile(r"L(?:-(?P<before>[0-9]{1,2}))?(?P<workday>W?)")
_NEAR = re.compile(r"(?P<day>[0-9]{1,2})W")
_OF_MONTH = re.compile(r"(?P<day>[1-7]|[A-Z]{3})(?:(?P<last>L)|#(?P<nth>[1-5]))")

Days = Callable[[date], bool]


class BadCron(ValueError):
    """No expression that Maestro would take; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cron:
    """A parsed expression: a day counts when `on` says so; its times are the same on each of them, in order."""

    times: tuple[time, ...]
    months: frozenset[int]
    years: frozenset[int]
    on: Days

    def holds(self, day: date) -> bool:
        return day.month in self.months and day.year in self.years and self.on(day)


def quartz(text: str) -> Cron:
    """Six fields, or seven with the year: second, minute, hour, day of month, month, day of week."""
    fields = text.upper().split()
    if len(fields) not in (6, 7):
        raise BadCron(f"{text!r} has {len(fields)} fields, not 5, 6 or 7")
    second, minute, hour, month_day, month, weekday, year = [*fields, ANY][:7]
    if (month_day == NONE_NAMED) == (weekday == NONE_NAMED):
        raise BadCron(f"{text!r} must have a `?` for the day of the month or for the day of the week, and not for both")
    seconds, minutes, hours = _numbers(second, 0, 59), _numbers(minute, 0, 59), _numbers(hour, 0, 23)
    return Cron(
        times=tuple(time(each, other, last) for each in hours for other in minutes for last in seconds),
        months=frozenset(_numbers(month, 1, 12, MONTHS)),
        years=frozenset(_numbers(year, FIRST_YEAR, LAST_YEAR)),
        on=_month_days(month_day) if weekday == NONE_NAMED else _weekdays(weekday),
    )


def _numbers(field: str, low: int, high: int, names: dict[str, int] | None = None) -> list[int]:
    found: set[int] = set()
    for part in field.split(","):
        found.update(_span(part, low, high, names or {}))
    return sorted(found)


def _span(part: str, low: int, high: int, names: dict[str, int]) -> Iterable[int]:
    """A number, a range, a star, each with or without a step. A range whose end comes first goes round."""
    read = _SPAN.fullmatch(part)
    if not part or read is None or (read["step"] is not None and (read["low"] or "").isalpha()):
        raise BadCron(f"{part!r} is no part of a cron expression")
    step = int(read["step"] or 1)
    if not 0 < step <= high:
        raise BadCron(f"{part!r} has a step that leads nowhere")
    if read["low"] is None:
        return range(low, high + 1, step)
    begin = _number(read["low"], low, high, names)
    if read["high"] is not None:
        end = _number(read["high"], low, high, names)
    else:
        end = high if read["step"] else begin
    size = high - low + 1
    if end < begin and high == LAST_YEAR:
        raise BadCron(f"{part!r} ends before it begins")
    end = end if end >= begin else end + size
    return [low + (one - low) % size for one in range(begin, end + 1, step)]


def _number(written: str, low: int, high: int, names: dict[str, int]) -> int:
    found = int(written) if written.isdecimal() else names.get(written)
    if found is None or not low <= found <= high:
        raise BadCron(f"{written!r} is not between {low} and {high}")
    return found


def _month_days(field: str) -> Days:
    parts = [_month_day(part) for part in field.split(",")]
    return lambda day: any(part(day) for part in parts)


def _month_day(part: str) -> Days:
    if last := _LAST.fullmatch(part):
        before, workday = int(last["before"] or 0), bool(last["workday"])
        if before > MOST_BEFORE_LAST:
            raise BadCron(f"{part!r}: at most {MOST_BEFORE_LAST} days before the last")
        return lambda day: _is_near(day, _last_of(day) - before) if workday else day.day == _last_of(day) - before
    if near := _NEAR.fullmatch(part):
        meant = _number(near["day"], 1, 31, {})
        return lambda day: _is_near(day, meant)
    days = frozenset(_span(part, 1, 31, {}))
    return lambda day: day.day in days


def _is_near(day: date, meant: int) -> bool:
    """Whether `day` is the working day nearest to that one of its month, which it does not leave."""
    if not 1 <= meant <= _last_of(day):
        return False
    found = day.replace(day=meant)
    match _weekday_of(found):
        case 7:
            found += timedelta(days=2 if meant == 1 else -1)
        case 1:
            found += timedelta(days=-2 if meant == _last_of(day) else 1)
    return day == found


def _weekdays(field: str) -> Days:
    if field == "L":
        return lambda day: _weekday_of(day) == SATURDAY
    if special := _OF_MONTH.fullmatch(field):
        named = special["day"]
        weekday = _number(named, SUNDAY, SATURDAY, WEEKDAYS)
        if special["last"]:
            return lambda day: _weekday_of(day) == weekday and day.day > _last_of(day) - 7
        nth = int(special["nth"])
        return lambda day: _weekday_of(day) == weekday and (day.day + 6) // 7 == nth
    found = frozenset(_numbers(field, SUNDAY, SATURDAY, WEEKDAYS))
    return lambda day: _weekday_of(day) in found


def _last_of(day: date) -> int:
    return monthrange(day.year, day.month)[1]


def _weekday_of(day: date) -> int:
    """1 is Sunday, 7 Saturday."""
    return day.isoweekday() % 7 + 1
