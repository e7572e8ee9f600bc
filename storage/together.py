"""Opens what the processes of one database have to do with each other: on SQLite there is one, which leads and wakes nobody."""

from collections.abc import Callable
from datetime import timedelta

from bot.store.together import NOT_AT_ALL, Hints, Leader
from storage.database import parse_url
from storage.hints import NoHints, PostgresHints
from storage.locks import LockSession, key_of

_LEADERSHIP = key_of("clock leader")


class SoleLeader:
    """The one process of a SQLite database."""

    def __init__(self) -> None:
        self._leads = False

    def try_lead(self, *, wait: timedelta = NOT_AT_ALL) -> bool:
        self._leads = True
        return True

    @property
    def lost(self) -> bool:
        return not self._leads

    def resign(self) -> None:
        self._leads = False


class LockLeader:
    """Leads while its session holds the lock; the database frees it the moment that the session ends."""

    def __init__(self, session: LockSession) -> None:
        self._session = session

    def try_lead(self, *, wait: timedelta = NOT_AT_ALL) -> bool:
        return self._session.take(_LEADERSHIP, wait=wait)

    @property
    def lost(self) -> bool:
        return not self._session.holds(_LEADERSHIP)

    def resign(self) -> None:
        self._session.close()


def open_leader(url: str) -> Leader:
    """Takes no lock yet, and connects only when it is told to lead."""
    parsed = parse_url(url)
    return SoleLeader() if parsed.get_backend_name() == "sqlite" else LockLeader(LockSession(parsed))


def open_hints(url: str, *, woken: Callable[[], None]) -> Hints:
    """`woken` is called in a thread of its own and must return soon; at the beginning, and after an interruption, it is
    called once for what may have been missed.
    """
    parsed = parse_url(url)
    return NoHints() if parsed.get_backend_name() == "sqlite" else PostgresHints(parsed, woken)
