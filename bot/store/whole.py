"""The storage port as a whole: units of work, the queue, timers, the directory. No SQL, no driver.

Every method but `begin_write` is a transaction of its own.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Protocol

from bot.store.mail import MailStore
from bot.store.reads import Reads
from bot.store.rows import Committed, EffectRow, GroupRow, Lane, PersonRow, TimerRow, ViewRow
from bot.store.share import EVERYTHING, Share
from bot.store.waits import WaitStore
from bot.store.writes import UnitOfWork


class Storage(MailStore, WaitStore, Protocol):
    """The database as the use cases know it."""

    @property
    def reads(self) -> Reads: ...

    def begin_write(
        self, *, born_leased: bool, now: datetime, share: Share = EVERYTHING
    ) -> AbstractContextManager[UnitOfWork]:
        """A write transaction; leaving the block without `commit` rolls back. Only what is in `share` is born leased.

        Raises `StorageDown`.
        """

    # the queue (bot.delivery)
    def claim_effects(self, *, now: datetime, limit: int, share: Share = EVERYTHING) -> tuple[EffectRow, ...]:
        """Lease due rows of this share: by lane, a thread's in order and only once its root is there, one at a time."""

    def claim_views(self, *, now: datetime, limit: int) -> tuple[ViewRow, ...]: ...

    def begin_sending(self, *, id: int, now: datetime, lane: Lane | None = None) -> datetime | None:
        """Commit `sending` before the call (compare-and-set on our lease); None: the row is not ours any more.

        Where the lane is taken until later than `now`, the row was put back until the instant that is returned.
        """

    def begin_view(self, *, id: int, now: datetime, lane: Lane | None = None) -> datetime | None:
        """Renew our lease and count the attempt just before the call; the answer is that of `begin_sending`."""

    def settle_view(self, *, row: ViewRow, root_ts: str, now: datetime) -> Committed:
        """The message at `root_ts` shows the incident at the row's version; the first settlement writes the
        conversation's `root_ts`. What may go out next in that thread is leased and returned."""

    def retry_view(self, *, id: int, at: datetime, uncertain: bool, code: str) -> None: ...

    def move_conversation(
        self, *, conversation: int, left: tuple[str, str | None], channel: str, now: datetime
    ) -> bool:
        """Go on in `channel` with a new root, if the thread still stands at `left` (channel and root); False: it does not."""

    def settle(self, *, row: EffectRow, result: Mapping[str, Any], now: datetime) -> Committed | None:
        """The row was sent. What may go out next in its thread is leased and returned; None: it was settled before."""

    def retry(self, *, id: int, at: datetime, uncertain: bool, code: str, earlier: bool = False) -> bool:
        """Give the row back until then. `earlier`: this send surely failed, and an earlier one may have arrived."""

    def bury(self, *, id: int, code: str, now: datetime) -> bool: ...

    def hold_pace(self, *, method: str, scope: str, until: datetime) -> None:
        """Nothing of that lane before `until`: rows that have their slot earlier are moved together, in their order."""

    def release_leases(self) -> None:
        """Hand this process's leases back (clean shutdown)."""

    def void_leases(self, *, now: datetime) -> int:
        """Return rows whose lease lapsed or whose holder is gone; those that were `sending` become uncertain."""

    def next_effect_at(self, *, now: datetime, share: Share = EVERYTHING) -> datetime | None:
        """When the next row of this share, or view, becomes due (the net under direct dispatch)."""

    # timers (bot.timers)
    def due_timers(self, *, now: datetime, limit: int) -> tuple[TimerRow, ...]: ...

    def next_timer_at(self) -> datetime | None: ...

    def postpone_timer(self, *, id: int, to: datetime) -> None:
        """A poison timer steps aside."""

    # directory and policies
    def save_people(self, *, people: Sequence[PersonRow], groups: Sequence[GroupRow], now: datetime) -> None: ...

    def load_people(self) -> tuple[tuple[PersonRow, ...], tuple[GroupRow, ...]]: ...

    def publish_policies(self, *, version: str, text: str, now: datetime) -> None: ...

    def close(self) -> None: ...


class StorageDown(Exception):
    """The database cannot be reached or is busy beyond the deadline; nothing was stored."""
