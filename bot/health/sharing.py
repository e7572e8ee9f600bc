"""That an answer is shared once: whoever claims its name first, across processes and crashes. It must not send anything."""

from datetime import datetime

from bot.store import StaleIncident, Storage


class Shares:
    """Claims names in the ledger, in which every word that was taken in is remembered."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def claim(self, name: str, *, now: datetime) -> bool:
        """Whether this is the first claim of the name. Raises `StorageDown`."""
        key = f"shared:{name}"
        if self._storage.reads.outcomes(keys=[key]):
            return False
        try:
            with self._storage.begin_write(born_leased=False, now=now) as uow:
                uow.remember_outcome(key=key, outcome={"told": "shared"}, at=now)
                uow.commit()
        except StaleIncident:
            return False
        return True
