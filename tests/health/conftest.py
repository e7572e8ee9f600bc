"""A company for every story about job health; and a website of its own."""

from collections.abc import Iterator

import pytest

from tests.handlers.doubles import Clock
from tests.pages.site import Site, site
from tests.world.fixtures import build_world, database, session_stage, stage, world

__all__ = ["build_world", "database", "session_stage", "stage", "world"]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def both(database_url: str, clock: Clock) -> Iterator[Site]:
    with site(database_url, clock) as made:
        yield made
