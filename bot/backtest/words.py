"""To which occurrence of a replay a word belongs that was said about one of history. It looks, and changes nothing."""

from collections.abc import Iterable

from bot.backtest.history import Looks, PastOccurrence, TakenIn
from bot.incidents.model import UNRESOLVED

_LIVING = frozenset(str(status) for status in UNRESOLVED)


class Counterparts:
    """`known` are history's occurrences of the stretch that is played; the same trouble is opened at the same instant."""

    def __init__(self, known: Iterable[PastOccurrence], replayed: Looks) -> None:
        self._known = {(one.record, one.number): one for one in known}
        self._replayed = replayed

    def of(self, told: TakenIn) -> tuple[int, int] | None:
        """Record and number in the replay; None: there is none to which the word could apply."""
        about, job = told.record.about, told.record.of
        if about is None or job is None:
            return None
        there = self._replayed.occurrences_of(job)
        past = self._known.get(about)
        same = next((one for one in there if past is not None and one.opened_at == past.opened_at), None)
        living = next((one for one in there if one.status in _LIVING), None)
        found = same or living
        return (found.record, found.number) if found is not None else None
