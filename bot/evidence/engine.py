"""Matches many patterns over one text in one linear pass; it knows nothing of rules or causes.

A scan that fails answers None, never "nothing found": the caller must treat that as not knowing.
"""

import re
import threading
from collections.abc import Sequence

import hyperscan

_WIDE = re.compile(r"\{(?:\d{0,9},)?\d{3,9}\}")
_FLAGS: int = (
    hyperscan.HS_FLAG_SINGLEMATCH | hyperscan.HS_FLAG_UTF8 | hyperscan.HS_FLAG_MULTILINE | hyperscan.HS_FLAG_CASELESS
)
_INDEX = re.compile(r"index (\d{1,6})")


class PatternError(ValueError):
    """A pattern that the engine refuses; `column` counts from 1."""

    def __init__(self, message: str, column: int) -> None:
        super().__init__(message)
        self.message = message
        self.column = column


def check_pattern(text: str) -> None:
    """Raise PatternError when `text` is no pattern that can run in linear time."""
    if len(text) > 1000:
        raise PatternError("longer than 1000 characters", 1001)
    if not text.strip():
        raise PatternError("empty", 1)
    if (wide := _WIDE.search(text)) is not None:
        raise PatternError("a bounded repeat above 99 is not supported, use * or +", wide.start() + 1)
    try:
        hyperscan.Database().compile(expressions=[text.encode()], ids=[0], flags=[_FLAGS])
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

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = tuple(patterns)
        self._local = threading.local()
        self._database = hyperscan.Database()
        if self._patterns:
            self._database.compile(
                expressions=[pattern.encode() for pattern in self._patterns],
                ids=list(range(len(self._patterns))),
                flags=[_FLAGS] * len(self._patterns),
            )

    def __len__(self) -> int:
        return len(self._patterns)

    def find(self, text: str) -> frozenset[int] | None:
        """Return the indices of the patterns found in `text`, or None when the scan could not be done."""
        if not self._patterns or not text:
            return frozenset()
        found: set[int] = set()

        def on_match(index: int, start: int, end: int, flags: int, context: object) -> None:
            found.add(index)

        try:
            self._database.scan(text.encode("utf-8", "replace"), match_event_handler=on_match, scratch=self._scratch())
        except hyperscan.HyperscanError:
            return None
        return frozenset(found)

    def _scratch(self) -> hyperscan.Scratch:
        scratch = getattr(self._local, "scratch", None)
        if scratch is None:
            scratch = self._local.scratch = hyperscan.Scratch(self._database)
        return scratch


class Stack:
    """Several matchers as one, so that what is compiled already need not be compiled again."""

    def __init__(self, *matchers: Matcher) -> None:
        self.matchers = matchers

    def find(self, text: str) -> frozenset[int] | None:
        """Return the indices found, counted on through the matchers, or None when one scan could not be done."""
        found: set[int] = set()
        offset = 0
        for matcher in self.matchers:
            part = matcher.find(text)
            if part is None:
                return None
            found.update(index + offset for index in part)
            offset += len(matcher)
        return frozenset(found)
