"""When a time trigger of Maestro's starts its workflow next, where Maestro itself does not tell. Pure; it reads no clock.

As Maestro does it: an expression of five fields is Unix cron, turned into Quartz's, any other is Quartz's own. A time
that the clocks leap over is left out; one that they pass twice counts at the second passing. The delay that
`fuzzy_max_delay` adds is Maestro's own affair and is not worked out here.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache

from bot.cron import zone_of
from bot.schedulers.maestro.quartz import ANY, MONTHS, NONE_NAMED, WEEKDAYS, BadCron, Cron, quartz
from bot.schedulers.maestro.shapes import TimeTrigger

PREDEFINED = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
}
LONGEST = 200
SHORTEST_APART = timedelta(minutes=2)
"""Maestro takes no trigger that starts its workflow oftener."""
FARTHEST = timedelta(days=366 * 12)
"""No day that there is at all is farther away: a 29 February, over a century that leaps none."""
DAY = timedelta(days=1)

_UNIX = re.compile(r"[0-9*,/-]*")
_NAMES = re.compile("|".join((*MONTHS, *WEEKDAYS)))
_UNIX_WEEKDAY = re.compile(r"(?<![0-9/])[0-7](?![0-9])")


@lru_cache(maxsize=1024)
def parsed(text: str) -> Cron:
    """The expression of a trigger; raises `BadCron`."""
    text = PREDEFINED.get(text.strip().lower(), text)
    if len(text) > LONGEST:
        raise BadCron(f"a cron expression has at most {LONGEST} characters")
    fields = text.split()
    cron = quartz(_as_quartz(fields) if len(fields) == 5 else text)
    if _apart(cron.times) < SHORTEST_APART:
        raise BadCron(f"{text!r} comes oftener than every two minutes")
    return cron


def next_after(cron: Cron, zone: str, after: datetime) -> datetime | None:
    """The first time strictly later than `after`; None when there is none. Raises `ValueError` for no zone."""
    there = zone_of(zone)
    first = after.astimezone(there).date() - DAY
    found = (at for day in _days(first, FARTHEST // DAY, DAY) for at in _on(cron, day, there) if at > after)
    return next(found, None)


def latest_at_or_before(cron: Cron, zone: str, at: datetime) -> datetime | None:
    """The last time that is not later than `at`; None when there was none. Raises `ValueError` for no zone."""
    there = zone_of(zone)
    last = at.astimezone(there).date() + DAY
    days = _days(last, FARTHEST // DAY, -DAY)
    found = (one for day in days for one in reversed(list(_on(cron, day, there))) if one <= at)
    return next(found, None)


def next_start(triggers: Iterable[TimeTrigger], after: datetime) -> datetime | None:
    """The first start that any of these triggers brings; one that cannot be read brings none."""
    return min(filter(None, (_next_of(trigger, after) for trigger in triggers)), default=None)


def _next_of(trigger: TimeTrigger, after: datetime) -> datetime | None:
    try:
        return next_after(parsed(trigger.cron or trigger.expression or ""), trigger.timezone or "UTC", after)
    except ValueError:
        return None


def _as_quartz(fields: list[str]) -> str:
    """Five fields as Maestro turns them into six: Sunday is 0 or 7 in the one, 1 in the other."""
    minute, hour, month_day, month, weekday = fields
    if not _UNIX.fullmatch(_NAMES.sub("", f"{minute}{hour}{month_day}{month}{weekday}".upper())):
        raise BadCron(f"{' '.join(fields)!r} says in five fields what only six can")
    if "0-7" in weekday:
        raise BadCron(f"{weekday!r} names Sunday twice")
    if weekday == ANY:
        weekday = NONE_NAMED
    elif month_day == ANY:
        month_day = NONE_NAMED
    weekday = _UNIX_WEEKDAY.sub(lambda found: str(int(found[0]) % 7 + 1), weekday)
    return f"0 {minute} {hour} {month_day} {month} {weekday}"


def _days(first: date, count: int, step: timedelta) -> Iterator[date]:
    day = first
    for _ in range(count):
        yield day
        try:
            day += step
        except OverflowError:
            return


def _on(cron: Cron, day: date, zone: tzinfo) -> Iterator[datetime]:
    """The instants of that day in that zone, in order."""
    if cron.holds(day):
        for wall in cron.times:
            at = datetime.combine(day, wall, tzinfo=zone).replace(fold=1).astimezone(UTC)
            if at.astimezone(zone).time() == wall:
                yield at.replace(fold=0)


def _apart(times: tuple[time, ...]) -> timedelta:
    """The least that two times of a day, or of two days that follow each other, are apart."""
    seconds = [each.hour * 3600 + each.minute * 60 + each.second for each in times]
    following = [*seconds[1:], seconds[0] + 24 * 3600]
    return timedelta(seconds=min(after - before for before, after in zip(seconds, following, strict=True)))
