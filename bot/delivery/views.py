"""Shows an occurrence's newest state in its root message: posted once, then updated in place. It decides nothing."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from bot.delivery import backoff
from bot.delivery.moving import Mover
from bot.delivery.pace import LIMITED, PACED, Pace
from bot.ports import Chat, ChatMessage, SendFailed
from bot.render.rendered import Rendered
from bot.render.root import root
from bot.render.snapshot import Snapshot
from bot.render.storm import StormPage, StormRoot, storm_page, storm_root
from bot.store import Committed, Lane, Storage, ViewRow

log = logging.getLogger(__name__)

SPREAD = 30
"""So many pages of a storm come again one after the other, not all at once."""


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
        mover: Mover,
        storm_of: Callable[[str], StormRoot | None],
        storm_page_of: Callable[[str, int], StormPage | None],
    ) -> None:
        self._storm_of = storm_of
        self._storm_page_of = storm_page_of
        self._pace = pace
        self._storage = storage
        self._chat = chat
        self._snapshot_of = snapshot_of
        self._clock = clock
        self._mover = mover

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
        rendered = self._rendered(row)
        if rendered is None:
            log.error("a view of something unknown", extra={"view": row.id})
            return None
        message = ChatMessage(
            key=row.key,
            text=rendered.text,
            blocks=rendered.blocks,
            richer=rendered.richer,
            thread_ts=row.thread_ts if row.root_ts is None else None,
        )
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

    def _rendered(self, row: ViewRow) -> Rendered | None:
        if row.storm is not None and row.page:
            page = self._storm_page_of(row.storm, row.page)
            return storm_page(page) if page is not None else None
        if row.storm is not None:
            storm = self._storm_of(row.storm)
            return storm_root(storm) if storm is not None else None
        snapshot = self._snapshot_of(row.record, row.number, None)
        return root(snapshot) if snapshot is not None else None

    def _lane(self, row: ViewRow) -> Lane | None:
        """The lane in which the row must find a slot; None where it has one, or none is needed.

        The pages of a storm give way to everything else.
        """
        gap = self._gap(row)
        if row.paced or not gap:
            return None
        method, scope = lane_of(row)
        aside = gap * (1 + row.page % SPREAD) if row.page else None
        return Lane(method=method, scope=scope, gap=gap, gives_way=aside)

    def _gap(self, row: ViewRow) -> timedelta:
        return self._pace.update if row.root_ts else self._pace.post

    def _posted_before(self, row: ViewRow) -> str | None:
        """A root that may have been posted is looked for before it is posted again."""
        if row.uncertain_at is None:
            return None
        return self._chat.find(
            channel=row.channel, key=row.key, thread_ts=row.thread_ts, since=row.created_at or row.uncertain_at
        )

    def _failed(self, row: ViewRow, failed: SendFailed) -> None:
        now = self._clock()
        log.info("root not shown", extra={"view": row.id, "code": failed.code, "attempt": row.attempt})
        if failed.code in LIMITED and failed.retry_after is not None:
            self._limited(row, now + failed.retry_after)
            return
        if self._mover.to_new_root(row, failed.code, now) or self._mover.to_fallback(row, failed.code, now):
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
