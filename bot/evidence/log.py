"""Holds a log and gives its lines, each read only when it is asked for.

It must not decide which line matters; it only knows which ones may.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

from bot.evidence.engine import INDEX_BITS, INDEX_MASK
from bot.evidence.lines import LogLine, may_hold_several, read_line
from bot.evidence.loud import FOLDED, HEALED, KEY, KEYS, spotter

WHOLE = 5000
HEAD = 200
TAIL = 3000
LOUD_CAP = 1000
BEFORE, AFTER = 2, 6
MATCHES_CAP = 100_000
LAST = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Spots:
    """Numbers of lines (from 0) with where they begin: those that may tell of a failure, of an end of it, or hold several.

    `keys`: there may be a private key somewhere.
    """

    loud: Mapping[int, int]
    healed: Mapping[int, int]
    folded: Mapping[int, int]
    keys: bool


class Log(Sequence[LogLine]):
    """The lines of a cleaned log that may matter.

    A short log is there whole. Of a long one: its beginning, its end, and the surroundings of what is loud. `loud` holds
    the indices of the lines that may tell of a failure, in order; `keys` is whether there may be a private key.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._lines: list[bytes | LogLine]
        spots = _spots(data)
        self.keys = spots is None or spots.keys
        self.newlines = data.count(b"\n")
        count = self.newlines + 1
        if count <= WHOLE:
            self._numbers: Sequence[int] = range(count)
            self._lines = list(data.split(b"\n"))
        else:
            self._numbers, self._lines = _cut_out(data, count, spots)
        folded = range(len(self._lines)) if spots is None or count > WHOLE else self._indices(spots.folded)
        if folded and (spots is None or spots.folded):
            self._unfold(folded)
        self.loud = range(len(self._lines)) if spots is None else self._indices(spots.loud)
        self._healed = range(len(self._lines)) if spots is None else self._indices(spots.healed)

    def __len__(self) -> int:
        return len(self._lines)

    @overload
    def __getitem__(self, index: int) -> LogLine: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[LogLine]: ...
    def __getitem__(self, index: int | slice) -> LogLine | Sequence[LogLine]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self._lines)))]
        line = self._lines[index]
        if isinstance(line, bytes):
            line = self._lines[index] = next(read_line(self._numbers[index] + 1, line))
        return line

    def healed(self, between: range) -> Iterator[LogLine]:
        """Return the lines at these indices that may tell that something went well again."""
        for at in self._healed[bisect_left(self._healed, between.start) :]:
            if at >= between.stop:
                return
            yield self[at]

    def raw(self, span: range) -> bytes:
        """Return the lines at these indices as the log holds them."""
        lines = (self._lines[at] for at in span)
        return b"\n".join(line if isinstance(line, bytes) else line.shown.encode() for line in lines)

    def _unfold(self, folded: Sequence[int]) -> None:
        """Read the lines that hold several, so that each index stands for one."""
        numbers: list[int] = []
        lines: list[bytes | LogLine] = []
        after = 0
        for index in folded:
            number, line = self._numbers[index], self._lines[index]
            if isinstance(line, LogLine) or not may_hold_several(line):
                continue
            read = list(read_line(number + 1, line))
            numbers += [*self._numbers[after:index], *(number for _ in read)]
            lines += [*self._lines[after:index], *read]
            after = index + 1
        self._numbers, self._lines = [*numbers, *self._numbers[after:]], [*lines, *self._lines[after:]]

    def _indices(self, wanted: Mapping[int, int]) -> Sequence[int]:
        if isinstance(self._numbers, range):
            return list(wanted)
        return [index for index, number in enumerate(self._numbers) if number in wanted]


def _spots(data: bytes) -> Spots | None:
    """Return the spots of a log, None when it could not be scanned; of a log that is loud all over, the first and last."""
    tally = _Tally(data)
    matches = spotter().matches(data, most=MATCHES_CAP)
    if matches is None:
        return None
    tally.add(matches, 0)
    if len(matches) < MATCHES_CAP:
        return Spots(loud=tally.loud.kept(), healed=tally.healed.kept(), folded=tally.folded.kept(), keys=tally.keys)
    start = data.rfind(b"\n", 0, max(len(data) - LAST, tally.stop + 1)) + 1 if tally.stop < len(data) else len(data)
    matches = spotter().matches(data[start:])
    if matches is None:
        return None
    tally.add(matches, start)
    keys = any(key in data for key in KEYS)
    return Spots(loud=tally.loud.kept(), healed=tally.healed.kept(), folded={0: 0}, keys=keys)


class _Tally:
    """Sorts matches by the lines in which they end."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._number = 0
        self._start = 0
        self.stop = data.find(b"\n") % (len(data) + 1)
        self.loud, self.healed, self.folded = _Ends(), _Ends(), _Ends()
        self.keys = False

    def add(self, matches: Iterable[int], offset: int) -> None:
        data, number, start, stop = self._data, self._number, self._start, self.stop
        for match in matches:
            kind, end = match & INDEX_MASK, (match >> INDEX_BITS) + offset
            if end > stop + 1:
                number += data.count(b"\n", start, end - 1)
                start = data.rfind(b"\n", 0, end - 1) + 1
                stop = data.find(b"\n", end - 1) % (len(data) + 1)
            if kind == KEY:
                self.keys = True
            else:
                (self.healed if kind == HEALED else self.folded if kind == FOLDED else self.loud).add(number, start)
        self._number, self._start, self.stop = number, start, stop


class _Ends:
    """Keeps the first and the last lines of a kind; a log may hold a million of them."""

    def __init__(self) -> None:
        self._first: dict[int, int] = {}
        self._last: dict[int, int] = {}

    def add(self, number: int, start: int) -> None:
        if len(self._first) < WHOLE or number in self._first:
            self._first[number] = start
            return
        self._last[number] = start
        if len(self._last) > 2 * WHOLE:
            self._last = dict(list(self._last.items())[-WHOLE:])

    def kept(self) -> dict[int, int]:
        return {**self._first, **self._last}


def _cut_out(data: bytes, count: int, spots: Spots | None) -> tuple[list[int], list[bytes | LogLine]]:
    """Return the lines of a long log that are worth reading, and their numbers."""
    numbers: list[int] = []
    lines: list[bytes | LogLine] = []

    def take(first: int, raws: list[bytes]) -> None:
        skipped = max(numbers[-1] + 1 - first, 0) if numbers else 0
        numbers.extend(range(first + skipped, first + len(raws)))
        lines.extend(raws[skipped:])

    take(0, _lines_from(data, 0, HEAD))
    loud = list(spots.loud.items()) if spots is not None else []
    if len(loud) > 2 * LOUD_CAP:
        loud = loud[:LOUD_CAP] + loud[-LOUD_CAP:]
    for number, start in loud:
        if number >= count - TAIL:
            break
        back = min(BEFORE, number)
        for _ in range(back):
            start = data.rfind(b"\n", 0, start - 1) + 1
        take(number - back, _lines_from(data, start, back + AFTER))
    start = len(data)
    for _ in range(TAIL):
        start = data.rfind(b"\n", 0, start)
    take(count - TAIL, data[start + 1 :].split(b"\n"))
    return numbers, lines


def _lines_from(data: bytes, start: int, most: int) -> list[bytes]:
    lines: list[bytes] = []
    while len(lines) < most and start <= len(data):
        stop = data.find(b"\n", start) % (len(data) + 1)
        lines.append(data[start:stop])
        start = stop + 1
    return lines
