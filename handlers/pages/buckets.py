"""Token buckets in memory: how often one caller may do something. It must not know what, nor who is behind a key."""

import threading
from collections import OrderedDict
from datetime import datetime, timedelta

MOST_KEYS = 4096


class Buckets:
    """A bucket a key, `burst` tokens full, refilled by one `each`; the keys that were used last are remembered."""

    def __init__(self, *, burst: int, each: timedelta) -> None:
        self._burst = burst
        self._each = each
        self._full_at: OrderedDict[str, datetime] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, key: str, now: datetime) -> timedelta | None:
        """Take a token; None when there was one, else how long it takes until there is."""
        with self._lock:
            full_at = max(self._full_at.get(key, now), now) + self._each
            wait = full_at - now - self._burst * self._each
            if wait > timedelta():
                return wait
            self._full_at[key] = full_at
            self._full_at.move_to_end(key)
            while len(self._full_at) > MOST_KEYS:
                self._full_at.popitem(last=False)
            return None
