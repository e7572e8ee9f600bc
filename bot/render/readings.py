"""Reads facts, which come as the core's values or as JSON builtins, into pieces of a line; the filters of the templates.

A fact of another shape than expected is shown as plain words, never a crash. It must not say anything by itself.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from typing import Any

import msgspec
from jinja2 import pass_context
from jinja2.runtime import Context

from bot.incidents.people import Mention
from bot.render.moments import needs_seconds, span
from bot.render.segments import Segment, Words, call, link, moment, words
from bot.render.text import one_line, shortened_middle

SHOWN = 5
MOST_AMOUNT = 1e6
Pieces = tuple[Segment, ...]


def field(value: Any, name: str) -> Any:
    """`value`'s field, whether it is a mapping or an object; None when it has none."""
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def instant(value: Any) -> datetime | None:
    """An aware instant from a datetime or ISO text; None for anything else."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value


def duration(value: Any) -> timedelta | None:
    """A duration from a timedelta, seconds or ISO 8601 text; None for anything else."""
    if isinstance(value, timedelta):
        return value
    try:
        return msgspec.convert(value, timedelta, strict=False)
    except msgspec.ValidationError:
        return None


def name_of(value: Any) -> str:
    """The name of a `By`, a `Person`, a `Mention` or a bare name."""
    person = field(value, "person") or value
    if isinstance(person, str):
        return one_line(person, 80)
    return one_line(str(field(person, "name") or field(person, "id") or ""), 80)


def nominal_of(value: Any) -> datetime | None:
    """The nominal time of an owed time, a run, or an instant itself."""
    inner = field(value, "nominal_time")
    return instant(inner if inner is not None else value)


def amount(cost: Any, unit: str | None = None) -> str:
    """`24 min of run time`, `3.2 core hours`; empty for an unknown cost."""
    number = cost if isinstance(cost, (int, float)) else field(cost, "amount")
    unit = str(unit or field(cost, "unit") or "run_hours")
    if not isinstance(number, (int, float)) or not abs(number) < MOST_AMOUNT:
        return ""
    if unit == "run_hours":
        return f"{'-' if number < 0 else ''}{span(timedelta(hours=number))} of run time"
    return f"{number:.3g} {one_line(unit, 30).replace('_', ' ')}"


def cost(value: Any, unit: str | None = None) -> Words:
    return words(amount(value, unit), 80)


def job(value: object, most: int = 80) -> Words:
    """The name of a job, cut in its middle when it is long."""
    return Words(text=shortened_middle(one_line(str(value), 1000), most), most=most)


def run(value: Any) -> Words:
    """A run's id."""
    return words(field(value, "run_id") or value or "", 80)


@pass_context
def at(context: Context, value: Any) -> Segment:
    """An instant for each reader's own time."""
    found = instant(value)
    return words(value or "", 40) if found is None else moment(found, context["zone"])


@pass_context
def since(context: Context, value: Any, dated: bool) -> Segment:
    """When something began; `dated`: by a file, in which a bare date stands for midnight UTC."""
    found = instant(value)
    if not dated or found is None or found.astimezone(UTC).time() != time():
        return at(context, value)
    day = found.astimezone(UTC)
    return words(f"{day.day} {day:%b %Y}")


@pass_context
def due(context: Context, value: Any) -> Segment:
    """A nominal time or a next run: each reader's own time, and the job's beside it."""
    found = nominal_of(value)
    if found is None:
        run_id = field(value, "run_id")
        return words(f"run {run_id}" if run_id else "the run", 80)
    return moment(found, context["zone"], beside=True, exact=needs_seconds(found))


@pass_context
def times(context: Context, values: Iterable[Any] | None, shown: int = SHOWN) -> Pieces:
    """Nominal times, oldest first, the first few of them by name."""
    known = sorted({found for value in values or () if (found := nominal_of(value)) is not None})
    if not known:
        return (words("the run"),)
    zone = context["zone"]
    exact = any(needs_seconds(found) for found in known)
    named = [(moment(found, zone, beside=len(known) == 1, exact=exact),) for found in known[:shown]]
    return listed(named, more=len(known) - shown)


def jobs(values: Iterable[Any] | None, shown: int = SHOWN) -> Pieces:
    """The names of downstream jobs, the first few of them."""
    names = [field(value, "job") or value for value in values or ()]
    return listed([(job(name, 60),) for name in names[:shown]], more=len(names) - shown)


def people(values: Iterable[Any] | None, shown: int = SHOWN) -> Pieces:
    names = [name for value in values or () if (name := name_of(value))]
    return listed([(words(name, 80),) for name in names[:shown]], more=len(names) - shown)


def listed(items: Sequence[Pieces], *, more: int = 0) -> Pieces:
    """`a, b and c`, `a, b and 3 more`."""
    parts = [*items, *([(words(f"{more} more"),)] if more > 0 else [])]
    pieces: list[Segment] = []
    for index, part in enumerate(parts):
        if index:
            joint = " and " if index == len(parts) - 1 else ", "
            pieces.append(Words(text=joint))
        pieces += part
    return tuple(pieces)


def person(value: Any) -> Words:
    return words(name_of(value) or "someone", 80)


def for_long(value: Any) -> Words:
    found = duration(value)
    return words("" if found is None else span(found), 40)


def calls(mentions: Iterable[Mention]) -> Pieces:
    """Everyone whom a message calls, once each, in order."""
    pieces: list[Segment] = []
    for mention in dict.fromkeys(mentions):
        pieces += [Words(text=" "), call(mention)] if pieces else [call(mention)]
    return tuple(pieces)


def sentence(value: Any, most: int = 300) -> Words:
    """Words that someone wrote, as the end of a sentence: without a full stop, which the template writes."""
    return words(one_line(str(value or ""), most).rstrip(".;, "), most)


def plural(count: int, noun: str) -> Words:
    """`1 job`, `3 jobs`."""
    return words(f"{count} {noun}" if count == 1 else f"{count} {noun}s", 80)


def opening(pieces: Pieces | Words) -> Pieces:
    """A line with a capital letter at its beginning."""
    first, *rest = pieces if isinstance(pieces, tuple) else (pieces,)
    if isinstance(first, Words):
        first = replace(first, text=first.text[:1].upper() + first.text[1:])
    return (first, *rest)


FILTERS: dict[str, Callable[..., Any]] = {
    "amount": cost,
    "at": at,
    "calls": calls,
    "due": due,
    "for_long": for_long,
    "job": job,
    "jobs": jobs,
    "link": link,
    "nominal": nominal_of,
    "opening": opening,
    "people": people,
    "person": person,
    "plural": plural,
    "run": run,
    "sentence": sentence,
    "short": words,
    "since": since,
    "times": times,
}
