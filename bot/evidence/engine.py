"""Matches many patterns over one text in one linear pass; it knows nothing of rules or causes.

A scan that fails answers None, never "nothing found": the caller must treat that as not knowing.
"""

import re
import threading
from array import array
from collections.abc import Mapping, Sequence
from concurrent.futures import Future

import hyperscan

_WIDE = re.compile(r"\{(?:\d{0,9},)?\d{3,9}\}")
_FLAGS: int = (
    hyperscan.HS_FLAG_SINGLEMATCH | hyperscan.HS_FLAG_UTF8 | hyperscan.HS_FLAG_MULTILINE | hyperscan.HS_FLAG_CASELESS
)
MOST = 1 << 40
INDEX_BITS = 16
INDEX_MASK = (1 << INDEX_BITS) - 1
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


def text_bytes(text: str) -> bytes:
    """Return `text` as the engine takes it: valid UTF-8."""
    return text.encode("utf-8", "replace")


class Compiled:
    """Patterns compiled together, usable from any number of threads.

    `beside`: they are compiled in a thread, which holds up nobody but the first match. Only for patterns that are known
    to be good: what the engine says of them is raised by that match.
    """

    def __init__(self, patterns: Sequence[tuple[bytes, int]], *, beside: bool = False) -> None:
        self._patterns = patterns
        self._count = len(patterns)
        self._local = threading.local()
        self._database = hyperscan.Database()
        self._made: Future[None] = Future()
        self._usable = False
        if beside:
            threading.Thread(target=self._make, name="compile", daemon=True).start()
        else:
            self._make()
            self._made.result()

    def _make(self) -> None:
        try:
            if self._patterns:
                self._database.compile(
                    expressions=[pattern for pattern, _ in self._patterns],
                    ids=list(range(self._count)),
                    flags=[flags for _, flags in self._patterns],
                )
        except hyperscan.HyperscanError as refused:
            self._made.set_exception(refused)
        else:
            self._made.set_result(None)

    def __len__(self) -> int:
        return self._count

    def matches(self, data: bytes, *, most: int = MOST) -> "array[int] | None":
        """Return at most so many matches, in order of their ends, None when the scan failed.

        Each is one number, its end above the index of its pattern: a text may hold a million of them.
        """
        found = array("Q")
        if not self._count or not data:
            return found
        if not self._usable:
            self._made.result()
            self._usable = True

        def on_match(index: int, start: int, end: int, flags: int, context: object) -> bool:
            found.append(end << INDEX_BITS | index)
            return len(found) >= most

        try:
            self._database.scan(data, match_event_handler=on_match, scratch=self._scratch())
        except hyperscan.ScanTerminated:
            return found
        except hyperscan.HyperscanError:
            return None
        return found

    def _scratch(self) -> hyperscan.Scratch:
        scratch = getattr(self._local, "scratch", None)
        if scratch is None:
            scratch = self._local.scratch = hyperscan.Scratch(self._database)
        return scratch


class Matcher(Compiled):
    """Patterns of rules: whether each is found, and where first."""

    def __init__(self, patterns: Sequence[str], *, beside: bool = False) -> None:
        super().__init__([(pattern.encode(), _FLAGS) for pattern in patterns], beside=beside)

    def find(self, data: bytes) -> Mapping[int, int] | None:
        """Return the index of each pattern found with where its first match ends, None when the scan failed."""
        found = self.matches(data)
        return None if found is None else {match & INDEX_MASK: match >> INDEX_BITS for match in found}


class Spotter(Compiled):
    """Patterns over bytes of any kind, each match reported; `caseless` ones come after the others."""

    def __init__(self, patterns: Sequence[str], caseless: Sequence[str] = ()) -> None:
        lines: int = hyperscan.HS_FLAG_MULTILINE
        either: int = lines | hyperscan.HS_FLAG_CASELESS
        super().__init__([(one.encode(), lines) for one in patterns] + [(one.encode(), either) for one in caseless])


class Stack:
    """Several matchers as one, so that what is compiled already need not be compiled again."""

    def __init__(self, *matchers: Matcher) -> None:
        self.matchers = matchers

    def find(self, data: bytes) -> Mapping[int, int] | None:
        """Return what `Matcher.find` does, the indices counted on through the matchers."""
        found: dict[int, int] = {}
        offset = 0
        for matcher in self.matchers:
            part = matcher.find(data)
            if part is None:
                return None
            found.update({index + offset: end for index, end in part.items()} if offset else part)
            offset += len(matcher)
        return found
