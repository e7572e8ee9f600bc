"""Days that people write as periods, in a zone of theirs. It must not know what is asked of a period."""

from datetime import UTC, date, datetime, timedelta

from bot.incidents.health import Period
from bot.render.moments import zone_of

MOST_DAYS = 400


class BadPeriod(Exception):
    """What is wrong with what was written, for the person who wrote it."""


def last_days(count: int, *, zone: str, now: datetime) -> Period:
    """The last so many times 24 hours. Raises `BadPeriod`."""
    if not 1 <= count <= MOST_DAYS:
        raise BadPeriod(f"A period has 1 to {MOST_DAYS} days.")
    return Period(since=now - timedelta(days=count), until=now, name=f"{count}d", zone=zone)


def since_day(text: str, *, zone: str, now: datetime) -> Period:
    """From the beginning of that day until now. Raises `BadPeriod`."""
    day = _day(text)
    since = _begins(day, zone)
    if since >= now:
        raise BadPeriod(f"{day} is still to come.")
    if now - since > timedelta(days=MOST_DAYS):
        raise BadPeriod(f"That is longer ago than {MOST_DAYS} days, which is as far as one answer looks back.")
    return Period(since=since, until=now, name=f"since {day}", zone=zone)


def range_of(text: str, *, zone: str, now: datetime, ahead: bool = False) -> Period:
    """`2026-10-01..2026-10-31`, both days in it; one that is not over ends now, unless it is for later. Raises `BadPeriod`."""
    first, dots, last = text.partition("..")
    if not dots:
        raise BadPeriod(f"“{text}” is no period; write two days, as in 2026-10-01..2026-10-31.")
    begins, ends = _day(first), _day(last)
    if ends < begins:
        raise BadPeriod(f"The period ends before it begins: {text}.")
    since, until = _begins(begins, zone), _begins(ends + timedelta(days=1), zone)
    if until - since > timedelta(days=MOST_DAYS):
        raise BadPeriod(f"A period has 1 to {MOST_DAYS} days.")
    if not ahead and since >= now:
        raise BadPeriod(f"{begins} is still to come.")
    return Period(since=since, until=until if ahead else min(until, now), name=f"{begins}..{ends}", zone=zone)


def _day(text: str) -> date:
    try:
        found = date.fromisoformat(text) if len(text) == 10 else None
    except ValueError:
        found = None
    if found is None or not 1990 <= found.year <= 2190:
        raise BadPeriod(f"“{text}” is no day; write it as 2026-11-01.")
    return found


def _begins(day: date, zone: str) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=zone_of(zone)).astimezone(UTC)
