"""The databases that are measured: a SQLite file, and a PostgreSQL server of our own. It measures nothing."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from uuid import uuid4

import psycopg

from tests.postgres import USER, running_postgres, url_of

SQLITE, POSTGRESQL = "sqlite", "postgresql"
HOW = {
    SQLITE: {"db": SQLITE, "durable": "WAL, synchronous=full"},
    POSTGRESQL: {"db": POSTGRESQL, "durable": "fsync off, on a memory file system"},
}


class Databases:
    """Hands out empty databases; the server starts with the first PostgreSQL one."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._place: Path | None = None

    def new(self, kind: str, folder: Path) -> str:
        """The URL of a database that is used once."""
        if kind == SQLITE:
            return f"sqlite:///{folder}/{uuid4().hex}.db"
        if self._place is None:
            self._place = self._stack.enter_context(running_postgres())
        name = f"bench_{uuid4().hex[:8]}"
        with psycopg.connect(host=str(self._place), user=USER, dbname="postgres", autocommit=True) as admin:
            admin.execute(f'CREATE DATABASE "{name}"'.encode())
        return url_of(self._place, name)


@contextmanager
def databases(folder: Path) -> Iterator[Databases]:
    """The databases of one measurement; everything is gone afterwards."""
    with ExitStack() as stack:
        yield Databases(stack)
    shutil.rmtree(folder, ignore_errors=True)
