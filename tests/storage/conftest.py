"""One storage a test, on each database that is served; the databases are real and temporary."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from storage.migrating import migrate
from storage.opening import SqlStorage, open_storage

Open = Callable[..., SqlStorage]


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with the schema and nothing in it."""
    file = tmp_path_factory.mktemp("template") / "ontrack.db"
    migrate(f"sqlite:///{file}")
    return file


@pytest.fixture
def sqlite_url(tmp_path: Path, migrated_file: Path) -> str:
    """A SQLite database with the schema and nothing in it."""
    file = tmp_path / "ontrack.db"
    shutil.copyfile(migrated_file, file)
    return f"sqlite:///{file}"


@pytest.fixture(params=["sqlite"])
def database_url(request: pytest.FixtureRequest) -> str:
    """A database with the schema and nothing in it; "postgresql" joins here, with a fixture of its own."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@pytest.fixture
def open_again(database_url: str) -> Iterator[Open]:
    """Opens the database, as often as a test wants; everything is closed at the end."""
    opened: list[SqlStorage] = []

    def opens(*, instance: str = "web", read_only: bool = False) -> SqlStorage:
        opened.append(open_storage(database_url, instance=instance, read_only=read_only))
        return opened[-1]

    yield opens
    for one in opened:
        one.close()


@pytest.fixture
def storage(open_again: Open) -> SqlStorage:
    return open_again()
