"""What all fields of a policies file share: strict maps, and errors in our own words. It knows no single field."""

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, BeforeValidator, ConfigDict
from pydantic_core import PydanticCustomError

from bot.policies.readings import Misread


class Shape(BaseModel):
    """A map of the file: unknown keys are errors, nothing is coerced."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


def kind_of(value: object) -> str:
    """What `value` is, in the words of messages."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case list():
            return "a list"
        case _:
            return "a map"


def wrong_kind(expected: str, value: object) -> PydanticCustomError:
    """The error of a value that is not even of the right kind."""
    hint = "put it in quotes" if expected == "a text" and isinstance(value, bool | int | float) else None
    return error(f"expected {expected}, got {kind_of(value)}", hint)


def error(message: str, hint: str | None = None) -> PydanticCustomError:
    """An error with our own words; `bot.policies.findings` gives it its place."""
    return PydanticCustomError("ontrack", "{message}", {"message": message, "hint": hint})


def read_text(value: object, read: Callable[[str], Any], expected: str = "a text") -> Any:
    """Hand a text to `read`; what it misreads, and what is no text, becomes an error."""
    if not isinstance(value, str):
        raise wrong_kind(expected, value)
    try:
        return read(value)
    except Misread as misread:
        raise error(misread.message, misread.hint) from None


def text_read_by(read: Callable[[str], Any], expected: str = "a text") -> BeforeValidator:
    """A validator that reads a text by `read`."""
    return BeforeValidator(lambda value: read_text(value, read, expected))
