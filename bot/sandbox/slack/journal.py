"""Keeps what was accepted, one JSON line an effect, on disk before the answer goes out; it must not interpret a row."""

import os
from pathlib import Path
from typing import Any

import msgspec

Json = dict[str, Any]


class Journal:
    """Append-only rows. Without a path they live in memory alone."""

    def __init__(self, path: Path | None = None) -> None:
        self.rows: list[Json] = []
        self._file = None
        if path is not None:
            self.rows = _read(path)
            self._file = path.open("ab")

    @property
    def last(self) -> int:
        return int(self.rows[-1]["n"]) if self.rows else 0

    def append(self, row: Json) -> None:
        """Durable when this returns."""
        line = msgspec.json.encode(row) + b"\n"
        if self._file is not None:
            self._file.write(line)
            self._file.flush()
            os.fsync(self._file.fileno())
        self.rows.append(msgspec.json.decode(line))

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _read(path: Path) -> list[Json]:
    """The whole rows of the file; a torn last line was never answered, so it is cut off."""
    if not path.exists():
        return []
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        os.truncate(path, whole)
    return [msgspec.json.decode(line) for line in data[:whole].splitlines() if line]
