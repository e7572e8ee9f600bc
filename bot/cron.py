"""Nominal times of a schedule: cron as Debian's cron reads it, in its own zone, or equal steps from the epoch.

It reads no clock, and it is the only place that knows cron; every instant goes in and comes out aware, in UTC.
"""

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from bot.incidents.policy import Schedule

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SHORTEST = timedelta(seconds=1)
HOUR = timedelta(hours=1)
LONGEST_CRON = 200
FIRST_LOOK_BACK = timedelta(minutes=2)
LONGEST_LOOK_BACK = timedelta(days=60 * 366)


def check(schedule: Schedule) -> str | None:
    """Say what is wrong with a schedule, or None when it will fire."""
    if schedule.cron is not None and schedule.every is not None:
        return "a schedule has a cron or an interval, not both"
    if schedule.every is not None:
        return None if schedule.every >= SHORTEST else "the interval must be 1s or longer"
    if schedule.cron is not None:
        return _check_zone(schedule.zone) or _check_cron(schedule)
    return None if schedule.next_run_at is not None else "a schedule needs a cron or an interval"


def next_after(schedule: Schedule, after: datetime) -> datetime | None:
    """The first nominal time strictly later than `after`; None when there is none."""
    try:
        if schedule.every is not None:
            return EPOCH + ((after - EPOCH) // schedule.every + 1) * schedule.every
        if schedule.cron is not None:
            return _next_cron(schedule.cron, zone_of(schedule.zone), after)
    except OverflowError:
        return None
    upcoming = schedule.next_run_at
    return upcoming.astimezone(UTC) if upcoming is not None and upcoming > after else None


def latest_at_or_before(schedule: Schedule, at: datetime) -> datetime | None:
    """The last nominal time that is not later than `at`; None when there was none."""
    try:
        if schedule.every is not None:
            return EPOCH + (at - EPOCH) // schedule.every * schedule.every
        if schedule.cron is not None:
            return _latest_cron(schedule, at)
    except OverflowError:
        return None
    told = schedule.next_run_at
    return told.astimezone(UTC) if told is not None and told <= at else None


def interval(schedule: Schedule, at: datetime) -> timedelta | None:
    """The distance between the nominal times around `at`: from the last one not later than it to the next one."""
    if schedule.every is not None:
        return schedule.every
    following = next_after(schedule, at)
    if following is None:
        return None
    previous = latest_at_or_before(schedule, at)
    if previous is not None:
        return following - previous
    second = next_after(schedule, following)
    return second - following if second is not None else None


@lru_cache(maxsize=256)
def zone_of(name: str) -> tzinfo:
    """The zone of that name; raises `ValueError` when there is none."""
    if name in ("UTC", "Etc/UTC"):
        return UTC
    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError) as error:
        raise ValueError(f"unknown time zone {name!r}") from error


def _check_zone(name: str) -> str | None:
    try:
        zone_of(name)
    except ValueError as error:
        return str(error)
    return None


def _check_cron(schedule: Schedule) -> str | None:
    cron = schedule.cron or ""
    if len(cron) > LONGEST_CRON:
        return f"a cron expression has at most {LONGEST_CRON} characters"
    if cron.strip().startswith("@"):
        return f"cron {cron!r}: write five fields, such as `0 0 * * *` for @daily"
    try:
        fires = next_after(schedule, EPOCH) is not None
    except CronSimError as error:
        if not _parses_in_any_month(cron):
            return f"cron {cron!r}: {str(error)[:1].lower()}{str(error)[1:]}"
        fires = False
    return None if fires else f"cron {cron!r} never fires: no such day in the months it names"


def _parses_in_any_month(cron: str) -> bool:
    fields = cron.split()
    if len(fields) not in (5, 6):
        return False
    month = len(fields) - 2
    try:
        CronSim(" ".join([*fields[:month], "*", *fields[month + 1 :]]), EPOCH)
        CronSim(" ".join(["*"] * 3 + [fields[month], "*"]), EPOCH)
    except CronSimError:
        return False
    return True


def _next_cron(cron: str, zone: tzinfo, after: datetime) -> datetime | None:
    """cronsim forgets which pass of a repeated hour it stands in, so that it may name an instant already gone."""
    for local in CronSim(cron, after.astimezone(zone)):
        instant = local.astimezone(UTC)
        if instant > after:
            return _not_leapt_over(cron, zone, after, instant)
    return None


def _not_leapt_over(cron: str, zone: tzinfo, after: datetime, found: datetime) -> datetime:
    """The first time before `found` that cronsim leaps over in whole hours, where a clock is changed by less; else `found`.

    That matters to times that follow the wall clock (a star for the minute or the hour): on either side of the change it
    is read as a clock that is never changed.
    """
    minute, hour = cron.split()[-5:-3]
    was, will_be = _offset(after, zone), _offset(found, zone)
    if (was - will_be) % HOUR == timedelta() or not (minute.startswith("*") or hour.startswith("*")):
        return found
    low, high = after, found
    while high - low > SHORTEST:
        middle = low + (high - low) / 2
        low, high = (middle, high) if _offset(middle, zone) == was else (low, middle)
    changes_at = high.replace(microsecond=0)
    earlier = next(CronSim(cron, changes_at.astimezone(timezone(will_be)) - SHORTEST)).astimezone(UTC)
    return min(found, earlier)


def _offset(at: datetime, zone: tzinfo) -> timedelta:
    return at.astimezone(zone).utcoffset() or timedelta()


def _latest_cron(schedule: Schedule, at: datetime) -> datetime | None:
    """Look back in doubling steps for any nominal time, then halve towards the last one.

    Only `next_after` reads the expression: forwards and backwards cannot disagree about a night that changes the clock.
    """
    back = FIRST_LOOK_BACK
    while (found := next_after(schedule, at - back)) is None or found > at:
        if back > LONGEST_LOOK_BACK:
            return None
        back *= 2
    ceiling = at
    while (following := next_after(schedule, found)) is not None and following <= at:
        found = following
        middle = found + (ceiling - found) / 2
        jump = next_after(schedule, middle)
        if jump is not None and jump <= at:
            found = jump
        else:
            ceiling = middle
    return found
