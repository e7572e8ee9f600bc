"""What Maestro lets be asked of an instance in which status: its own table, read now and then, else the one that is known.

It must not make an ask fail: without Maestro's word the known table holds.
"""

import threading
from collections.abc import Mapping
from datetime import datetime, timedelta

from bot.ports import Clock
from bot.schedulers.maestro.client import MaestroClient
from bot.wire.exchange import NoAnswer, NotSent, Refused, Unwell

ASK_AGAIN_AFTER = timedelta(minutes=30)
WITHIN = timedelta(seconds=5)
KNOWN: Mapping[str, frozenset[str]] = {
    "CREATED": frozenset({"STOP", "KILL"}),
    "IN_PROGRESS": frozenset({"STOP", "KILL"}),
    "PAUSED": frozenset({"STOP", "KILL"}),
    "TIMED_OUT": frozenset({"RESTART"}),
    "STOPPED": frozenset({"RESTART"}),
    "SUCCEEDED": frozenset({"RESTART"}),
    "FAILED": frozenset({"RESTART", "UNBLOCK"}),
}


class Allowed:
    """Safe to use from many threads at once."""

    def __init__(self, client: MaestroClient, *, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._lock = threading.Lock()
        self._told: Mapping[str, frozenset[str]] = KNOWN
        self._asked_at: datetime | None = None

    def may(self, action: str, status: str) -> bool:
        return action in self._current().get(status, frozenset())

    def _current(self) -> Mapping[str, frozenset[str]]:
        now = self._clock()
        with self._lock:
            fresh = self._asked_at is not None and now - self._asked_at < ASK_AGAIN_AFTER
            self._asked_at = self._asked_at if fresh else now
            told = self._told
        return told if fresh else self._asked(told)

    def _asked(self, otherwise: Mapping[str, frozenset[str]]) -> Mapping[str, frozenset[str]]:
        try:
            with self._client.within(WITHIN):
                told = self._client.action_map()
        except (Refused, Unwell, NotSent, NoAnswer):
            return otherwise
        with self._lock:
            self._told = told or otherwise
            return self._told
