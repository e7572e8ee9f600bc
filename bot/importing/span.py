"""How far back a past is asked for: what a person writes after `--since`. Pure."""

import re
from datetime import UTC, date, datetime, time, timedelta

UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
LONGEST = timedelta(days=400)

_SPAN = re.compile(r"(\d{1,5})([mhdw])")


class BadSince(ValueError):
    """The text says what was expected."""


def since_of(text: str, *, now: datetime) -> datetime:
    """The instant that `30d`, `12h`, `2026-11-01` or an instant with its zone names. Raises `BadSince`."""
    found = _instant(text.strip(), now)
    if found >= now:
        raise BadSince(f"{text!r} is not in the past")
    if now - found > LONGEST:
        raise BadSince(f"{text!r} is more than {LONGEST.days} days ago")
    return found


def _instant(text: str, now: datetime) -> datetime:
    span = _SPAN.fullmatch(text)
    if span:
        return now - int(span[1]) * UNITS[span[2]]
    try:
        if len(text) <= len("2026-11-01"):
            return datetime.combine(date.fromisoformat(text), time(), tzinfo=UTC)
        found = datetime.fromisoformat(text)
    except ValueError:
        raise BadSince(f"{text!r}: write 30d, 12h, a date such as 2026-11-01, or an instant with its zone") from None
    if found.tzinfo is None:
        raise BadSince(f"{text!r} has no zone: write Z after it, or its offset")
    return found.astimezone(UTC)
