"""The races on each database: on PostgreSQL among processes, on SQLite among the threads of the one process."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.databases import PostgresServer
from tests.races.racing import Races, written

Record = Callable[[str, object], None]
ORDERS = int(os.environ.get("RACE_ORDERS", "60"))
"""So many orders of a race are played at most; a race that has no more is played in every one (300: nearly all of them)."""


@pytest.fixture
def race_of_processes(postgres_server: PostgresServer, record_property: Record) -> Iterator[Races]:
    """A race on PostgreSQL: every actor may be another process."""

    @contextmanager
    def new_database() -> Iterator[str]:
        url = postgres_server.new_database()
        try:
            yield url
        finally:
            postgres_server.drop(url)

    races = Races(new_database, limit=ORDERS)
    yield races
    _told(races, record_property)


@pytest.fixture
def race_of_threads(migrated_file: Path, tmp_path: Path, record_property: Record) -> Iterator[Races]:
    """A race on SQLite, where one process has all the actors."""

    @contextmanager
    def new_database() -> Iterator[str]:
        file = tmp_path / "ontrack.db"
        shutil.copyfile(migrated_file, file)
        yield f"sqlite:///{file}"
        for left in tmp_path.glob("ontrack.db*"):
            left.unlink()

    races = Races(new_database, limit=ORDERS)
    yield races
    _told(races, record_property)


@pytest.fixture(params=["processes", "threads"])
def race(request: pytest.FixtureRequest) -> Races:
    """A race on each database in turn."""
    races: Races = request.getfixturevalue(f"race_of_{request.param}")
    return races


def _told(races: Races, record_property: Record) -> None:
    record_property("orders", races.played)
    record_property("every_order", races.complete)
    print(
        f"{races.played} orders, {'every one' if races.complete else 'a sample'}; the last one:\n{written(races.last)}"
    )
