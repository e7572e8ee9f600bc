"""Brings a database to this version's schema, and tells when it is at another one. The steps stand in `migrations/`."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, inspect, text

from storage.database import Database
from storage.leases import FileLock

HEAD = "0012"
"""The last step of `migrations/`, so that a start that has none to take needs no alembic."""
_ADVISORY_LOCK = 7_231_604_118
_VERSIONS = "alembic_version"
_STANDS_AT = text(f"SELECT version_num FROM {_VERSIONS}")


class SchemaMismatch(Exception):
    """The database's schema is not the one of this version."""


def migrate(database_url: str) -> None:
    """Bring the database to this version; does nothing when it is there. Raises `SchemaMismatch` for a newer one.

    Two processes may call it at once: the second waits and finds the work done.
    """
    database = Database(database_url, limited=False)
    try:
        with database.read() as connection:
            if _stands_at(connection) == HEAD:
                return
        from storage import upgrading  # noqa: PLC0415 a start that has no step to take does without alembic

        with _alone(database), database.write() as connection:
            if not database.sqlite:
                connection.execute(text("SET LOCAL lock_timeout = 0"))
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ADVISORY_LOCK})
                connection.execute(text("SET LOCAL lock_timeout = '10s'"))
            _refuse_newer(_stands_at(connection), known=upgrading.steps())
            upgrading.upgrade(connection)
            connection.commit()
    finally:
        database.close()


def check_schema(database: Database) -> None:
    """Raise `SchemaMismatch` unless the database has this version's schema."""
    if database.sqlite and not database.path.exists():
        raise SchemaMismatch(f"there is no database at {database.path.name}: run `python -m bot migrate` first")
    with database.read() as connection:
        found = _stands_at(connection)
    if found != HEAD:
        from storage import upgrading  # noqa: PLC0415 only what refuses the database needs to know the steps

        _refuse_newer(found, known=upgrading.steps())
        raise SchemaMismatch(f"the database is at version {found or 'none'}: run `python -m bot migrate` first")


@contextmanager
def _alone(database: Database) -> Iterator[None]:
    if not database.sqlite:
        yield
        return
    lock = FileLock(database.path)
    lock.take(wait=True)
    try:
        yield
    finally:
        lock.release()


def _stands_at(connection: Connection) -> str | None:
    if not inspect(connection).has_table(_VERSIONS):
        return None
    found: str | None = connection.execute(_STANDS_AT).scalar_one_or_none()
    return found


def _refuse_newer(found: str | None, *, known: Collection[str]) -> None:
    if found is not None and found not in known:
        raise SchemaMismatch(
            f"the database is at version {found}, which this version of ontrack does not know: it was written by a newer "
            "one. Start that version, or restore a backup made before the upgrade."
        )
