"""A road for each test, on each database."""

from collections.abc import Iterator

import pytest

from tests.handlers.doubles import Clock
from tests.schedulers.openlineage.road import Road, lineage_road


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def road(database_url: str, clock: Clock) -> Iterator[Road]:
    with lineage_road(database_url, clock) as made:
        yield made
