"""The directory of people as this process knows it: the leader reads the workspace, the others what it stored."""

from collections.abc import Callable
from datetime import datetime, timedelta

from bot.directory import DirectoryRefresher
from bot.people import People
from bot.store import Storage

FOLLOWED_EVERY = timedelta(seconds=15)
FIRST_FOLLOWED_EVERY = timedelta(seconds=1)


class FollowedDirectory:
    """`people` is the snapshot of this process, replaced whole; reading it never waits."""

    def __init__(self, *, refresher: DirectoryRefresher, storage: Storage, leads: Callable[[], bool]) -> None:
        self._refresher = refresher
        self._storage = storage
        self._leads = leads
        self._people = refresher.people()

    def people(self) -> People:
        return self._people

    def step(self, now: datetime) -> datetime | None:
        """Refresh the table where this process leads, else read it again; returns when to do so next."""
        if self._leads():
            again = self._refresher.step(now)
            self._people = self._refresher.people()
            return again
        people, groups = self._storage.load_people()
        self._people = People(people=people, groups=groups)
        return now + (FOLLOWED_EVERY if people else FIRST_FOLLOWED_EVERY)
