"""The small language in which Block Kit's shapes are written down; it must know no block by name."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Surface(StrEnum):
    MESSAGE = "message"
    MODAL = "modal"
    HOME = "home"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that Slack would refuse: where (a JSON pointer), which kind, and in words."""

    pointer: str
    code: str
    message: str


@dataclass(slots=True, kw_only=True)
class Walk:
    """What one pass over a payload has seen so far."""

    surface: Surface
    problems: list[Problem] = field(default_factory=list)
    characters: int = 0
    block_ids: set[str] = field(default_factory=set)
    action_ids: set[str] = field(default_factory=set)
    focused: int = 0

    def refuse(self, pointer: str, code: str, message: str) -> None:
        self.problems.append(Problem(pointer=pointer, code=code, message=message))


Check = Callable[[Any, Walk, str], None]
Fields = Mapping[str, Check]


def string(*, most: int, least: int = 1, pattern: str | None = None, counted: bool = False) -> Check:
    """A string of `least` to `most` characters; a `counted` one is shown and adds to the message's length."""
    shape = re.compile(pattern) if pattern else None

    def check(value: Any, walk: Walk, at: str) -> None:
        if not isinstance(value, str):
            walk.refuse(at, "wrong_type", "must be a string")
            return
        if counted:
            walk.characters += len(value)
        if len(value) < least:
            walk.refuse(at, "too_short", f"must be more than {least - 1} characters")
        elif len(value) > most:
            walk.refuse(at, "too_long", f"must be less than {most + 1} characters")
        elif shape and not shape.fullmatch(value):
            walk.refuse(at, "bad_value", f"must match {shape.pattern}")

    return check


def one_of(*words: str) -> Check:
    def check(value: Any, walk: Walk, at: str) -> None:
        if value not in words:
            walk.refuse(at, "bad_value", f"must be one of: {', '.join(words)}")

    return check


def boolean(value: Any, walk: Walk, at: str) -> None:
    if not isinstance(value, bool):
        walk.refuse(at, "wrong_type", "must be a boolean")


def number(value: Any, walk: Walk, at: str) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        walk.refuse(at, "wrong_type", "must be a number")


def integer(*, least: int, most: int) -> Check:
    def check(value: Any, walk: Walk, at: str) -> None:
        if isinstance(value, bool) or not isinstance(value, int):
            walk.refuse(at, "wrong_type", "must be an integer")
        elif not least <= value <= most:
            walk.refuse(at, "bad_value", f"must be between {least} and {most}")

    return check


def items(each: Check, *, most: int, least: int = 1) -> Check:
    def check(value: Any, walk: Walk, at: str) -> None:
        if not isinstance(value, list):
            walk.refuse(at, "wrong_type", "must be an array")
            return
        if len(value) < least:
            walk.refuse(at, "too_few", f"no fewer than {least} items allowed")
        elif len(value) > most:
            walk.refuse(at, "too_many", f"no more than {most} items allowed")
        for index, item in enumerate(value):
            each(item, walk, f"{at}/{index}")

    return check


def record(*, required: Fields, optional: Fields | None = None, then: tuple[Check, ...] = ()) -> Check:
    """An object with these fields and no others; `then` looks at it as a whole."""
    fields = {**required, **(optional or {})}

    def check(value: Any, walk: Walk, at: str) -> None:
        if not isinstance(value, dict):
            walk.refuse(at, "wrong_type", "must be an object")
            return
        for key in value:
            if key not in fields:
                walk.refuse(at, "unknown_field", f"invalid additional property: {key}")
        for key, rule in fields.items():
            if key in value:
                rule(value[key], walk, f"{at}/{key}")
            elif key in required:
                walk.refuse(at, "missing_field", f"missing required field: {key}")
        for rule in then:
            rule(value, walk, at)

    return check


def typed(
    kind: str, *, required: Fields | None = None, optional: Fields | None = None, then: tuple[Check, ...] = ()
) -> Check:
    """A record that says its `type`."""
    return record(required={"type": one_of(kind), **(required or {})}, optional=optional, then=then)


def tagged(kinds: Mapping[str, Check]) -> Check:
    """One of several typed records, told apart by `type`."""

    def check(value: Any, walk: Walk, at: str) -> None:
        if not isinstance(value, dict):
            walk.refuse(at, "wrong_type", "must be an object")
            return
        kind = value.get("type")
        if not isinstance(kind, str):
            walk.refuse(at, "missing_field", "missing required field: type")
        elif kind not in kinds:
            walk.refuse(f"{at}/type", "unknown_type", f"unsupported type: {kind}")
        else:
            kinds[kind](value, walk, at)

    return check


def exactly_one(*names: str) -> Check:
    """Of these fields one must be there, and not two."""

    def check(value: Any, walk: Walk, at: str) -> None:
        given = [name for name in names if name in value]
        if not given:
            walk.refuse(at, "missing_field", f"missing required field: {' or '.join(names)}")
        elif len(given) > 1:
            walk.refuse(at, "unknown_field", f"only one of {', '.join(names)} is allowed")

    return check


def at_least_one(*names: str) -> Check:
    def check(value: Any, walk: Walk, at: str) -> None:
        if not any(name in value for name in names):
            walk.refuse(at, "missing_field", f"missing required field: {' or '.join(names)}")

    return check
