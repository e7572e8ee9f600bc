"""What the thread of a storm may look up: what it counts, and its rows page by page. No SQL, nothing here changes a row."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.incidents.model import Incident, Status
from bot.incidents.storm import Held


@dataclass(frozen=True, slots=True, kw_only=True)
class StormCount:
    """So many rows of a storm have this status, this cause and this team."""

    status: Status
    cause: str
    team: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StormState:
    """A storm as it stands: `last_at` is when its newest row opened, `settled_at` when the last of them was settled.

    `apart` and `since`: as the place of its newest row says. `held`: who took it, as last said, whether or not that ended.
    """

    key: str
    channel: str
    began_at: datetime
    last_at: datetime
    settled_at: datetime | None
    counts: tuple[StormCount, ...]
    apart: int = 0
    since: datetime | None = None
    held: tuple[Held, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StormRow:
    """One row; `root_ts` is its own thread's root, in `channel`, where it has one."""

    row: int
    incident: Incident
    team: str
    channel: str | None = None
    root_ts: str | None = None


class StormReads(Protocol):
    """Looks into the newest committed state. Raises `bot.store.StorageDown`."""

    def storm(self, *, key: str) -> StormState | None: ...

    def storm_held(self, *, key: str) -> tuple[Held, ...]:
        """Who took the storm, as last said, whether or not that ended; of a channel's newest storm only."""

    def storm_rows(self, *, key: str, page: int) -> tuple[StormRow, ...]:
        """The rows of a page, in order."""

    def storm_thread_of(self, *, record: int, number: int) -> tuple[str, str | None] | None:
        """Channel and root of the storm of which the occurrence is a row."""
