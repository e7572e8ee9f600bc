"""The workshop of the local scheduler, new for each test, and the world for the stories."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.schedulers.shop import Shop
from tests.world.fixtures import build_world, database, session_stage, stage

__all__ = ["build_world", "database", "session_stage", "shop", "stage"]


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    shop = Shop(root=tmp_path)
    yield shop
    shop.close()
