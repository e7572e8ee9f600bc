"""Who holds the database and whose leases are void: on SQLite one process, by a lock on a file beside it; on PostgreSQL
many, each by an advisory lock on its own name. No SQL here.
"""

import fcntl
import os
import secrets
import threading
from collections.abc import Collection
from datetime import timedelta
from pathlib import Path
from typing import Protocol

from bot.store import StorageDown
from storage.locks import LockSession, key_of

LEASE = timedelta(seconds=90)
LOOK_AFTER = timedelta(seconds=10)
SEND_ENDS_WITHIN = timedelta(seconds=35)


class DatabaseTaken(Exception):
    """Another process works on this SQLite database, which serves one process only."""


class Holders(Protocol):
    """The processes that may hold leases."""

    look_after: timedelta
    """How long after a send was begun one may look for it, when its holder is gone."""

    @property
    def me(self) -> str | None:
        """The name under which this process holds leases; None: it may hold none now, and begins no send."""

    def doubt(self) -> None:
        """It is not known whether leases were written under the present name: go on under another one."""

    def gone(self, names: Collection[str]) -> frozenset[str]:
        """Which of these holders surely live no more."""

    def release(self) -> None: ...


class SoleHolder:
    """The one process of a SQLite database: whoever else is named in a lease is gone."""

    look_after = LOOK_AFTER

    def __init__(self, *, instance: str, lock: "FileLock | None") -> None:
        self.me = _new_name(instance)
        self._lock = lock

    def doubt(self) -> None:
        """A commit that failed here is known to have failed."""

    def gone(self, names: Collection[str]) -> frozenset[str]:
        return frozenset(names) - {self.me}

    def release(self) -> None:
        if self._lock:
            self._lock.release()


class SharedHolder:
    """One of several processes of a PostgreSQL database; each holds a lock on its name while it lives and is connected.

    A lost lock means that others may void our leases, so nothing is begun until one is held again under a new name. What
    was being sent meanwhile may still arrive: a look has to wait until it surely has.
    """

    look_after = SEND_ENDS_WITHIN

    def __init__(self, *, session: LockSession, instance: str) -> None:
        self._session = session
        self._instance = instance
        self._mutex = threading.Lock()
        self._name: str | None = None
        if self.me is None:
            session.close()
            raise StorageDown("the lock on this process's name cannot be taken")

    @property
    def me(self) -> str | None:
        with self._mutex:
            if self._name is None or not self._session.holds(_key(self._name)):
                name = _new_name(self._instance)
                self._name = name if self._session.take(_key(name)) else None
            return self._name

    def doubt(self) -> None:
        with self._mutex:
            if self._name is not None:
                self._session.free(_key(self._name))
            self._name = None

    def gone(self, names: Collection[str]) -> frozenset[str]:
        keys = {name: _key(name) for name in names}
        living = self._session.held_by_anyone(keys.values()) if keys else frozenset()
        return frozenset(name for name, key in keys.items() if key not in living)

    def release(self) -> None:
        self._session.close()


def _new_name(instance: str) -> str:
    return f"{instance}:{secrets.token_hex(4)}"


def _key(name: str) -> int:
    return key_of(f"instance {name}")


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
