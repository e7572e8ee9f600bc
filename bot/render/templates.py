"""Renders the packaged templates; a value that a template sets in is never read as markup.

It must not choose what is said: templates do.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context

from bot.render import readings
from bot.render.beside import beside_told
from bot.render.markup import SLOT, Draft, Slot, drafted, inline
from bot.render.segments import Call, Link, Moment, Segment, Words, words

_PARTING = re.compile(r"^---$", re.MULTILINE)
_BEFORE_STOP = re.compile(r" +([;,.:)])")


def draft(name: str, values: Mapping[str, Any], *, zone: str) -> Draft:
    """The message of the template `name` with these values; instants without a zone of their own are the job's."""
    slots: list[Slot] = []
    output = _environment().get_template(f"{name}.j2").render(**values, zone=zone, slots=slots)
    return drafted(output, slots)


def phrase(name: str, values: Mapping[str, Any], *, zone: str) -> tuple[Segment, ...]:
    """The one line that the template `name` writes."""
    return _part_of(name, {**values, "zone": zone})


def phrases(name: str, values: Mapping[str, Any], *, zone: str) -> tuple[tuple[Segment, ...], ...]:
    """The lines that the template `name` writes, each as one piece; a line of three dashes parts them."""
    slots: list[Slot] = []
    output = _environment().get_template(f"{name}.j2").render({**values, "zone": zone, "slots": slots})
    return tuple(_one_line(written, slots) for written in _PARTING.split(output))


def compile_all() -> None:
    """Compile every template now, so that the first message is rendered as fast as the next."""
    for name in _environment().list_templates():
        _environment().get_template(name)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("bot.render", "templates"),
        autoescape=False,
        undefined=StrictUndefined,
        line_statement_prefix="%",
        line_comment_prefix="##",
        auto_reload=False,
        finalize=_set_in,
    )
    environment.filters.update(readings.FILTERS)
    environment.filters["beside"] = beside_told
    environment.globals["part"] = _part
    return environment


@pass_context
def _part(context: Context, name: str, **values: Any) -> tuple[Segment, ...]:
    """What another template writes in one line, with the values of this one."""
    return _part_of(name, {**context.get_all(), **values})


def _part_of(name: str, values: Mapping[str, Any]) -> tuple[Segment, ...]:
    slots: list[Slot] = []
    output = _environment().get_template(f"{name}.j2").render({**values, "slots": slots})
    return _one_line(output, slots)


def _one_line(output: str, slots: Sequence[Slot]) -> tuple[Segment, ...]:
    return inline(_BEFORE_STOP.sub(r"\1", " ".join(output.split())), slots)


@pass_context
def _set_in(context: Context, value: Any) -> str:
    """Keep `value` aside and write its place instead."""
    found = _slot(value)
    slots = context["slots"]
    slots.append(found)
    return f"{SLOT}{len(slots) - 1}{SLOT}" if found else ""


def _slot(value: Any) -> Slot:
    match value:
        case None | "" | () | []:
            return ()
        case Words(text=""):
            return ()
        case Words() | Moment() | Link() | Call():
            return (value,)
        case dict():
            return (value,)
        case tuple() | list():
            return tuple(value)
        case _:
            return (words(value),)
