"""Instants and durations in words: Slack's date format for each reader's own time, the job's zone beside it.

It must not read a clock.
"""

from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

FORMAT = "{date_short_pretty} {time}"
EXACT_FORMAT = "{date_short_pretty} {time_secs}"


def zone_of(name: str) -> tzinfo:
    """The zone of that name, UTC when there is none."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC


def written(at: datetime, zone: str, *, exact: bool = False) -> str:
    """`at` in `zone` as a person writes it: `Mon 30 Nov 08:00 CET`; `exact`: with its seconds."""
    local = at.astimezone(zone_of(zone))
    return f"{local:%a} {local.day} {local:%b} {_of_day(local, exact=exact)} {local:%Z}"


def clock_time(at: datetime, zone: str, *, exact: bool = False) -> str:
    """The time of day at `at` in `zone`, with the zone's name: `08:00 Europe/Berlin`."""
    return f"{_of_day(at.astimezone(zone_of(zone)), exact=exact)} {zone}"


def needs_seconds(nominal_time: datetime) -> bool:
    """Whether minutes alone would not tell this nominal time from its neighbours."""
    return nominal_time.second != 0


def span(duration: timedelta) -> str:
    """`duration` in its two largest units: `1 h 20 min`."""
    seconds = round(abs(duration.total_seconds()))
    if seconds == 0 and duration:
        return "under 1 s"
    units = (("days", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
    largest = next((index for index, (_, size) in enumerate(units) if seconds >= size), 3)
    parts = []
    for unit, size in units[largest : largest + 2]:
        amount, seconds = divmod(seconds, size)
        if amount or unit == "s" == units[largest][0]:
            parts.append("1 day" if (amount, unit) == (1, "days") else f"{amount} {unit}")
    return " ".join(parts)


def _of_day(local: datetime, *, exact: bool) -> str:
    return f"{local:%H:%M:%S}" if exact else f"{local:%H:%M}"
