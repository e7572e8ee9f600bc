"""Reads the small languages of a policies file: durations, sizes, times of day, days, zones. Pure; knows no file.

Each function returns the value or raises `Misread` with what was expected.
"""

import re
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo, available_timezones

from bot.policies.problems import did_you_mean

LONGEST = timedelta(days=3650)
DURATION_PATTERN = r"^[0-9]{1,12}(ms|s|m|h|d|w)$"
SIZE_PATTERN = r"^[0-9]{1,12} ?([KMGT]i?B?|B)$"
CLOCK_TIME_PATTERN = r"^([01][0-9]|2[0-3]):[0-5][0-9]$"
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")

_MILLISECONDS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_PART = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?) ?(ms|s|m|h|d|w)")
_ZONE = re.compile(r"[A-Za-z0-9_+/-]{1,60}")


class Misread(Exception):
    """A text that cannot be read as what stands there, with what would be right."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def read_duration(text: str) -> timedelta:
    """`500ms`, `1s`, `5m`, `1h`, `1d` or `1w`."""
    if not re.fullmatch(DURATION_PATTERN[1:-1], text):
        raise Misread(f"{quoted(text)} is not a duration", _duration_hint(text))
    number, unit = text.rstrip("mshdw"), text.lstrip("0123456789")
    milliseconds = int(number) * _MILLISECONDS[unit]
    if milliseconds > LONGEST / timedelta(milliseconds=1):
        raise Misread(f"{quoted(text)} is too long", f"at most {LONGEST.days}d")
    return timedelta(milliseconds=milliseconds)


def written_duration(duration: timedelta) -> str:
    """The duration as a policies file has it, in the largest unit that divides it."""
    milliseconds = duration // timedelta(milliseconds=1)
    if milliseconds == 0:
        return "0s"
    unit = next(unit for unit in ("w", "d", "h", "m", "s", "ms") if milliseconds % _MILLISECONDS[unit] == 0)
    return f"{milliseconds // _MILLISECONDS[unit]}{unit}"


def read_size(text: str) -> int:
    """Bytes of `512M`, `2GiB`, `800MB`: `KB` and the like count in thousands, `K` and `KiB` in 1024."""
    if not re.fullmatch(SIZE_PATTERN[1:-1], text):
        raise Misread(f"{quoted(text)} is not a size", 'as in "512M" or "2GiB"')
    letters = text.lstrip("0123456789 ")
    number = text.removesuffix(letters)
    power = "BKMGT".index(letters[0])
    unit: int = (1000 if power and letters[1:] == "B" else 1024) ** power
    return int(number) * unit


def read_clock_time(text: str) -> time:
    """A time of day such as `08:00`."""
    if not re.fullmatch(CLOCK_TIME_PATTERN[1:-1], text):
        raise Misread(f"{quoted(text)} is not a time of day", 'as in "08:00", from "00:00" to "23:59"')
    return time(int(text[:2]), int(text[3:]))


def read_days(parts: Iterable[str]) -> tuple[int, ...]:
    """Weekdays, 0 = Monday, of texts such as `mon-fri`, `sat`."""
    days: set[int] = set()
    for part in parts:
        first, dash, last = part.strip().lower().partition("-")
        if first not in DAYS or (dash and last not in DAYS):
            raise Misread(f"{quoted(part)} is not a weekday or a range of weekdays", "as in mon-fri or mon,wed,sat")
        begin, end = DAYS.index(first), DAYS.index(last or first)
        days |= {day % 7 for day in range(begin, end + 1 if end >= begin else end + 8)}
    if not days:
        raise Misread("no weekday is named", "as in mon-fri")
    return tuple(sorted(days))


def read_zone(text: str) -> str:
    """The name of a time zone that exists."""
    try:
        if _ZONE.fullmatch(text):
            ZoneInfo(text)
            return text
    except (ValueError, OSError, KeyError):
        pass
    raise Misread(
        f"{quoted(text)} is not a time zone",
        did_you_mean(text, available_timezones(), likeness=0.8) or "as in Europe/Berlin",
    )


def read_since(text: str) -> datetime:
    """An aware instant: a date begins at midnight UTC, a time of day needs its offset."""
    wanted = "as in 2026-11-02 or 2026-11-02T09:00Z"
    try:
        if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
            day = date.fromisoformat(text)
            return datetime(day.year, day.month, day.day, tzinfo=UTC)
        instant = datetime.fromisoformat(text)
        if instant.tzinfo is not None:
            return instant.astimezone(UTC)
    except (ValueError, OverflowError):
        raise Misread(f"{quoted(text)} is not a date", wanted) from None
    raise Misread(f"{quoted(text)} has no time zone", wanted)


def read_local_start(text: str) -> datetime:
    """A local time without offset, which a time zone beside it completes."""
    wanted = "a local time as in 2026-11-02T09:00, its zone stands beside it"
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        raise Misread(f"{quoted(text)} is not a date and time", wanted) from None
    if instant.tzinfo is not None or not date(1971, 1, 1) <= instant.date() <= date(9000, 1, 1):
        raise Misread(f"{quoted(text)} is not a local time", wanted)
    return instant


def matching(pattern: str, *, what: str, hint: str) -> Callable[[str], str]:
    """A reader of texts that match `pattern` as a whole."""
    compiled = re.compile(pattern)

    def read(text: str) -> str:
        if compiled.fullmatch(text):
            return text
        raise Misread(f"{quoted(text)} is not {what}", hint)

    return read


def quoted(text: object) -> str:
    """`text` as a message may show it: as written in the file, on one line, short."""
    shown = getattr(text, "written", None) or str(text)
    return repr(shown if len(shown) <= 60 else f"{shown[:57]}...")


def _duration_hint(text: str) -> str:
    if re.fullmatch(r"[0-9]{1,9}", text):
        return f'a duration has a unit, as in "{text}s" or "{text}m"'
    parts = _PART.findall(text)
    if parts and not _PART.sub("", text).strip():
        total = timedelta(milliseconds=round(sum(float(number) * _MILLISECONDS[unit] for number, unit in parts)))
        return f"write {written_duration(total)}"
    return "a whole number and a unit: 500ms, 1s, 5m, 1h, 1d, 1w"
