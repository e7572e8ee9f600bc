"""Brings a database to this version's schema, and tells when it is at another one. The steps stand in `migrations/`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from storage.database import Database
from storage.leases import FileLock

_ADVISORY_LOCK = 7_231_604_118


class SchemaMismatch(Exception):
    """The database's schema is not the one of this version."""


def migrate(database_url: str) -> None:
    """Bring the database to this version; does nothing when it is there. Raises `SchemaMismatch` for a newer one.

    Two processes may call it at once: the second waits and finds the work done.
    """
    database = Database(database_url, limited=False)
    try:
        with database.read() as connection:
            if _stands_at(connection) == _head():
                return
        with _alone(database), database.write() as connection:
            if not database.sqlite:
                connection.execute(text("SET LOCAL lock_timeout = 0"))
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ADVISORY_LOCK})
                connection.execute(text("SET LOCAL lock_timeout = '10s'"))
            _refuse_newer(_stands_at(connection))
            config = _config()
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            connection.commit()
    finally:
        database.close()


def check_schema(database: Database) -> None:
    """Raise `SchemaMismatch` unless the database has this version's schema."""
    if database.sqlite and not database.path.exists():
        raise SchemaMismatch(f"there is no database at {database.path.name}: run `python -m bot migrate` first")
    with database.read() as connection:
        found = _stands_at(connection)
    _refuse_newer(found)
    if found != _head():
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
    return MigrationContext.configure(connection).get_current_revision()


def _refuse_newer(found: str | None) -> None:
    known = {script.revision for script in _scripts().walk_revisions()}
    if found is not None and found not in known:
        raise SchemaMismatch(
            f"the database is at version {found}, which this version of ontrack does not know: it was written by a newer "
            "one. Start that version, or restore a backup made before the upgrade."
        )


def _head() -> str | None:
    return _scripts().get_current_head()


def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(_config())


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")).replace("%", "%%"))
    return config
