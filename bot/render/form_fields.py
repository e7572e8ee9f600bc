"""Reads single fields of a submitted modal and gathers what must be mended. It must not know which modal it reads."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, TypeVar
from urllib.parse import urlsplit

from bot.evidence import mask
from bot.render.modal_parts import ALL, NO_TIME, OTHER
from bot.render.text import one_line

Values = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""The `state.values` of a submitted view: block id, action id, what was entered."""

_Choice = TypeVar("_Choice", bound=StrEnum)

MOST_WORDS = 1000
MOST_LINK = 1000
LATEST = 9_999_999_999


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldErrors:
    """What must be mended, by block id."""

    errors: Mapping[str, str]


class FormReader:
    """One submitted modal being read; `errors` is None as long as nothing must be mended."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._refused: dict[str, str] = {}

    @property
    def errors(self) -> FieldErrors | None:
        return FieldErrors(errors=dict(self._refused)) if self._refused else None

    def refuse(self, block_id: str, why: str) -> None:
        self._refused.setdefault(block_id, why)

    def words(self, block_id: str, *, required: str = "") -> str:
        """Free words on one clean line, secrets masked; `required` is what is said when there are none."""
        found = one_line(mask(_text(self._entered(block_id).get("value"))), MOST_WORDS)
        if required and not found:
            self.refuse(block_id, required)
        return found

    def selected(self, block_id: str) -> str:
        """The value of the one choice, or nothing."""
        return _value(self._entered(block_id).get("selected_option"))

    def many(self, block_id: str) -> tuple[str, ...]:
        """The values of the choices."""
        options = self._entered(block_id).get("selected_options")
        return tuple(filter(None, map(_value, options))) if isinstance(options, list) else ()

    def choice(self, block_id: str, kind: type[_Choice]) -> _Choice | None:
        """The one choice as a member of `kind`."""
        try:
            return kind(self.selected(block_id))
        except ValueError:
            self.refuse(block_id, "Choose one.")
            return None

    def cause(self, *, required: bool) -> str:
        """The chosen cause, or the other one that was written; nothing where none is needed."""
        chosen, other = self.selected("cause"), self.words("cause_other")
        if chosen == OTHER and not other:
            self.refuse("cause_other", "Name the cause.")
        if required and not chosen and not other:
            self.refuse("cause", "Choose the cause, or name another below.")
        if other and chosen not in ("", OTHER):
            self.refuse("cause_other", "Choose one, or name another; not both.")
        return other if chosen in ("", OTHER) else chosen

    def link(self, block_id: str) -> str:
        """A web address with its scheme, or nothing."""
        found = one_line(mask(_text(self._entered(block_id).get("value"))), MOST_LINK + 1)
        if not found:
            return ""
        if len(found) > MOST_LINK or not _is_web_address(found):
            self.refuse(block_id, "Give the whole address, from https:// on.")
        return found

    def until(self, now: datetime, *, most: timedelta | None = None) -> datetime:
        """An instant that is still to come, at most `most` away."""
        seconds = self._entered("until").get("selected_date_time")
        if isinstance(seconds, bool) or not isinstance(seconds, int) or not 0 < seconds <= LATEST:
            self.refuse("until", "Choose a date and a time.")
            return now
        found = datetime.fromtimestamp(seconds, tz=UTC)
        if found <= now:
            self.refuse("until", "Choose an instant that is still to come.")
        if most is not None and found > now + most:
            self.refuse("until", f"Choose an instant at most {most.days} days from now.")
        return found

    def chosen_times(self, block_id: str) -> tuple[datetime | None, ...]:
        """The chosen nominal times; empty when all are meant, or when nothing has a time to choose."""
        values = self.many(block_id)
        if block_id in self._values and not values:
            self.refuse(block_id, "Choose at least one run.")
        return () if ALL in values else self.times(block_id, values)

    def times(self, block_id: str, values: Iterable[str]) -> tuple[datetime | None, ...]:
        """Nominal times from their choices' values; the run without one is None."""
        found: list[datetime | None] = []
        for value in values:
            time = _time(value)
            if time is None and value != NO_TIME:
                self.refuse(block_id, "That is no run of this job; please open the dialog anew.")
            else:
                found.append(time)
        return tuple(found)

    def _entered(self, block_id: str) -> Mapping[str, Any]:
        block = self._values.get(block_id)
        entered = block.get("value") if isinstance(block, Mapping) else None
        return entered if isinstance(entered, Mapping) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _value(option: Any) -> str:
    return _text(option.get("value")) if isinstance(option, Mapping) else ""


def _time(value: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    return None if found.tzinfo is None else found.astimezone(UTC)


def _is_web_address(text: str) -> bool:
    try:
        address = urlsplit(text)
    except ValueError:
        return False
    return address.scheme in ("http", "https") and bool(address.netloc) and not set(text) & set(" <>|\"'")
