"""Reads the fields of a raw rule, each checked for its kind; it does not know what a rule means."""

import re
from collections.abc import Mapping
from typing import Any

_TYPE_NAME = re.compile(r"[\w.$*]{1,200}")
_SIGNAL_NAME = re.compile(r"SIG[A-Z0-9]{2,12}")


class RuleError(ValueError):
    """A rule that cannot be used: which one, which field, and where in it."""

    def __init__(self, *, rule_id: str, field: str, message: str, column: int = 1) -> None:
        super().__init__(f"{rule_id}: {field}, column {column}: {message}")
        self.rule_id = rule_id
        self.field = field
        self.message = message
        self.column = column


def type_name(name: str, rule_id: str, field: str) -> str:
    if not _TYPE_NAME.fullmatch(name):
        raise RuleError(
            rule_id=rule_id, field=f"{field}.type", message="expected the name of an exception; * stands for any part"
        )
    return name


def strings(raw: Mapping[str, Any], rule_id: str, field: str, name: str) -> tuple[str, ...]:
    value = raw.get(name, ())
    values = (value,) if isinstance(value, str) else value
    if not isinstance(values, list | tuple) or not all(isinstance(one, str) for one in values):
        where = f"{field}.{name}".removeprefix(".")
        raise RuleError(rule_id=rule_id, field=where, message="expected text or a list of texts")
    return tuple(values)


def numbers(raw: Mapping[str, Any], rule_id: str, field: str, name: str) -> tuple[int, ...]:
    value = raw.get(name, ())
    values = (value,) if isinstance(value, int) else value
    if not isinstance(values, list | tuple) or not all(
        isinstance(one, int) and not isinstance(one, bool) for one in values
    ):
        raise RuleError(rule_id=rule_id, field=f"{field}.{name}", message="expected an exit code or a list of them")
    return tuple(values)


def signal_names(raw: Mapping[str, Any], rule_id: str, field: str) -> tuple[str, ...]:
    names = strings(raw, rule_id, field, "signal")
    for name in names:
        if not _SIGNAL_NAME.fullmatch(name):
            raise RuleError(rule_id=rule_id, field=f"{field}.signal", message="expected a name such as SIGKILL")
    return names


def text_of(raw: Mapping[str, Any], rule_id: str, field: str, default: str) -> str:
    value = raw.get(field, default)
    if not isinstance(value, str):
        raise RuleError(rule_id=rule_id, field=field, message="expected text")
    return value


def flag(raw: Mapping[str, Any], rule_id: str, field: str) -> bool:
    value = raw.get(field, False)
    if not isinstance(value, bool):
        raise RuleError(rule_id=rule_id, field=field, message="expected true or false")
    return value
