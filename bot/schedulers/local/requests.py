"""The requests that were taken, each under its key, and the runs that they still have to start.

The file of a request is its acceptance: once it lies there, its runs are started, each once, whatever happens to us.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from bot.ports import SchedulerRequest
from bot.schedulers.local.records import Asked, digest, read, write_first, write_whole

REMEMBERED = timedelta(days=90)


class Requests:
    """Every request that was taken in the last ninety days, on disk; those with runs left, in memory too."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._open: dict[str, Asked] = {}

    def load(self, now: datetime) -> None:
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        found: list[Asked] = []
        for path in self._root.glob("*.json"):
            value = read(path)
            if value is None:
                continue
            asked = Asked.from_json(value)
            if asked.left:
                found.append(asked)
            elif now - asked.asked_at > REMEMBERED:
                path.unlink(missing_ok=True)
        self._open = {asked.key: asked for asked in sorted(found, key=lambda asked: asked.asked_at)}

    def find(self, request: SchedulerRequest) -> Asked | None:
        """The request of that key as it was taken; raises `OSError` or `ValueError` when that cannot be told."""
        if not self._root.is_dir():
            raise NotADirectoryError(f"{self._root.name} is not there")
        value = read(self._path(request.key))
        return Asked.from_json(value) if value is not None else None

    def take(self, asked: Asked) -> bool:
        """Accept a request for good; False when it was accepted before."""
        if not write_first(self._path(asked.key), asked.to_json()):
            return False
        if asked.left:
            self._open[asked.key] = asked
        return True

    def waiting(self) -> Iterator[Asked]:
        """The requests with runs left, in the order in which they came."""
        yield from tuple(self._open.values())

    def advance(self, asked: Asked) -> None:
        """The first run that was left is begun."""
        self._put(replace(asked, begun=asked.begun + 1))

    def end(self, asked: Asked) -> None:
        """Start no further run for this request."""
        self._put(replace(asked, ended=True))

    def _put(self, asked: Asked) -> None:
        write_whole(self._path(asked.key), asked.to_json())
        if asked.left:
            self._open[asked.key] = asked
        else:
            self._open.pop(asked.key, None)

    def _path(self, key: str) -> Path:
        return self._root / f"{digest(key)}.json"
