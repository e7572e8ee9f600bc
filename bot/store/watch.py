"""The part of the storage port about who is there: sources that were heard, and ontrack itself. No SQL."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from bot.incidents.absence import Absence


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRow:
    """A source: when it was heard last (None: never), from when on its silence counts, since when it is silent."""

    name: str
    watched_from: datetime
    heard_at: datetime | None = None
    silent_since: datetime | None = None

    @property
    def quiet_since(self) -> datetime:
        """Nothing was heard of it after this instant, or nobody was there to hear it."""
        return max(filter(None, (self.watched_from, self.heard_at)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """What deadlines are looked at with: our last absence, sources that are silent, and when others spoke again."""

    absence: Absence | None = None
    silent: frozenset[str] = frozenset()
    spoke_at: Mapping[str, datetime] = field(default_factory=dict)


class WatchStore(Protocol):
    """Every method is a transaction of its own. Raises `StorageDown`."""

    def be_there(self, *, now: datetime, longest: timedelta) -> Absence | None:
        """Write down that ontrack is there. An absence of more than `longest` is kept and returned, and the silence of
        sources counts from its end on."""

    def heard(self, *, at: dict[str, datetime]) -> None:
        """These sources were heard then; an earlier instant than the one that is known changes nothing."""

    def watch_sources(self, *, names: Collection[str], now: datetime) -> None:
        """The silence of these sources counts from now on, unless they are known."""

    def sources(self) -> tuple[SourceRow, ...]: ...

    def mark_silent(self, *, name: str, since: datetime) -> None: ...

    def mark_heard(self, *, name: str, now: datetime) -> None:
        """It is silent no more."""

    def absences(self, *, since: datetime) -> tuple[Absence, ...]:
        """Those that ended after that, the oldest first."""
