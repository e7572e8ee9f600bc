"""A fake Maestro, new for each test; and the one that `MAESTRO_URL` names, where it names one."""

import os
from collections.abc import Iterator

import pytest

from tests.maestro.fake.server import Maestro
from tests.maestro.played import Played, play
from tests.maestro.target import Target
from tests.world.fixtures import Build, build_world, database, session_stage, stage

__all__ = ["build_world", "database", "session_stage", "stage"]


@pytest.fixture
def maestro() -> Iterator[Maestro]:
    maestro = Maestro()
    yield maestro
    maestro.close()


@pytest.fixture(params=["fake", "live"])
def target(request: pytest.FixtureRequest) -> Iterator[Target]:
    """The same suite for both: what the fake does is what a server does."""
    if request.param == "live":
        url = os.environ.get("MAESTRO_URL")
        if not url:
            pytest.skip("MAESTRO_URL names no live Maestro: only the fake was asked")
        target = Target(url, live=True)
        yield target
        target.close()
        return
    maestro = Maestro()
    target = Target(maestro.url, live=False)
    yield target
    target.close()
    maestro.close()


@pytest.fixture
def played(build_world: Build, maestro: Maestro) -> Played:
    return play(build_world, maestro)
