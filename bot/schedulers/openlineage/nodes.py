"""Reads values out of JSON objects and says where what was wrong: strictly for what an event needs, leniently for facets.

It must not know what a facet means.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from bot.evidence.cleaning import clean
from bot.evidence.masking import mask

LONGEST_NAME = 500
LONGEST_NAME_BYTES = 1000
FIRST_YEAR, LAST_YEAR = 1970, 2199
LARGEST = 2**63 - 1
MOST_IGNORED = 5

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_Instant = Annotated[datetime, Meta(tz=True)]

_T = TypeVar("_T")


class Wrong(Exception):
    """A value is not what it should be: its path and what was expected."""

    def __init__(self, path: str, expected: str) -> None:
        super().__init__(path, expected)
        self.path = path
        self.expected = expected

    def __str__(self) -> str:
        return f"{self.path}: {self.expected}" if self.path else self.expected


class Node:
    """A JSON object and where it stands. What is null counts as not there; what has another type raises `Wrong`."""

    def __init__(self, value: Mapping[str, Any], path: str = "") -> None:
        self.value = value
        self.path = path

    def at(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name

    def get(self, name: str) -> Any:
        return self.value.get(name)

    def node(self, name: str) -> "Node | None":
        found = self.value.get(name)
        if found is None:
            return None
        if not isinstance(found, dict):
            raise Wrong(self.at(name), "expected an object")
        return Node(found, self.at(name))

    def need_node(self, name: str) -> "Node":
        found = self.node(name)
        if found is None:
            raise Wrong(self.at(name), "is missing")
        return found

    def nodes(self, name: str, *, most: int) -> Iterator["Node"]:
        """The objects of a list, `most` of them."""
        found = self.value.get(name)
        if found is None:
            return
        if not isinstance(found, list):
            raise Wrong(self.at(name), "expected a list")
        for index, one in enumerate(found[:most]):
            if not isinstance(one, dict):
                raise Wrong(f"{self.at(name)}[{index}]", "expected an object")
            yield Node(one, f"{self.at(name)}[{index}]")

    def text(self, name: str, *, most: int = 2000) -> str | None:
        """Clean and masked words; None where there are none."""
        found = self.value.get(name)
        if found is None:
            return None
        if not isinstance(found, str):
            raise Wrong(self.at(name), "expected text")
        return plain(found, most) or None

    def raw_text(self, name: str) -> str | None:
        """Words as they came."""
        found = self.value.get(name)
        if found is not None and not isinstance(found, str):
            raise Wrong(self.at(name), "expected text")
        return found

    def name(self, name: str) -> str | None:
        """A name by which something is told apart, as it came."""
        found = self.raw_text(name)
        if found is None:
            return None
        if not found:
            raise Wrong(self.at(name), "expected a name that is not empty")
        if len(found) > LONGEST_NAME or len(found.encode("utf-8", "replace")) > LONGEST_NAME_BYTES:
            raise Wrong(self.at(name), f"expected at most {LONGEST_NAME} characters and {LONGEST_NAME_BYTES} bytes")
        if _CONTROL.search(found):
            raise Wrong(self.at(name), "expected a name without control characters")
        return found

    def need_name(self, name: str) -> str:
        found = self.name(name)
        if found is None:
            raise Wrong(self.at(name), "is missing")
        return found

    def count(self, name: str) -> int | None:
        found = self.value.get(name)
        if found is None:
            return None
        if isinstance(found, float) and found.is_integer():
            found = int(found)
        if isinstance(found, bool) or not isinstance(found, int) or not 0 <= found <= LARGEST:
            raise Wrong(self.at(name), "expected a whole number that is not negative")
        return found

    def instant(self, name: str) -> datetime | None:
        found = self.raw_text(name)
        if found is None:
            return None
        try:
            read = msgspec.convert(found, _Instant)
            return in_years(read, self.at(name)).astimezone(UTC)
        except (msgspec.ValidationError, OverflowError):
            raise Wrong(self.at(name), "expected a time with its zone (RFC 3339)") from None

    def need_instant(self, name: str) -> datetime:
        found = self.instant(name)
        if found is None:
            raise Wrong(self.at(name), "is missing")
        return found


def in_years(value: datetime, path: str) -> datetime:
    if not FIRST_YEAR <= value.year <= LAST_YEAR:
        raise Wrong(path, f"expected a time between {FIRST_YEAR} and {LAST_YEAR}")
    return value


def plain(text: str, most: int) -> str:
    """Clean, masked and bounded; more is masked than is kept, so that no secret is cut before it is seen."""
    return mask(clean(text[: 2 * most]))[:most].strip()


class Facets:
    """The facets of a run, job or dataset. One that is not understood is left out and told of in `ignored`."""

    def __init__(self, holder: Node, ignored: list[str], name: str = "facets") -> None:
        self._ignored = ignored
        self._asked: set[str] = set()
        self._facets = Node({}, holder.at(name))
        self.tried(lambda: setattr(self, "_facets", holder.node(name) or self._facets), None)

    def read(self, name: str, reader: Callable[[Node], _T], instead: _T) -> _T:
        """What `reader` makes of the facet; `instead` where it is not there, was deleted or is not understood."""
        self._asked.add(name)

        def tried() -> _T:
            facet = self._facets.node(name)
            return instead if facet is None or facet.get("_deleted") is True else reader(facet)

        return self.tried(tried, instead)

    def tried(self, action: Callable[[], _T], instead: _T) -> _T:
        try:
            return action()
        except Wrong as wrong:
            said = str(wrong)
            if said not in self._ignored and len(self._ignored) < MOST_IGNORED:
                self._ignored.append(said)
            return instead

    def rest(self) -> dict[str, Any]:
        """The facets that nobody asked for."""
        return {name: value for name, value in self._facets.value.items() if name not in self._asked}
