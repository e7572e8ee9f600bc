"""The directory of people as this process knows it: the leader reads the workspace, the others what it stored."""

from collections.abc import Callable
from datetime import datetime, timedelta

from bot.directory import DirectoryRefresher, broken_in, loaded
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
        self._people = loaded(self._storage, now)
        return now + (FOLLOWED_EVERY if self._people.read_at is not None else FIRST_FOLLOWED_EVERY)

    def read_broken(self, now: datetime) -> None:
        """An address was marked, or mended: whoever is asked from now on is asked elsewhere, or there again."""
        self._people = self._people.with_broken(broken_in(self._storage, now))
