"""The migrated schema is the one that the tables describe, and a database of another version is told apart."""

import subprocess
import sys
import threading
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import create_engine, inspect, text

from storage.database import parse_url
from storage.migrating import SchemaMismatch, migrate
from storage.opening import open_storage
from storage.queue_tables import outbox
from tests.house.tree import ROOT

METADATA = outbox.metadata
INDEXES = {
    "sqlite": "SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL",
    "postgresql": "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename <> 'alembic_version'",
}


def execute(url: str, statement: str) -> None:
    engine = create_engine(parse_url(url))
    with engine.begin() as connection:
        connection.execute(text(statement))
    engine.dispose()


def described(url: str) -> dict[str, Any]:
    """What alembic does not compare: checks, and the exact words of every index."""
    engine = create_engine(parse_url(url))
    with engine.connect() as connection:
        inspector = inspect(connection)
        checks = {
            (table, check["name"], check["sqltext"])
            for table in METADATA.tables
            for check in inspector.get_check_constraints(table)
        }
        indexes = set(connection.execute(text(INDEXES[engine.dialect.name])).scalars())
    engine.dispose()
    return {"checks": checks, "indexes": {" ".join(index.split()) for index in indexes}}


def test_the_migrated_schema_is_that_of_the_tables(empty_url: str) -> None:
    migrate(empty_url)
    engine = create_engine(parse_url(empty_url))
    with engine.connect() as connection:
        differences = compare_metadata(
            MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True}),
            METADATA,
        )
    engine.dispose()

    assert differences == []


def test_checks_and_partial_indexes_are_those_of_the_tables(empty_url: str) -> None:
    migrate(empty_url)
    migrated = described(empty_url)
    engine = create_engine(parse_url(empty_url))
    METADATA.drop_all(engine)
    METADATA.create_all(engine)
    engine.dispose()

    assert migrated == described(empty_url)
    assert len(migrated["checks"]) >= 7
    assert len(migrated["indexes"]) >= 15


def test_migrating_again_changes_nothing(empty_url: str) -> None:
    migrate(empty_url)
    migrate(empty_url)

    storage = open_storage(empty_url, instance="web")
    assert storage.reads.jobs() == ()
    storage.close()


def test_a_file_that_is_not_there_is_refused(empty_sqlite_url: str) -> None:
    with pytest.raises(SchemaMismatch, match="no database"):
        open_storage(empty_sqlite_url, instance="web", read_only=True)


def test_a_database_that_was_never_migrated_is_refused(empty_url: str) -> None:
    execute(empty_url, "CREATE TABLE something (id INTEGER)")

    with pytest.raises(SchemaMismatch, match="bot migrate"):
        open_storage(empty_url, instance="web")


def test_a_database_of_a_newer_version_is_refused(empty_url: str) -> None:
    migrate(empty_url)
    execute(empty_url, "UPDATE alembic_version SET version_num = '9999'")

    with pytest.raises(SchemaMismatch, match=r"9999.*newer"):
        migrate(empty_url)
    with pytest.raises(SchemaMismatch, match=r"9999.*newer"):
        open_storage(empty_url, instance="web")


def test_a_migration_that_fails_leaves_nothing(empty_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    execute(empty_url, "CREATE TABLE timers (id INTEGER)")

    with pytest.raises(Exception, match="timers"):
        migrate(empty_url)

    engine = create_engine(parse_url(empty_url))
    with engine.connect() as connection:
        tables = inspect(connection).get_table_names()
    engine.dispose()
    assert tables == ["timers"]


def test_several_threads_may_migrate_at_once(empty_url: str) -> None:
    failures: list[BaseException] = []

    def work() -> None:
        try:
            migrate(empty_url)
        except BaseException as failure:  # noqa: BLE001 whatever it is, the test must see it
            failures.append(failure)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []


def test_two_processes_may_migrate_at_once(empty_url: str) -> None:
    command = [sys.executable, "-c", f"from storage.migrating import migrate; migrate({empty_url!r})"]
    processes = [subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE) for _ in range(2)]

    assert [process.communicate()[1] for process in processes] == [b"", b""]
    assert [process.returncode for process in processes] == [0, 0]
