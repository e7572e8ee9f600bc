"""Who holds the database and whose leases are void: on SQLite one process, by a lock on a file beside it. No SQL here.

A second implementation, with an advisory lock for each instance, lets many processes share PostgreSQL.
"""

import fcntl
import os
import secrets
from collections.abc import Collection
from datetime import timedelta
from pathlib import Path
from typing import Protocol

LEASE = timedelta(seconds=90)
LOOK_AFTER = timedelta(seconds=10)


class DatabaseTaken(Exception):
    """Another process works on this SQLite database, which serves one process only."""


class Holders(Protocol):
    """The processes that may hold leases."""

    me: str

    def gone(self, names: Collection[str]) -> frozenset[str]:
        """Which of these holders surely live no more."""

    def release(self) -> None: ...


class SoleHolder:
    """The one process of a SQLite database: whoever else is named in a lease is gone."""

    def __init__(self, *, instance: str, lock: "FileLock | None") -> None:
        self.me = f"{instance}:{secrets.token_hex(4)}"
        self._lock = lock

    def gone(self, names: Collection[str]) -> frozenset[str]:
        return frozenset(names) - {self.me}

    def release(self) -> None:
        if self._lock:
            self._lock.release()


class SharedHolder:
    """One of several processes of a PostgreSQL database: leases of the others lapse by time."""

    def __init__(self, *, instance: str) -> None:
        self.me = f"{instance}:{secrets.token_hex(4)}"

    def gone(self, names: Collection[str]) -> frozenset[str]:
        return frozenset()

    def release(self) -> None:
        return


class FileLock:
    """An exclusive lock on `<database>.lock`, freed by the system when its process ends, however it ends."""

    def __init__(self, database: Path) -> None:
        self._path = database.with_name(f"{database.name}.lock")
        self._file: int | None = None

    def take(self, *, wait: bool = False) -> None:
        """Take the lock, or raise `DatabaseTaken` unless told to wait for it."""
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(file, 32).decode(errors="replace").strip()
            os.close(file)
            raise DatabaseTaken(_taken(self._path, holder)) from None
        os.ftruncate(file, 0)
        os.pwrite(file, str(os.getpid()).encode(), 0)
        self._file = file

    def release(self) -> None:
        """Free the lock; the file stays, since removing it would let two processes hold locks of one name."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _taken(path: Path, holder: str) -> str:
    who = f"process {holder}" if holder else "another process"
    return (
        f"{who} already works on this database (it holds {path.name}). SQLite serves one process: stop that one, "
        "or set DATABASE_URL to PostgreSQL to run several."
    )
