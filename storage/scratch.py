"""A database that nobody else sees, for a replay: made, filled and thrown away. Nothing of it is worth waiting for a disk."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import event

from storage.database import Database
from storage.leases import SoleHolder
from storage.migrating import migrate
from storage.opening import SqlStorage

_CARELESS = ("synchronous=OFF", "foreign_keys=OFF", "cache_size=-65536", "temp_store=MEMORY")


@contextmanager
def scratch_storage() -> Iterator[SqlStorage]:
    """An empty storage on a file of its own, gone at the end of the block."""
    with TemporaryDirectory(prefix="ontrack-backtest-") as folder:
        file = Path(folder) / "replay.db"
        url = f"sqlite:///{file}"
        migrate(url)
        database = Database(url)
        _be_careless(database)
        storage = SqlStorage(database, SoleHolder(instance="backtest", lock=None))
        try:
            yield storage
        finally:
            storage.close()


def _be_careless(database: Database) -> None:
    @event.listens_for(database.writer, "connect")
    def _prepare(driver_connection: Any, _record: Any) -> None:
        for pragma in _CARELESS:
            driver_connection.execute(f"PRAGMA {pragma}").close()
