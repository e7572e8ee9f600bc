"""Reads the parts of Maestro's answers that come in more than one form. Pure; what cannot be read is not there."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

_AMOUNT = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)\s{0,3}([a-z]{0,12})", re.IGNORECASE)
_UNITS = (
    (re.compile(r"ms|millis(?:econds?)?"), timedelta(milliseconds=1)),
    (re.compile(r"s|secs?|seconds?"), timedelta(seconds=1)),
    (re.compile(r"mins?|minutes?"), timedelta(minutes=1)),
    (re.compile(r"h|hrs?|hours?"), timedelta(hours=1)),
    (re.compile(r"d|days?"), timedelta(days=1)),
)
_USER_ACTED = re.compile(r"User \[([^\]]{1,200})\] take (?:an )?action (?:\[([A-Z_]{1,40})\]|to ([A-Z_]{1,40}))")
MOST_ENTRIES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A line of a timeline: when, what sort, what it says; `errors` are the lines under it."""

    at: datetime | None
    type: str
    level: str = ""
    status: str = ""
    message: str = ""
    errors: tuple[str, ...] = ()
    author: str = ""
    action: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """What a person did to a run or a step, by its timeline."""

    action: str
    by: str
    at: datetime | None


def instant(milliseconds: Any) -> datetime | None:
    """An instant as Maestro writes it."""
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float) or milliseconds <= 0:
        return None
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def millis(at: datetime) -> int:
    return round(at.timestamp() * 1000)


def name_of(person: Any) -> str:
    """An owner, author or user: a name, or an object that holds one."""
    if isinstance(person, str):
        return person.strip()
    if isinstance(person, Mapping):
        for key in ("name", "email", "id"):
            if isinstance(person.get(key), str) and person[key].strip():
                return str(person[key]).strip()
    return ""


def duration(value: Any, *, unit: timedelta = timedelta(seconds=1)) -> timedelta | None:
    """`3 hours`, `30min`, `45s`, or a bare number of `unit`. A lone `m` is no unit to Maestro; nor is it here."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return value * unit if value > 0 else None
        found = _AMOUNT.findall(value) if isinstance(value, str) and _AMOUNT.match(value.strip()) else []
        took = sum((float(amount) * _unit(name, unit) for amount, name in found), timedelta())
    except OverflowError:
        return None
    return took or None


def entries(timeline: Any) -> tuple[Entry, ...]:
    """The lines of a timeline, the oldest first."""
    listed = timeline.get("timeline_events") if isinstance(timeline, Mapping) else timeline
    lines = [_entry(one) for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
    known = [line for line in lines if line.at is not None]
    if len(known) == len(lines):
        lines.sort(key=lambda line: line.at or datetime.min.replace(tzinfo=UTC))
    return tuple(lines[-MOST_ENTRIES:])


def deeds(timeline: Any) -> tuple[Deed, ...]:
    """What people did, the oldest first."""
    found = []
    for entry in entries(timeline):
        told = _USER_ACTED.search(entry.message)
        if told is not None:
            found.append(Deed(action=told[2] or told[3], by=told[1].strip(), at=entry.at))
        elif entry.type == "ACTION" and entry.action and entry.author:
            found.append(Deed(action=entry.action, by=entry.author, at=entry.at))
    return tuple(found)


def value_of(param: Any) -> Any:
    """What a parameter was evaluated to, else what it is defined as."""
    if not isinstance(param, Mapping):
        return param
    for key in ("evaluated_result", "value", "expression"):
        if param.get(key) is not None:
            return _plain(param[key])
    return None


def tags_of(tags: Any) -> tuple[str, ...]:
    """The names of tags; a tag may be a bare text. A list may stand under `tags`."""
    listed = tags.get("tags") if isinstance(tags, Mapping) else tags
    if not isinstance(listed, list):
        return ()
    return tuple(name for name in (name_of(tag) for tag in listed) if name)


def steps_in(steps: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every step of a definition with its kind, those inside loops as well."""
    for wrapped in steps if isinstance(steps, list | tuple) else ():
        for kind, step in wrapped.items() if isinstance(wrapped, Mapping) else ():
            if isinstance(step, Mapping):
                yield str(kind), step
                yield from steps_in(step.get("steps"))


def step_of(definition: Mapping[str, Any]) -> Mapping[str, Any]:
    """A step's own definition, which stands under the name of its kind."""
    return next((step for _, step in steps_in([definition])), {})


def _entry(line: Mapping[str, Any]) -> Entry:
    errors = line.get("errors")
    return Entry(
        at=instant(line.get("timestamp")),
        type=_text(line.get("type")).upper(),
        level=_text(line.get("level")).upper(),
        status=_text(line.get("status")),
        message=_text(line.get("message")),
        errors=tuple(_text(one) for one in errors) if isinstance(errors, list) else (),
        author=name_of(line.get("author")),
        action=_text(line.get("action")).upper(),
    )


def _unit(name: str, default: timedelta) -> timedelta:
    if not name:
        return default
    return next((unit for written, unit in _UNITS if written.fullmatch(name.lower())), timedelta())


def _plain(value: Any) -> Any:
    """A map of parameters is a map of what they were evaluated to."""
    if isinstance(value, Mapping):
        nested = all(isinstance(one, Mapping) and "type" in one for one in value.values())
        return {name: value_of(one) for name, one in value.items()} if nested else dict(value)
    return value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)
