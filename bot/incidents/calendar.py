"""Instants in people's zones: working hours, on-call shifts, budget periods, local deadlines. Pure; no clock.

Local times that a DST gap skips are read as the instant just after the gap, repeated ones as their first occurrence.
"""

from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from bot.incidents.policy import Hours, Period, Rota


@lru_cache(maxsize=256)
def _zone(name: str) -> ZoneInfo:
    return ZoneInfo(name)


def at_local(day: date, clock: time, zone: str) -> datetime:
    """The UTC instant at which a wall clock in `zone` shows `clock` on `day`; in a gap, where it ends."""
    local = datetime.combine(day, clock, tzinfo=_zone(zone))
    utc = local.astimezone(UTC)
    if utc.astimezone(_zone(zone)).replace(tzinfo=None) == local.replace(tzinfo=None):
        return utc
    return _change_between(local.replace(fold=1).astimezone(UTC), utc, zone)


def _change_between(low: datetime, high: datetime, zone: str) -> datetime:
    """The instant in (low, high] at which the zone's offset changes, to the second."""
    before = low.astimezone(_zone(zone)).utcoffset()
    while high - low > timedelta(seconds=1):
        middle = low + (high - low) // 2
        if middle.astimezone(_zone(zone)).utcoffset() == before:
            low = middle
        else:
            high = middle
    return high.replace(microsecond=0)


def first_local_after(clock: time, after: datetime, zone: str) -> datetime:
    """The first instant strictly after `after` at which a wall clock in `zone` shows `clock`."""
    day = after.astimezone(_zone(zone)).date()
    for days in range(3):
        instant = at_local(day + timedelta(days=days), clock, zone)
        if instant > after:
            return instant
    raise ValueError(f"no {clock} after {after} in {zone}")


def within(hours: Hours, at: datetime) -> bool:
    """Whether `at` lies in the half-open working hours."""
    return any(starts <= at < ends for starts, ends in _around(hours, at))


def next_within(hours: Hours, at: datetime) -> datetime:
    """`at` itself when it is within the hours, else the next instant at which they begin; `at` when there are none."""
    if within(hours, at):
        return at
    return min((starts for starts, _ in _around(hours, at) if starts > at), default=at)


def last_within_before(hours: Hours, before: datetime, lead: timedelta) -> datetime | None:
    """The latest instant that leaves `lead` both before `before` and before the hours end; None when there is none near."""
    spans = [(starts, ends) for starts, ends in _around(hours, before) if starts < before]
    if not spans:
        return None
    starts, ends = max(spans)
    return max(starts, min(before, ends) - lead)


def _around(hours: Hours, at: datetime) -> list[tuple[datetime, datetime]]:
    """The spans of working hours of the eight days before and after `at`."""
    day = at.astimezone(_zone(hours.zone)).date()
    spans = []
    for offset in range(-8, 9):
        local = day + timedelta(days=offset)
        if local.weekday() in hours.days:
            ends_on = local if hours.ends > hours.starts else local + timedelta(days=1)
            spans.append((at_local(local, hours.starts, hours.zone), at_local(ends_on, hours.ends, hours.zone)))
    return spans


def on_shift(rota: Rota, at: datetime) -> str | None:
    """Who is on call at `at`; None before the rota begins or when it is empty.

    Shifts of whole days hand over at the same local time across DST.
    """
    if not rota.members or at < rota.since or rota.every <= timedelta():
        return None
    zone = _zone(rota.zone)
    if rota.every % timedelta(days=1):
        turns = (at - rota.since) // rota.every
    else:
        elapsed = at.astimezone(zone).replace(tzinfo=None) - rota.since.astimezone(zone).replace(tzinfo=None)
        turns = elapsed // rota.every
    return rota.members[turns % len(rota.members)]


def period_start(per: Period, at: datetime, zone: str) -> datetime:
    """The UTC instant at which the period that holds `at` began in `zone`; weeks begin on Monday."""
    day = at.astimezone(_zone(zone)).date()
    if per is Period.WEEK:
        day -= timedelta(days=day.weekday())
    elif per is Period.MONTH:
        day = day.replace(day=1)
    return at_local(day, time(0), zone)


def next_working_morning(hours: Hours | None, at: datetime, zone: str) -> datetime:
    """When the team is next back: the next beginning of its hours after today, else tomorrow at 09:00 in `zone`."""
    if hours is not None:
        today = at.astimezone(_zone(hours.zone)).date()
        later = [starts for starts, _ in _around(hours, at) if starts.astimezone(_zone(hours.zone)).date() > today]
        if later:
            return min(later)
    return at_local(at.astimezone(_zone(zone)).date() + timedelta(days=1), time(9), zone)
