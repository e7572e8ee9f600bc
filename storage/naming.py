"""Gives violations of the database's uniqueness the names that the use cases know. Nothing else is caught here."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import IntegrityError

from bot.store import KeyTaken, StaleIncident

_UNRESOLVED = ("uq_occurrences_unresolved", "occurrences.job_id")
_SAME_OCCURRENCE = ("pk_occurrences", "occurrences.record")
_KEYS = ("uq_outbox_key", "outbox.key", "pk_reruns", "reruns.key", "uq_views_key", "views.key")


@contextmanager
def named() -> Iterator[None]:
    """Inside, a unique key that is taken raises `StaleIncident` or `KeyTaken`."""
    try:
        yield
    except IntegrityError as error:
        words = str(error.orig)
        if any(name in words for name in _UNRESOLVED):
            raise StaleIncident("the job has another unresolved occurrence") from error
        if any(name in words for name in _SAME_OCCURRENCE):
            raise StaleIncident("this occurrence was stored meanwhile") from error
        if any(name in words for name in _KEYS):
            raise KeyTaken(words.partition("\n")[0]) from error
        raise
