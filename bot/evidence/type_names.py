"""Matches the type of an exception against names, whole or by its last parts; it never looks at messages."""

import re
from collections.abc import Sequence

NAME_CAP = 300

_PART = re.compile(r"(?:^|(?<=[.:/$]))[^.:/$]")


class TypeNames:
    """Names of exceptions, matched whole or by their last parts; * stands for any part of a name."""

    def __init__(self, names: Sequence[str]) -> None:
        self._exact = {name: index for index, name in enumerate(names) if "*" not in name}
        globs = [(index, name) for index, name in enumerate(names) if "*" in name]
        self._globs = tuple(
            (index, re.compile(re.escape(name).replace(r"\*", r"[\w$]{0,200}"))) for index, name in globs
        )

    def find(self, name: str) -> frozenset[int]:
        """Return the indices of the names that this type of exception goes by."""
        parts = [found.start() for found in _PART.finditer(name[:NAME_CAP])]
        found = {self._exact[name[start:NAME_CAP]] for start in parts if name[start:NAME_CAP] in self._exact}
        last = name[parts[-1] : NAME_CAP] if parts else name[:NAME_CAP]
        return frozenset(found | {index for index, glob in self._globs if glob.fullmatch(last)})
