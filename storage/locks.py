"""Advisory locks of PostgreSQL on a connection of their own: they are free the moment that this process, or the way to
it, is gone. It knows keys only, not what is locked.
"""

import threading
import time
from collections.abc import Collection
from contextlib import suppress
from datetime import timedelta
from hashlib import blake2b
from typing import Any

import psycopg
from psycopg import errors
from sqlalchemy import URL

from storage.postgres import connect_alone, is_lost

AT_ONCE = timedelta(0)
AGAIN = 1.0
LOOK_UP = 1.0

_HELD = b"""
    SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1 AND granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


def key_of(name: str) -> int:
    """The lock that bears this name, on every machine."""
    return int.from_bytes(blake2b(f"ontrack {name}".encode(), digest_size=8).digest(), "big", signed=True)


class LockSession:
    """One connection and the locks that hang on it. A lost one is made anew when it is needed; in vain at most once a second."""

    def __init__(self, url: URL) -> None:
        self._url = url
        self._mutex = threading.RLock()
        self._connection: psycopg.Connection[Any] | None = None
        self._held: set[int] = set()
        self._not_before = time.monotonic()
        self._closed = False

    def take(self, key: int, *, wait: timedelta = AT_ONCE) -> bool:
        """Take the lock, waiting that long for its holder to end; False: it is another's, or the database is away."""
        with self._mutex:
            if self.holds(key):
                return True
            try:
                taken = self._take(key, wait)
            except psycopg.Error:
                self._drop()
                return False
            if taken:
                self._held.add(key)
            return taken

    def holds(self, key: int) -> bool:
        """Whether the lock is still ours, as far as this side can know."""
        with self._mutex:
            if self._connection is not None and is_lost(self._connection):
                self._drop()
            return key in self._held

    def free(self, key: int) -> None:
        with self._mutex:
            self._held.discard(key)
            if self._connection is None:
                return
            try:
                self._connection.execute(b"SELECT pg_advisory_unlock(%s)", (key,))
            except psycopg.Error:
                self._drop()

    def held_by_anyone(self, keys: Collection[int]) -> frozenset[int]:
        """Which of these locks somebody holds; when that cannot be known, all of them."""
        with self._mutex:
            try:
                connection = self._connected()
                if connection is not None:
                    return frozenset(keys) & {row[0] for row in connection.execute(_HELD)}
            except psycopg.Error:
                self._drop()
            return frozenset(keys)

    def close(self) -> None:
        """Free everything, also while another thread waits for a lock."""
        self._closed = True
        waiting = self._connection
        if waiting is not None and not waiting.closed:
            waiting.cancel_safe(timeout=AGAIN)
        with self._mutex:
            if self._connection is not None:
                with suppress(psycopg.Error):
                    self._connection.execute(b"SELECT pg_advisory_unlock_all()")
            self._drop()

    def _take(self, key: int, wait: timedelta) -> bool:
        connection = self._connected()
        if connection is None:
            return False
        if not wait:
            return bool(connection.execute(b"SELECT pg_try_advisory_lock(%s)", (key,)).fetchone() == (True,))
        until = time.monotonic() + wait.total_seconds()
        while not self._closed and (left := until - time.monotonic()) > 0:
            limit = str(max(1, round(min(left, LOOK_UP) * 1000)))
            connection.execute(b"SELECT set_config('lock_timeout', %s, false)", (limit,))
            with suppress(errors.LockNotAvailable, errors.QueryCanceled):
                connection.execute(b"SELECT pg_advisory_lock(%s)", (key,))
                return True
        return False

    def _connected(self) -> "psycopg.Connection[Any] | None":
        if self._connection is not None and is_lost(self._connection):
            self._drop()
        if self._connection is None and not self._closed and time.monotonic() >= self._not_before:
            self._not_before = time.monotonic() + AGAIN
            self._connection = connect_alone(self._url)
            self._not_before = time.monotonic()
        return self._connection

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None
        self._held.clear()
