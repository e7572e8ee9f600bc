"""A fake Maestro, emptied for each test, and what asks it."""

from collections.abc import Iterator

import pytest

from tests.maestro.fake.server import Maestro, a_maestro
from tests.schedulers.maestro.asker import Asker


@pytest.fixture(scope="package")
def served() -> Iterator[Maestro]:
    with a_maestro() as maestro:
        yield maestro


@pytest.fixture
def maestro(served: Maestro) -> Maestro:
    served.emptied()
    return served


@pytest.fixture
def asker(maestro: Maestro) -> Iterator[Asker]:
    asker = Asker(maestro)
    yield asker
    asker.scheduler.close()
