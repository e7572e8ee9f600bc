"""Matches the type of an exception against names, whole or by its last parts; it never looks at messages."""

import re
from collections.abc import Sequence
from functools import lru_cache

NAME_CAP = 300
REMEMBERED = 4096

_PART = re.compile(r"(?:^|(?<=[.:/$]))[^.:/$]")


class TypeNames:
    """Names of exceptions, matched whole or by their last parts; * stands for any part of a name."""

    def __init__(self, names: Sequence[str]) -> None:
        self._exact = {name: index for index, name in enumerate(names) if "*" not in name}
        globs = [(index, name) for index, name in enumerate(names) if "*" in name]
        self._globs = tuple(
            (index, re.compile(re.escape(name).replace(r"\*", r"[\w$]{0,200}"))) for index, name in globs
        )
        self._found = lru_cache(maxsize=REMEMBERED)(self._find)

    def find(self, name: str) -> frozenset[int]:
        """Return the indices of the names that this type of exception goes by."""
        return self._found(name[:NAME_CAP])

    def _find(self, name: str) -> frozenset[int]:
        parts = [found.start() for found in _PART.finditer(name)]
        found = {self._exact[name[start:]] for start in parts if name[start:] in self._exact}
        last = name[parts[-1] :] if parts else name
        return frozenset(found | {index for index, glob in self._globs if glob.fullmatch(last)})
