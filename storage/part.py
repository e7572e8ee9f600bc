"""What every part of the storage stands on: the database and the name under which this process holds leases."""

from storage.database import Database
from storage.leases import Holders


class Part:
    """A part of the storage; parts share one database and one holder."""

    def __init__(self, database: Database, holders: Holders) -> None:
        self._database = database
        self._holders = holders

    @property
    def _me(self) -> str | None:
        return self._holders.me
