"""The fixtures by which tests get a world; a package that plays in it imports them into its conftest."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

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


@pytest.fixture
def database(database_url: str) -> str:
    """A database with the schema and nothing in it: every story is told on SQLite and on PostgreSQL."""
    return database_url


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
