"""Maestro's clock is the world's: two that show the same instant without being told. It reads no other."""

from datetime import datetime

from tests.maestro.fake.records import Clock
from tests.world.clock import Clock as WorldClock


class OneClock(Clock):
    """Moves the world's."""

    def __init__(self, world: WorldClock) -> None:
        self.world = world

    @property
    def now(self) -> datetime:
        return self.world.now

    @now.setter
    def now(self, at: datetime) -> None:
        self.world.now = at
