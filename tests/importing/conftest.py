"""The fixtures of the world."""

from tests.world.fixtures import build_world, database, session_stage, stage, world

__all__ = ["build_world", "database", "session_stage", "stage", "world"]
