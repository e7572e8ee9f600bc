"""The fixtures of the world, and the post office that stands in it."""

import pytest

from tests.replies.post import Post
from tests.world.fixtures import build_world, database, session_stage, stage, world
from tests.world.world import World

__all__ = ["build_world", "database", "post", "session_stage", "stage", "world"]


@pytest.fixture
def post(world: World) -> Post:
    return Post(world=world)
