"""Wake-ups between the processes of one PostgreSQL database. Nothing depends on them: a lost one costs a wait for the sweep.

A hint is sent after the commit, on a connection of its own and at most one every 5 ms, since NOTIFY inside transactions
makes their commits wait for each other.
"""

import logging
import secrets
import select
import socket
import threading
from collections.abc import Callable
from typing import Any

import psycopg
from sqlalchemy import URL

from storage.postgres import connect_alone

CHANNEL = "ontrack_due"
GAP = 0.005
AGAIN = 1.0

log = logging.getLogger(__name__)


class NoHints:
    """The one process of a SQLite database has nobody to wake."""

    def hint(self) -> None:
        return

    def close(self) -> None:
        return


class PostgresHints:
    """Two threads: one tells the other processes, one listens for what they tell."""

    def __init__(self, url: URL, woken: Callable[[], None]) -> None:
        self._me = secrets.token_hex(8)
        self._teller = Teller(url, self._me)
        self._listener = Listener(url, self._me, woken)

    def hint(self) -> None:
        self._teller.hint()

    def close(self) -> None:
        self._teller.close()
        self._listener.close()


class Teller:
    """Sends hints; those that come while one is under way, or too soon after it, become one."""

    def __init__(self, url: URL, me: str) -> None:
        self._url = url
        self._me = me
        self._wanted = threading.Event()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="hints", daemon=True)
        self._thread.start()

    def hint(self) -> None:
        self._wanted.set()

    def close(self) -> None:
        self._closing.set()
        self._wanted.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._closing.is_set():
            try:
                with connect_alone(self._url) as connection:
                    self._tell(connection)
            except psycopg.Error as lost:
                log.warning("hints cannot be sent", extra={"error": str(lost)})
                self._closing.wait(AGAIN)

    def _tell(self, connection: "psycopg.Connection[Any]") -> None:
        while True:
            self._wanted.wait()
            if self._closing.is_set():
                return
            self._wanted.clear()
            try:
                connection.execute(b"SELECT pg_notify(%s, %s)", (CHANNEL, self._me))
            except psycopg.Error:
                self._wanted.set()
                raise
            self._closing.wait(GAP)


class Listener:
    """Calls `woken` for every hint of another process, and after each time that it may have missed one."""

    def __init__(self, url: URL, me: str, woken: Callable[[], None]) -> None:
        self._url = url
        self._me = me
        self._woken = woken
        self._here, self._there = socket.socketpair()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="listener", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._closing.set()
        self._there.send(b"!")
        self._thread.join()
        self._here.close()
        self._there.close()

    def _run(self) -> None:
        while not self._closing.is_set():
            try:
                with connect_alone(self._url) as connection:
                    connection.execute(f"LISTEN {CHANNEL}".encode())
                    self._woken()
                    self._listen(connection)
            except psycopg.Error as lost:
                log.warning("hints cannot be heard", extra={"error": str(lost)})
                self._closing.wait(AGAIN)

    def _listen(self, connection: "psycopg.Connection[Any]") -> None:
        poll = select.poll()
        poll.register(connection.fileno(), select.POLLIN)
        poll.register(self._here, select.POLLIN)
        while True:
            poll.poll()
            if self._closing.is_set():
                return
            if any(note.payload != self._me for note in connection.notifies(timeout=0)):
                self._woken()
