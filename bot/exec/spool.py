"""Reports that wait on disk until ontrack took them: one file each, written before it is sent. It sends nothing itself."""

import contextlib
import fcntl
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

MOST_FILES = 2_000
REJECTED = "rejected"
LOOK_AGAIN = 0.05


class Spool:
    """A folder of reports, each named by the time at which it was written; private to its owner.

    Where the disk cannot be written to, reports wait in memory for as long as the process lives.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._memory: dict[str, dict[str, Any]] = {}
        self._count = 0

    def put(self, event: dict[str, Any]) -> str:
        """Keep a report; returns its name. The oldest make room when there are too many."""
        self._count += 1
        name = f"{time.time_ns():020d}-{os.getpid()}-{self._count}.json"
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            written = self._folder / f".{name}"
            with open(os.open(written, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600), "w") as file:
                json.dump(event, file)
                file.flush()
                os.fsync(file.fileno())
            written.rename(self._folder / name)
            self._make_room()
        except OSError as failed:
            sys.stderr.write(f"ontrack exec: {self._folder}: {failed.strerror}: an unsent report will be lost\n")
            self._memory[name] = event
        return name

    def oldest(self, *, most: int, scheduler: str) -> list[tuple[str, dict[str, Any]]]:
        """The oldest reports of this scheduler's jobs, with their names."""
        found = list(self._memory.items())
        for path in self._paths():
            event = self._read(path)
            if event is not None and event.get("data", {}).get("scheduler") == scheduler:
                found.append((path.name, event))
            if len(found) >= most:
                break
        return sorted(found, key=lambda one: one[0])[:most]

    def done(self, name: str) -> None:
        """ontrack took it."""
        self._memory.pop(name, None)
        with contextlib.suppress(OSError):
            (self._folder / name).unlink()

    def rejected(self, name: str, why: str) -> None:
        """ontrack will never take it: it is put aside with the reason, and blocks nothing."""
        sys.stderr.write(f"ontrack exec: a report was rejected: {why}\n")
        self._memory.pop(name, None)
        aside = self._folder / REJECTED
        with contextlib.suppress(OSError):
            aside.mkdir(mode=0o700, exist_ok=True)
            (self._folder / name).rename(aside / name)
            (aside / name).with_suffix(".why").write_text(f"{why}\n")

    @contextlib.contextmanager
    def alone(self, *, within: float) -> Iterator[bool]:
        """Inside, no other process sends from this folder; False: another one still did after so many seconds."""
        try:
            lock = os.open(self._folder / ".lock", os.O_CREAT | os.O_RDWR, 0o600)
        except OSError:
            yield bool(self._memory)
            return
        try:
            yield _locked(lock, until=time.monotonic() + within)
        finally:
            os.close(lock)

    def _paths(self) -> Sequence[Path]:
        try:
            return sorted(path for path in self._folder.iterdir() if path.suffix == ".json" and path.name[0] != ".")
        except OSError:
            return ()

    def _read(self, path: Path) -> dict[str, Any] | None:
        try:
            event = json.loads(path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValueError):
            self.rejected(path.name, "the file is damaged")
            return None
        if isinstance(event, dict):
            return event
        self.rejected(path.name, "the file is damaged")
        return None

    def _make_room(self) -> None:
        paths = self._paths()
        for path in paths[: max(0, len(paths) - MOST_FILES)]:
            sys.stderr.write(f"ontrack exec: too many unsent reports: {path.name} is dropped\n")
            path.unlink(missing_ok=True)


def _locked(lock: int, *, until: float) -> bool:
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() >= until:
                return False
            time.sleep(LOOK_AGAIN)
        else:
            return True
