"""Connections to SQLite or PostgreSQL: one way to begin a write, one way to read. Knows no table.

On SQLite a lock of this process orders the writers, so that nobody meets "database is locked"; readers go beside them.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, QueuePool, create_engine, event, make_url
from sqlalchemy.exc import InterfaceError, InternalError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from bot.store import StaleIncident, StorageDown
from storage import postgres

BUSY = 10.0
READERS = 16

_WRITER = ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON")
_READER = ("query_only=ON",)


class Database:
    """Both kinds of connections to one database."""

    def __init__(self, url: str, *, read_only: bool = False, limited: bool = True) -> None:
        """`limited` False: statements may take as long as they need (PostgreSQL)."""
        self.url = parse_url(url)
        self.sqlite = self.url.get_backend_name() == "sqlite"
        self.read_only = read_only
        self._turn = threading.Lock()
        self._here = threading.local()
        if self.sqlite:
            self.writer = _sqlite_engine(self.url, begin="BEGIN IMMEDIATE", size=1, pragmas=_WRITER)
            self._reader = _sqlite_engine(self.url, begin="BEGIN", size=READERS, pragmas=_READER)
        else:
            self.writer = postgres.pooled(self.url, wait=BUSY, limited=limited)
            self._reader = postgres.pooled(self.url, wait=BUSY, read_only=True)

    @property
    def path(self) -> Path:
        """The file of a SQLite database."""
        return Path(self.url.database or "")

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A write transaction, rolled back unless the caller commits it.

        Raises `StorageDown`, or `StaleIncident` where the database ended it because of another: begin again.
        """
        if self.read_only:
            raise RuntimeError("this storage was opened for reading only")
        with self._my_turn(), _translated(), self.writer.connect() as connection:
            connection.begin()
            yield connection

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """A short write transaction that commits at the end of the block; raises `StorageDown`."""
        try:
            with self.write() as connection:
                yield connection
                connection.commit()
        except StaleIncident as conflict:
            raise StorageDown(str(conflict)) from conflict

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """One consistent picture of the committed state; reads inside the block share it. Raises `StorageDown`."""
        shared: Connection | None = getattr(self._here, "reads", None)
        if shared is not None:
            yield shared
            return
        with _translated(), self._reader.connect() as connection:
            self._here.reads = connection
            try:
                yield connection
            finally:
                self._here.reads = None

    def close(self) -> None:
        self.writer.dispose()
        self._reader.dispose()

    @contextmanager
    def _my_turn(self) -> Iterator[None]:
        if getattr(self._here, "writes", False):
            raise RuntimeError("this thread has a write transaction open already")
        if self.sqlite and not self._turn.acquire(timeout=BUSY):
            raise StorageDown(f"no turn to write within {BUSY:.0f} s")
        self._here.writes = True
        try:
            yield
        finally:
            self._here.writes = False
            if self.sqlite:
                self._turn.release()


def parse_url(url: str) -> URL:
    """The URL with the driver that is ours; raises `ValueError` for a database that is not supported."""
    parsed = make_url(url)
    match parsed.get_backend_name():
        case "sqlite":
            if not parsed.database or parsed.database == ":memory:":
                raise ValueError("SQLite needs a file, such as sqlite:///ontrack.db")
            return parsed.set(drivername="sqlite+pysqlite")
        case "postgresql" | "postgres":
            return parsed.set(drivername="postgresql+psycopg")
        case other:
            raise ValueError(f"{other} is not supported: use sqlite:///file or postgresql://...")


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (OperationalError, InterfaceError, InternalError, PoolTimeout) as error:
        if postgres.is_conflict(error):
            raise StaleIncident(_reason(error)) from error
        raise StorageDown(_reason(error)) from error


def _reason(error: SQLAlchemyError) -> str:
    return str(getattr(error, "orig", None) or error).partition("\n")[0]


def _sqlite_engine(url: URL, *, begin: str, size: int, pragmas: tuple[str, ...]) -> Engine:
    """Transactions begin as we say, not when the driver guesses that a statement writes.

    Only the writer, of which there is one, turns the write-ahead log on (for good, in the file): two that do it at once
    are told that the database is locked, whatever their timeout.
    """
    engine = create_engine(
        url,
        poolclass=QueuePool,
        pool_size=size,
        max_overflow=0,
        connect_args={"check_same_thread": False, "isolation_level": None, "timeout": BUSY},
    )

    @event.listens_for(engine, "connect")
    def _prepare(driver_connection: Any, _record: Any) -> None:
        for pragma in pragmas:
            driver_connection.execute(f"PRAGMA {pragma}").close()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine
