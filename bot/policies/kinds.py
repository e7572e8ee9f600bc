"""The types of a policies file's fields, for pydantic: how each is read, and how JSON Schema tells it to editors.

No field is coerced: a number where a text belongs is an error.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, time, timedelta
from enum import StrEnum
from math import isfinite
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from bot.incidents.keys import Capability
from bot.incidents.policy import Audience, Door, Mode, Period, RecoversBy, Unproven, Urgency
from bot.policies.problems import did_you_mean
from bot.policies.readings import (
    CLOCK_TIME_PATTERN,
    DURATION_PATTERN,
    SIZE_PATTERN,
    Misread,
    matching,
    quoted,
    read_clock_time,
    read_days,
    read_duration,
    read_local_start,
    read_since,
    read_size,
    read_zone,
    written_duration,
)
from bot.policies.strict import error, kind_of, read_text, text_read_by, wrong_kind


def _duration_within(least: timedelta, most: timedelta | None) -> Callable[[str], timedelta]:
    def read(text: str) -> timedelta:
        duration = read_duration(text)
        if duration < least:
            raise Misread(f"{quoted(text)} is too short", f"at least {written_duration(least)}")
        if most is not None and duration > most:
            raise Misread(f"{quoted(text)} is too long", f"at most {written_duration(most)}")
        return duration

    return read


def _duration(least: timedelta, most: timedelta | None = None) -> tuple[BeforeValidator, WithJsonSchema]:
    read = _duration_within(least, most)

    def validate(value: object) -> Any:
        if isinstance(value, int | float) and not isinstance(value, bool):
            raise error(f"{value} is not a duration", f'a duration has a unit, as in "{value}s" or "{value}m"')
        return read_text(value, read, "a duration such as 5m")

    return BeforeValidator(validate), WithJsonSchema({"type": "string", "pattern": DURATION_PATTERN})


_MOMENT, _NONE = timedelta(milliseconds=1), timedelta(0)
Duration = Annotated[timedelta, *_duration(_MOMENT)]
DurationOrZero = Annotated[timedelta, *_duration(_NONE)]
UpToADay = Annotated[timedelta, *_duration(_MOMENT, timedelta(days=1))]
UpTo90Days = Annotated[timedelta, *_duration(_MOMENT, timedelta(days=90))]


def _off_or_duration(*, learned: bool) -> BeforeValidator:
    words = ("off", "learned") if learned else ("off",)
    expected = f"a duration such as 5m, {' or '.join(words)}"

    def validate(value: object) -> Any:
        if value is False or value in words:
            return value or "off"
        if not isinstance(value, str):
            raise wrong_kind(expected, value)
        try:
            return read_duration(value)
        except Misread as misread:
            raise error(misread.message, f"{misread.hint}; or {' or '.join(words)}") from None

    return BeforeValidator(validate)


def _word_or_duration_schema(*words: str) -> WithJsonSchema:
    return WithJsonSchema({"anyOf": [{"type": "string", "pattern": DURATION_PATTERN}, {"enum": [*words, False]}]})


StartDeadline = Annotated[timedelta | str, _off_or_duration(learned=False), _word_or_duration_schema("off")]
FinishDeadline = Annotated[timedelta | str, _off_or_duration(learned=True), _word_or_duration_schema("off", "learned")]


def _off(value: object) -> str:
    if value is False or value == "off":
        return "off"
    raise error("expected off, or a map with at")


Off = Annotated[str, BeforeValidator(_off), WithJsonSchema({"enum": ["off", False]})]


def _number(expected: str, *, whole: bool, least: float, above: bool = False) -> BeforeValidator:
    def validate(value: object) -> Any:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise error(f"expected {expected}, got {kind_of(value)}")
        if not isfinite(value) or (whole and not isinstance(value, int)) or value < least or (above and value == least):
            raise error(f"expected {expected}, got {value}")
        return value if whole else float(value)

    return BeforeValidator(validate)


Count = Annotated[
    int, _number("a whole number from 0", whole=True, least=0), WithJsonSchema({"type": "integer", "minimum": 0})
]
Positive = Annotated[
    int, _number("a whole number from 1", whole=True, least=1), WithJsonSchema({"type": "integer", "minimum": 1})
]
Amount = Annotated[
    float, _number("a number from 0", whole=False, least=0), WithJsonSchema({"type": "number", "minimum": 0})
]
Rate = Annotated[
    float,
    _number("a number above 0", whole=False, least=0, above=True),
    WithJsonSchema({"type": "number", "exclusiveMinimum": 0}),
]


def _flag(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise error(f"expected true or false, got {kind_of(value)}")


Flag = Annotated[bool, BeforeValidator(_flag)]


def one_of(enum: type[StrEnum], only: Sequence[StrEnum] = ()) -> tuple[BeforeValidator, WithJsonSchema]:
    """A validator of a word of `enum`, or of some of its words only."""
    words = [str(member) for member in only or enum]

    def read(text: str) -> StrEnum:
        if text not in words:
            raise Misread(f"{quoted(text)} is not one of {', '.join(words)}", did_you_mean(text, words))
        return enum(text)

    return text_read_by(read, f"one of {', '.join(words)}"), WithJsonSchema({"type": "string", "enum": words})


def _patterned(pattern: str, *, what: str, hint: str) -> tuple[BeforeValidator, WithJsonSchema]:
    return (
        text_read_by(matching(pattern, what=what, hint=hint)),
        WithJsonSchema({"type": "string", "pattern": f"^({pattern})$"}),
    )


def _filled(text: str) -> str:
    if text.strip():
        return text
    raise Misread("must not be empty")


def _version(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value == 1:
        return 1
    raise error(f"expected the number 1, got {value if isinstance(value, int | float) else kind_of(value)}")


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise Misread("must not hold a NUL")
    return text


_EMAIL = r"[^\s@<>,;]{1,128}@[^\s@<>,;]{1,128}"
_VARIABLE = r"\$\{[A-Za-z_][A-Za-z0-9_]*\}"

ModeWord = Annotated[Mode, *one_of(Mode)]
UrgencyWord = Annotated[Urgency, *one_of(Urgency)]
RecoversByWord = Annotated[RecoversBy, *one_of(RecoversBy)]
AudienceWord = Annotated[Audience, *one_of(Audience)]
DoorWord = Annotated[Door, *one_of(Door)]
UnprovenWord = Annotated[Unproven, *one_of(Unproven)]
PeriodWord = Annotated[Period, *one_of(Period)]
AskableWord = Annotated[
    Capability,
    *one_of(
        Capability,
        [
            Capability.RERUN,
            Capability.START,
            Capability.FRESH_START,
            Capability.PAUSE,
            Capability.RESUME,
            Capability.RETIRE,
            Capability.STOP,
            Capability.NEXT_RUN,
        ],
    ),
]

Version = Annotated[int, BeforeValidator(_version), WithJsonSchema({"const": 1})]
Text = Annotated[str, text_read_by(_filled)]
Path = Annotated[str, text_read_by(lambda text: _without_nul(_filled(text)))]
Variable = Annotated[str, text_read_by(_without_nul)]
Zone = Annotated[str, text_read_by(read_zone)]
ClockTime = Annotated[
    time, text_read_by(read_clock_time), WithJsonSchema({"type": "string", "pattern": CLOCK_TIME_PATTERN})
]
Since = Annotated[datetime, text_read_by(read_since), WithJsonSchema({"type": "string"})]
LocalStart = Annotated[datetime, text_read_by(read_local_start), WithJsonSchema({"type": "string"})]
Size = Annotated[int, text_read_by(read_size), WithJsonSchema({"type": "string", "pattern": SIZE_PATTERN})]
Email = Annotated[str, *_patterned(_EMAIL, what="an e-mail address", hint="as in ana@example.com")]
Person = Annotated[
    str,
    *_patterned(
        rf"[UW][A-Z0-9]{{2,}}|{_EMAIL}", what="a person", hint="a Slack user id such as U0BEN, or an e-mail address"
    ),
]
Channel = Annotated[
    str, *_patterned(r"[CGD][A-Z0-9]{2,}", what="a channel id", hint="the id, as in C0FINANCE: a name may change")
]
Usergroup = Annotated[str, *_patterned(r"S[A-Z0-9]{2,}", what="a user group id", hint="as in S0FINONCALL")]
Url = Annotated[
    str, *_patterned(rf"https?://[^\s/]+\S*|{_VARIABLE}\S*", what="a URL", hint="it begins with https:// or http://")
]


def _read_days(value: object) -> tuple[int, ...]:
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise wrong_kind("weekdays such as mon-fri", value)
    try:
        return read_days(parts)
    except Misread as misread:
        raise error(misread.message, misread.hint) from None


Days = Annotated[
    tuple[int, ...],
    BeforeValidator(_read_days),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]


def _read_command(value: object) -> tuple[str, ...] | str:
    parts = value if isinstance(value, list) else [value]
    if not parts:
        raise error("the command is empty")
    texts = [part for part in parts if isinstance(part, str)]
    if len(texts) != len(parts):
        hint = "quote numbers" if isinstance(value, list) else None
        raise error("expected a text for sh -c, or a list of texts", hint)
    if not texts[0].strip():
        raise error("the command is empty")
    if any("\0" in text for text in texts):
        raise error("a command holds no NUL")
    return tuple(texts) if isinstance(value, list) else texts[0]


Command = Annotated[
    tuple[str, ...] | str,
    BeforeValidator(_read_command),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}),
]
