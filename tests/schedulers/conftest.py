"""The workshop of the local scheduler, new for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.schedulers.shop import Shop


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    shop = Shop(root=tmp_path)
    yield shop
    shop.close()
