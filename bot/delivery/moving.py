"""Leaves a channel that cannot be written to for the fallback channel, and a thread whose root is gone for a new one.

It must not send anything: the views and notes of the conversation go on by themselves where it stands then.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from bot.incidents.events import ThreadMoved
from bot.intake import Inbound, Outcome
from bot.store import EffectRow, Storage, ViewRow

log = logging.getLogger(__name__)

CHANNEL_GONE = frozenset(
    {
        "channel_not_found",
        "is_archived",
        "not_in_channel",
        "restricted_action",
        "restricted_action_non_threadable_channel",
        "restricted_action_read_only_channel",
        "restricted_action_thread_only_channel",
    }
)
"""Nothing of ours can be written there until a person mends it: archived, made private, closed to us, the bot removed."""

ROOT_GONE = frozenset(
    {"message_not_found", "cant_update_message", "edit_window_closed", "is_inactive", "block_mismatch"}
)
"""The root was deleted, or can be edited no more."""

THREAD_GONE = frozenset(
    {"thread_not_found", "message_not_found", "cannot_reply_to_message", "restricted_action_thread_locked"}
)
"""No reply can be added under that root."""

ThreadUrl = Callable[[str, str], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mover:
    """`fallback` is the channel to go on in when a team's own is gone; `thread_url` makes a message's address.

    A storm's messages are no single occurrence's: they move without a word in any thread.
    """

    storage: Storage
    take_in: Callable[[list[Inbound]], list[Outcome]]
    fallback: Callable[[], str | None]
    thread_url: ThreadUrl = lambda channel, ts: None

    def to_fallback(self, row: EffectRow | ViewRow, code: str, now: datetime) -> bool:
        """Whether the row's thread goes on elsewhere, with a link back; False: its channel is there, or there is no other."""
        elsewhere = self.fallback()
        if code not in CHANNEL_GONE or not elsewhere or row.channel is None or elsewhere == row.channel:
            return False
        if row.conversation is None:
            return False
        in_a_storm = isinstance(row, ViewRow) and row.storm is not None
        if self._moved(row, elsewhere, now) and not in_a_storm:
            url = self.thread_url(row.channel, row.root_ts) if row.root_ts else None
            event = ThreadMoved(left=row.channel, to=elsewhere, url=url, code=code, at=now)
            key = f"moved:{row.conversation}:{row.channel}:{row.root_ts or '-'}"
            self.take_in([Inbound(key=key, event=event, occurrence=(row.record, row.number))])
        return True

    def to_new_root(self, row: EffectRow | ViewRow, code: str, now: datetime) -> bool:
        """Whether the thread begins anew in its channel; False: it has no root, or that is not what is wrong."""
        gone = ROOT_GONE if isinstance(row, ViewRow) else THREAD_GONE
        if code not in gone or row.root_ts is None or row.channel is None or row.conversation is None:
            return False
        self._moved(row, row.channel, now)
        return True

    def _moved(self, row: EffectRow | ViewRow, channel: str, now: datetime) -> bool:
        """False where the thread has left that place already, or the row has none."""
        if row.conversation is None or row.channel is None:
            return False
        left = (row.channel, row.root_ts)
        moved = self.storage.move_conversation(conversation=row.conversation, left=left, channel=channel, now=now)
        if moved:
            log.warning(
                "a thread goes on elsewhere",
                extra={"record": row.record, "number": row.number, "left": row.channel, "channel": channel},
            )
        return moved
