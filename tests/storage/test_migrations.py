"""The migrated schema is the one that the tables describe, and a database of another version is told apart."""

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import create_engine, inspect, text

from storage.migrating import SchemaMismatch, migrate
from storage.opening import open_storage
from storage.queue_tables import outbox
from tests.house.tree import ROOT

METADATA = outbox.metadata


@pytest.fixture
def empty(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/new%40.db"


def execute(url: str, statement: str) -> None:
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text(statement))
    engine.dispose()


def described(url: str) -> dict[str, Any]:
    """What alembic does not compare: checks, and the exact words of every index."""
    engine = create_engine(url)
    with engine.connect() as connection:
        inspector = inspect(connection)
        checks = {
            (table, check["name"], check["sqltext"])
            for table in METADATA.tables
            for check in inspector.get_check_constraints(table)
        }
        indexes = set(
            connection.execute(text("SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"))
        )
    engine.dispose()
    return {"checks": checks, "indexes": {" ".join(row.sql.split()) for row in indexes}}


def test_the_migrated_schema_is_that_of_the_tables(empty: str) -> None:
    migrate(empty)
    engine = create_engine(empty)
    with engine.connect() as connection:
        differences = compare_metadata(
            MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True}),
            METADATA,
        )
    engine.dispose()

    assert differences == []


def test_checks_and_partial_indexes_are_those_of_the_tables(empty: str, tmp_path: Path) -> None:
    migrate(empty)
    made = f"sqlite:///{tmp_path}/made.db"
    engine = create_engine(made)
    METADATA.create_all(engine)
    engine.dispose()

    assert described(empty) == described(made)
    assert len(described(made)["checks"]) >= 7


def test_migrating_again_changes_nothing(empty: str) -> None:
    migrate(empty)
    migrate(empty)

    storage = open_storage(empty, instance="web")
    assert storage.reads.jobs() == ()
    storage.close()


def test_a_database_that_was_never_migrated_is_refused(empty: str, tmp_path: Path) -> None:
    with pytest.raises(SchemaMismatch, match="no database"):
        open_storage(empty, instance="web", read_only=True)

    bare = f"sqlite:///{tmp_path}/bare.db"
    execute(bare, "CREATE TABLE something (id INTEGER)")
    with pytest.raises(SchemaMismatch, match="bot migrate"):
        open_storage(bare, instance="web")


def test_a_database_of_a_newer_version_is_refused(empty: str) -> None:
    migrate(empty)
    execute(empty, "UPDATE alembic_version SET version_num = '9999'")

    with pytest.raises(SchemaMismatch, match=r"9999.*newer"):
        migrate(empty)
    with pytest.raises(SchemaMismatch, match=r"9999.*newer"):
        open_storage(empty, instance="web")


def test_a_migration_that_fails_leaves_nothing(empty: str, monkeypatch: pytest.MonkeyPatch) -> None:
    execute(empty, "CREATE TABLE timers (id INTEGER)")

    with pytest.raises(Exception, match="timers"):
        migrate(empty)

    engine = create_engine(empty)
    with engine.connect() as connection:
        tables = inspect(connection).get_table_names()
    engine.dispose()
    assert tables == ["timers"]


def test_several_threads_may_migrate_at_once(empty: str) -> None:
    failures: list[BaseException] = []

    def work() -> None:
        try:
            migrate(empty)
        except BaseException as failure:  # noqa: BLE001 whatever it is, the test must see it
            failures.append(failure)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []


def test_two_processes_may_migrate_at_once(empty: str) -> None:
    command = [sys.executable, "-c", f"from storage.migrating import migrate; migrate({empty!r})"]
    processes = [subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE) for _ in range(2)]

    assert [process.communicate()[1] for process in processes] == [b"", b""]
    assert [process.returncode for process in processes] == [0, 0]
