"""Takes a database back to what it held, under the connections that are open to it. It knows no row of it.

That is an order of magnitude faster than a database of its own for every order, and leaves no more behind.
"""

import sqlite3
from typing import Any, Protocol

import psycopg

from storage.tables import metadata

_SEQUENCES = (
    "SELECT schemaname || '.' || sequencename, coalesce(last_value, 1), last_value IS NOT NULL FROM pg_sequences"
)


class Rewind(Protocol):
    """A database as it was when this was made."""

    def go_back(self) -> None: ...

    def close(self) -> None: ...


def rewind_of(url: str) -> Rewind:
    if url.startswith("sqlite"):
        return SqliteRewind(url.removeprefix("sqlite:///"))
    return PostgresRewind(url)


class PostgresRewind:
    """Keeps a copy of each table beside it."""

    def __init__(self, url: str) -> None:
        self._connection: psycopg.Connection[Any] = psycopg.connect(url, autocommit=True)
        tables = [table.name for table in metadata.sorted_tables]
        self._run("CREATE SCHEMA kept", *(f"CREATE TABLE kept.{name} AS TABLE {name}" for name in tables))
        numbers = self._connection.execute(_SEQUENCES.encode()).fetchall()
        self._script = [
            "BEGIN",
            "SET LOCAL session_replication_role = replica",
            *(f"DELETE FROM {name}" for name in tables),
            *(f"INSERT INTO {name} OVERRIDING SYSTEM VALUE TABLE kept.{name}" for name in tables),
            *(f"SELECT setval('{name}', {last}, {called})" for name, last, called in numbers),
            "COMMIT",
        ]

    def go_back(self) -> None:
        self._run(*self._script)

    def close(self) -> None:
        self._connection.close()

    def _run(self, *statements: str) -> None:
        self._connection.execute("; ".join(statements).encode())


class SqliteRewind:
    """Keeps a copy of the file in memory."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._kept = sqlite3.connect(":memory:")
        self._copy(to=self._kept)

    def go_back(self) -> None:
        file = sqlite3.connect(self._path)
        self._kept.backup(file)
        file.close()

    def close(self) -> None:
        self._kept.close()

    def _copy(self, *, to: sqlite3.Connection) -> None:
        file = sqlite3.connect(self._path)
        file.backup(to)
        file.close()
