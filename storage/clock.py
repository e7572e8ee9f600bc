"""The time as the database server tells it. It compares nothing."""

from datetime import datetime

from storage.database import Database


class DatabaseClock:
    """Tells the time of a PostgreSQL server, on a connection of its own."""

    def __init__(self, url: str) -> None:
        self._database = Database(url, read_only=True)

    def __call__(self) -> datetime:
        """Raises `bot.store.StorageDown`."""
        with self._database.read() as connection:
            told: datetime = connection.exec_driver_sql("SELECT clock_timestamp()").scalar_one()
        return told

    def close(self) -> None:
        self._database.close()
