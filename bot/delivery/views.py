"""Shows an occurrence's newest state in its root message: posted once, then updated in place. It decides nothing."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from bot.delivery import backoff
from bot.delivery.pace import LIMITED, PACED, Pace
from bot.ports import Chat, ChatMessage, SendFailed
from bot.render.root import root
from bot.render.snapshot import Snapshot
from bot.store import Committed, Lane, Storage, ViewRow

log = logging.getLogger(__name__)

GONE = frozenset({"message_not_found", "cant_update_message", "edit_window_closed", "is_inactive", "block_mismatch"})
CHANNEL_GONE = frozenset({"channel_not_found", "is_archived", "not_in_channel"})


def lane_of(row: ViewRow) -> tuple[str, str]:
    """The lane of the view's next call, as method and scope: posts are paced by channel, updates in the workspace."""
    return ("chat.update", "") if row.root_ts else ("chat.postMessage", row.channel)


class Views:
    """Renders and sends views; a lost root is posted once more, a lost channel is left for the fallback."""

    def __init__(
        self,
        *,
        storage: Storage,
        chat: Chat,
        snapshot_of: Callable[[int, int, str | None], Snapshot | None],
        clock: Callable[[], datetime],
        pace: Pace,
        fallback: Callable[[], str | None],
    ) -> None:
        self._pace = pace
        self._storage = storage
        self._chat = chat
        self._snapshot_of = snapshot_of
        self._clock = clock
        self._fallback = fallback

    def show(self, row: ViewRow) -> Committed | datetime | None:
        """Post the root or bring it up to date, and settle the view at the version that was rendered.

        Returns what follows in the thread, or the row's slot when its turn is later; None: the next claim must see.
        """
        now = self._clock()
        begun_at = self._storage.begin_view(id=row.id, now=now, lane=self._lane(row))
        if begun_at is None:
            return Committed()
        if begun_at > now:
            return begun_at
        snapshot = self._snapshot_of(row.record, row.number, None)
        if snapshot is None:
            log.error("a view of an unknown occurrence", extra={"view": row.id})
            return None
        rendered = root(snapshot)
        message = ChatMessage(key=row.key, text=rendered.text, blocks=rendered.blocks)
        try:
            ts = row.root_ts or self._posted_before(row)
            if ts is None:
                ts = self._chat.post(channel=row.channel, message=message)
            else:
                self._chat.update(channel=row.channel, ts=ts, message=message)
        except SendFailed as failed:
            self._failed(row, failed)
            return None
        return self._storage.settle_view(row=row, root_ts=ts, now=self._clock())

    def _lane(self, row: ViewRow) -> Lane | None:
        """The lane in which the row must find a slot; None where it has one, or none is needed."""
        gap = self._gap(row)
        if row.paced or not gap:
            return None
        method, scope = lane_of(row)
        return Lane(method=method, scope=scope, gap=gap)

    def _gap(self, row: ViewRow) -> timedelta:
        return self._pace.update if row.root_ts else self._pace.post

    def _posted_before(self, row: ViewRow) -> str | None:
        """A root that may have been posted is looked for before it is posted again."""
        if row.uncertain_at is None:
            return None
        return self._chat.find(
            channel=row.channel, key=row.key, thread_ts=None, since=row.created_at or row.uncertain_at
        )

    def _failed(self, row: ViewRow, failed: SendFailed) -> None:
        now = self._clock()
        log.info("root not shown", extra={"view": row.id, "code": failed.code, "attempt": row.attempt})
        if failed.code in LIMITED and failed.retry_after is not None:
            self._limited(row, now + failed.retry_after)
            return
        if failed.code in GONE and row.root_ts is not None:
            self._storage.move_conversation(conversation=row.conversation, channel=row.channel, now=now)
            return
        elsewhere = self._fallback()
        if failed.code in CHANNEL_GONE and elsewhere and elsewhere != row.channel:
            self._storage.move_conversation(conversation=row.conversation, channel=elsewhere, now=now)
            return
        wait = backoff.LOOK_AFTER if failed.uncertain else backoff.wait(row.attempt + 1, failed.retry_after)
        if failed.permanent:
            wait = max(wait, backoff.LONGEST)
        uncertain = row.root_ts is None and (failed.uncertain or row.uncertain_at is not None)
        self._storage.retry_view(id=row.id, at=now + wait, uncertain=uncertain, code=failed.code)

    def _limited(self, row: ViewRow, until: datetime) -> None:
        """The row keeps its turn, as the first of its lane when that goes on."""
        method, scope = lane_of(row)
        self._storage.hold_pace(method=method, scope=scope, until=until + self._gap(row))
        self._storage.retry_view(id=row.id, at=until, uncertain=row.uncertain_at is not None, code=PACED)
