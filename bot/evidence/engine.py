"""Matches many patterns over one text in one linear pass; it knows nothing of rules or causes.

A scan that fails answers None, never "nothing found": the caller must treat that as not knowing.
"""

import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass

import hyperscan

_INDEX = re.compile(r"index (\d{1,6})")


class PatternError(ValueError):
    """A pattern that the engine refuses; `column` counts from 1."""

    def __init__(self, message: str, column: int) -> None:
        super().__init__(message)
        self.message = message
        self.column = column


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """One expression; `multiline` lets ^ and $ stand at every line."""

    text: str
    multiline: bool = False
    caseless: bool = True

    @property
    def flags(self) -> int:
        flags: int = hyperscan.HS_FLAG_SINGLEMATCH | hyperscan.HS_FLAG_UTF8 | hyperscan.HS_FLAG_ALLOWEMPTY
        if self.multiline:
            flags |= hyperscan.HS_FLAG_MULTILINE
        if self.caseless:
            flags |= hyperscan.HS_FLAG_CASELESS
        return flags


def check_pattern(text: str) -> None:
    """Raise PatternError when `text` is no pattern that can run in linear time."""
    if len(text) > 1000:
        raise PatternError("longer than 1000 characters", 1001)
    if not text.strip():
        raise PatternError("empty", 1)
    try:
        hyperscan.Database().compile(
            expressions=[text.encode()], ids=[0], flags=[hyperscan.HS_FLAG_UTF8 | hyperscan.HS_FLAG_MULTILINE]
        )
    except UnicodeEncodeError as failure:
        raise PatternError("not valid text", failure.start + 1) from failure
    except hyperscan.HyperscanError as failure:
        found = _INDEX.search(str(failure))
        raise PatternError(_words(failure), int(found[1]) + 1 if found else 1) from failure


def _words(failure: Exception) -> str:
    words = " ".join(str(part) for part in failure.args if isinstance(part, str)) or str(failure)
    return _INDEX.sub(lambda found: f"column {int(found[1]) + 1}", words).strip()


class Matcher:
    """A compiled set of patterns, usable from any number of threads."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._patterns = tuple(patterns)
        self._local = threading.local()
        self._database = hyperscan.Database()
        if self._patterns:
            self._database.compile(
                expressions=[pattern.text.encode() for pattern in self._patterns],
                ids=list(range(len(self._patterns))),
                flags=[pattern.flags for pattern in self._patterns],
            )

    def find(self, text: str) -> frozenset[int] | None:
        """Return the indices of the patterns found in `text`, or None when the scan could not be done."""
        if not self._patterns or not text:
            return frozenset()
        found: set[int] = set()

        def on_match(index: int, start: int, end: int, flags: int, context: object) -> None:
            found.add(index)

        try:
            self._database.scan(
                text.encode("utf-8", "replace"), match_event_handler=on_match, scratch=self._scratch()
            )
        except hyperscan.HyperscanError:
            return None
        return frozenset(found)

    def _scratch(self) -> hyperscan.Scratch:
        scratch = getattr(self._local, "scratch", None)
        if scratch is None:
            scratch = self._local.scratch = hyperscan.Scratch(self._database)
        return scratch
