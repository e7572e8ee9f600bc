"""The part of the storage port that keeps what a run wrote by `/log` until the run has ended. No SQL."""

from datetime import datetime, timedelta
from typing import Protocol


class PingStore(Protocol):
    """Every method is a transaction of its own. Raises `StorageDown`."""

    def keep_log(self, *, job: str, run_id: str, text: str, at: datetime) -> None:
        """Keep a piece of the run's log."""

    def kept_log(self, *, job: str, run_id: str) -> str:
        """All pieces of the run's log in the order in which they came, with line ends between them."""

    def prune_logs(self, *, now: datetime, lasts: timedelta) -> int:
        """Drop what is older."""
