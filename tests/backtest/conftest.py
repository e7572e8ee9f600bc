"""The fixtures of the world, whose past is played again."""

from tests.world.fixtures import build_world, database, session_stage, stage, world

__all__ = ["build_world", "database", "session_stage", "stage", "world"]
