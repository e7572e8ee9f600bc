"""The fixtures by which tests get a world; a package that plays in it imports them into its conftest."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from storage.migrating import migrate
from tests.world.stage import Stage, opened_stage
from tests.world.world import World

Build = Callable[..., World]


@pytest.fixture(scope="session")
def session_stage() -> Iterator[Stage]:
    with opened_stage() as stage:
        yield stage


@pytest.fixture
def stage(session_stage: Stage) -> Stage:
    session_stage.reset()
    return session_stage


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with the schema and nothing in it."""
    file = tmp_path_factory.mktemp("template") / "ontrack.db"
    migrate(f"sqlite:///{file}")
    return file


@pytest.fixture(params=["sqlite"])
def database(request: pytest.FixtureRequest, tmp_path: Path, migrated_file: Path) -> str:
    """A database with the schema and nothing in it; "postgresql" joins here, with a server of its own."""
    assert request.param == "sqlite"
    file = tmp_path / "ontrack.db"
    shutil.copyfile(migrated_file, file)
    return f"sqlite:///{file}"


@pytest.fixture
def build_world(stage: Stage, database: str, tmp_path: Path) -> Iterator[Build]:
    """Makes the test's world, with other policies or another pace where it wants them."""
    made: list[World] = []

    def build(**settings: object) -> World:
        made.append(World(stage, database, tmp_path, **settings))  # type: ignore[arg-type]
        return made[-1]

    yield build
    for world in made:
        world.close()


@pytest.fixture
def world(build_world: Build) -> World:
    return build_world()
