"""A site for each test; `web` is on SQLite, `both` on each database in turn."""

from collections.abc import Iterator

import pytest

from tests.handlers.doubles import Clock
from tests.pages.site import Site, site


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def web(sqlite_url: str, clock: Clock) -> Iterator[Site]:
    with site(sqlite_url, clock) as made:
        yield made


@pytest.fixture
def both(database_url: str, clock: Clock) -> Iterator[Site]:
    with site(database_url, clock) as made:
        yield made
