"""Hides e-mail addresses in evidence that was masked already, where a company wants them out of Slack and the database.

It must run after masking: what stands before an @ may be part of a secret.
"""

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any, TypeVar, cast

HIDDEN = "[address]"

_ADDRESS = re.compile(
    r"(?<![\w.%+'-])[\w.%+'-]{1,64}@(?:[\w-]{1,63}\.){1,8}[^\W\d_][\w-]{1,62}(?![\w-])",
)
_Value = TypeVar("_Value")


def hide_addresses(value: _Value) -> _Value:
    """Return `value` with each e-mail address in it replaced: a text, a tree of facts, a whole evidence."""
    return cast(_Value, _hidden(value))


def _hidden(value: Any) -> Any:
    if isinstance(value, Enum):
        return value
    if isinstance(value, str):
        return _ADDRESS.sub(HIDDEN, value) if "@" in value else value
    if isinstance(value, Mapping):
        return {_hidden(name): _hidden(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_hidden(inner) for inner in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{field.name: _hidden(getattr(value, field.name)) for field in fields(value)})
    return value
