"""When each source was heard last, as this process knows it. In memory only: somebody else writes it down now and then."""

from collections.abc import Iterable
from datetime import datetime
from threading import Lock


class Heard:
    """Safe among threads; noting costs no I/O."""

    def __init__(self) -> None:
        self._at: dict[str, datetime] = {}
        self._lock = Lock()

    def note(self, sources: Iterable[str], at: datetime) -> None:
        """Something came of these sources."""
        with self._lock:
            for name in sources:
                self._at[name] = at

    def taken(self) -> dict[str, datetime]:
        """What was noted since the last time that it was asked for."""
        with self._lock:
            taken, self._at = self._at, {}
        return taken

    def put_back(self, taken: dict[str, datetime]) -> None:
        """It could not be written down; what was noted since is later."""
        with self._lock:
            self._at = taken | self._at
