"""The column types of all tables: how instants, amounts and documents are stored. Names no table and runs no statement."""

from datetime import UTC, datetime, timedelta
from typing import Any, Generic, TypeAlias, TypeVar, cast

import msgspec
from sqlalchemy import BigInteger, Integer, Row, Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

Id = BigInteger().with_variant(Integer(), "sqlite")
"""Keys made by the database; SQLite numbers only INTEGER keys by itself."""

AnyRow: TypeAlias = Row[*tuple[Any, ...]]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_NO_TIME = -(2**62)
_MILLION = 1_000_000
_MOST = 9 * 10**18
INSTEAD = "\N{REPLACEMENT CHARACTER}"

_T = TypeVar("_T")


def _microseconds(instant: datetime) -> int:
    if instant.tzinfo is None:
        raise ValueError(f"an instant needs its zone: {instant!r}")
    return (instant - _EPOCH) // _MICROSECOND


def clean(value: str) -> str:
    """The text without what a database cannot keep: NUL, and halves of characters."""
    if "\0" in value:
        value = value.replace("\0", INSTEAD)
    return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class Words(TypeDecorator[str]):
    """Text from strangers, stored clean."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else clean(value)


class Instant(TypeDecorator[datetime]):
    """An aware UTC instant as integer microseconds, the same on every database."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        return None if value is None else _microseconds(value)

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        return None if value is None else _EPOCH + timedelta(microseconds=value)


class NominalTime(TypeDecorator[datetime]):
    """A nominal time in a unique key: a job without one has a stand-in far outside the calendar, since NULLs never collide."""

    impl = BigInteger
    cache_ok = True
    coerce_to_is_types = ()

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int:
        return _NO_TIME if value is None else _microseconds(value)

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        return None if value is None or value == _NO_TIME else _EPOCH + timedelta(microseconds=value)


class Span(TypeDecorator[timedelta]):
    """A duration as integer microseconds."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: timedelta | None, dialect: Dialect) -> int | None:
        return None if value is None else value // _MICROSECOND

    def process_result_value(self, value: int | None, dialect: Dialect) -> timedelta | None:
        return None if value is None else timedelta(microseconds=value)


def millionths(amount: float) -> int:
    return max(-_MOST, min(_MOST, round(amount * _MILLION)))


class Amount(TypeDecorator[float]):
    """An amount of a budget in millionths, so that adding and taking back are exact."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: float | None, dialect: Dialect) -> int | None:
        return None if value is None else millionths(value)

    def process_result_value(self, value: int | None, dialect: Dialect) -> float | None:
        return None if value is None else float(value) / _MILLION


class Document(TypeDecorator[_T], Generic[_T]):
    """A frozen value as JSON text; fields that a newer version wrote are ignored when an older one reads."""

    impl = Text
    cache_ok = True

    def __init__(self, type_: Any) -> None:
        super().__init__()
        self.type_ = type_
        self._encode = msgspec.json.Encoder().encode
        self._decode = msgspec.json.Decoder(type_).decode

    def process_bind_param(self, value: _T | None, dialect: Dialect) -> str | None:
        return None if value is None else self._text(value).decode()

    def process_result_value(self, value: str | None, dialect: Dialect) -> _T | None:
        return None if value is None else self._decode(value)

    def as_read(self, value: object) -> _T:
        """What a later reader will get for `value`: the same words, whoever holds the row."""
        return cast(_T, self._decode(self._text(value)))

    def _text(self, value: object) -> bytes:
        try:
            return self._encode(value)
        except UnicodeEncodeError:
            return self._encode(_cleaned(msgspec.to_builtins(value)))


def _cleaned(value: Any) -> Any:
    match value:
        case str():
            return clean(value)
        case dict():
            return {_cleaned(name): _cleaned(one) for name, one in value.items()}
        case list() | tuple():
            return [_cleaned(one) for one in value]
    return value
