"""Databases for tests: real, temporary, with the schema and nothing in them. What they are used for is not known here.

`tests/conftest.py` hands these fixtures to every test. The server is started by the first test of a process that asks for
PostgreSQL; each test has a copy of a migrated database of its own.
"""

import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import psycopg
import pytest

from storage.migrating import migrate
from tests.postgres import USER, running_postgres, url_of

TEMPLATE = "migrated"


class PostgresServer:
    """A running server that copies and drops databases."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self._admin = psycopg.connect(host=str(place), user=USER, dbname="postgres", autocommit=True)
        self._numbers = count(1)
        migrate(self._create(TEMPLATE, template="template0"))

    def new_database(self, *, migrated: bool = True) -> str:
        """The URL of a database that nobody else has."""
        return self._create(f"test_{next(self._numbers)}", template=TEMPLATE if migrated else "template0")

    def drop(self, url: str) -> None:
        """Remove the database, whoever is still connected to it."""
        name = url.partition("@/")[2].partition("?")[0]
        self._admin.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())

    def close(self) -> None:
        self._admin.close()

    def _create(self, name: str, *, template: str) -> str:
        self._admin.execute(f'CREATE DATABASE "{name}" TEMPLATE {template} STRATEGY file_copy'.encode())
        return url_of(self.place, name)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    with running_postgres() as place:
        server = PostgresServer(place)
        yield server
        server.close()


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with the schema and nothing in it."""
    file = tmp_path_factory.mktemp("template") / "ontrack.db"
    migrate(f"sqlite:///{file}")
    return file


@pytest.fixture
def sqlite_url(tmp_path: Path, migrated_file: Path) -> str:
    file = tmp_path / "ontrack.db"
    shutil.copyfile(migrated_file, file)
    return f"sqlite:///{file}"


@pytest.fixture
def postgresql_url(postgres_server: PostgresServer) -> Iterator[str]:
    url = postgres_server.new_database()
    yield url
    postgres_server.drop(url)


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """A database of each kind in turn: who asks for it is run on both."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@pytest.fixture
def empty_sqlite_url(tmp_path: Path) -> str:
    """A name of a file that is not there yet."""
    return f"sqlite:///{tmp_path}/new%40.db"


@pytest.fixture
def empty_postgresql_url(postgres_server: PostgresServer) -> Iterator[str]:
    """A database without the schema."""
    url = postgres_server.new_database(migrated=False)
    yield url
    postgres_server.drop(url)


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request: pytest.FixtureRequest) -> str:
    """A database of each kind in turn that was never migrated."""
    url: str = request.getfixturevalue(f"empty_{request.param}_url")
    return url
