"""Takes leased rows and gets them done, in threads or step by step; everything uncertain is looked up before it is sent again."""

import logging
from collections.abc import Callable
from concurrent.futures import Executor
from datetime import datetime, timedelta
from typing import Any

from bot.delivery import backoff
from bot.delivery.messages import Messenger, NothingToSend
from bot.delivery.pace import LIMITED, PACED, Pace
from bot.delivery.requests import Requester
from bot.delivery.views import Views, lane_of
from bot.incidents.events import DeliveryBuried
from bot.intake import Inbound, Outcome
from bot.ports import SendFailed
from bot.store import Committed, EffectKind, EffectRow, Storage, StorageDown, ViewRow

log = logging.getLogger(__name__)

BATCH = 16
REQUESTS = frozenset({EffectKind.REQUEST, EffectKind.LOOK})
ELSEWHERE_CODES = frozenset({"channel_not_found", "is_archived", "not_in_channel"})


class Deliverer:
    """The use case of the outbox. `executor` None: everything is done in the caller's thread (tests, simulation).

    `fallback` is the channel to go on in when a team's own is gone.
    """

    def __init__(
        self,
        *,
        storage: Storage,
        messenger: Messenger,
        requester: Requester,
        views: Views,
        take_in: Callable[[list[Inbound]], list[Outcome]],
        clock: Callable[[], datetime],
        pace: Pace,
        fallback: Callable[[], str | None],
        executor: Executor | None = None,
        poke: Callable[[datetime], None] = lambda at: None,
    ) -> None:
        self._storage = storage
        self._messenger = messenger
        self._requester = requester
        self._views = views
        self._take_in = take_in
        self._clock = clock
        self._pace = pace
        self._fallback = fallback
        self._executor = executor
        self._poke = poke

    def dispatch(self, committed: Committed) -> None:
        """Begin what a commit left to this process at once; without an executor it waits for `step`."""
        if self._executor is not None:
            for view in committed.views:
                self._executor.submit(self._guarded, self._view, view)
            for row in committed.effects:
                self._executor.submit(self._guarded, self._effect, row)
        if committed.next_timer_at is not None:
            self._poke(committed.next_timer_at)

    def step(self, now: datetime) -> datetime | None:
        """Claim what is due and get it done (or hand it to the executor); returns when the next row is due."""
        self._storage.void_leases(now=now)
        while self._pump():
            pass
        return self._storage.next_effect_at(now=self._clock())

    def _pump(self) -> bool:
        """Claim one batch, roots first, since a root that is gone is noticed by its update; True while there may be more."""
        now = self._clock()
        views = self._storage.claim_views(now=now, limit=BATCH)
        for view in views:
            self._begin(self._view, view)
        rows = self._storage.claim_effects(now=now, limit=BATCH)
        for row in rows:
            self._begin(self._effect, row)
        return bool(views or rows)

    def _begin(self, perform: Callable[[Any], None], row: Any) -> None:
        if self._executor is None:
            self._guarded(perform, row)
        else:
            self._executor.submit(self._guarded, perform, row)

    def _guarded(self, perform: Callable[[Any], None], row: Any) -> None:
        """One row's failure is its own: it is logged, and its lease lapses so that the sweep finds it."""
        try:
            perform(row)
        except StorageDown as down:
            log.warning("database is down; the sweep will find the row", extra={"row": row.id, "error": str(down)})
        except Exception:
            log.exception("delivery failed", extra={"row": row.id})
            return
        if self._executor is not None:
            self._poke(self._clock())

    def _effect(self, row: EffectRow) -> None:
        if row.kind in REQUESTS:
            if not self._requester.perform(row):
                now = self._clock()
                self._storage.retry(id=row.id, at=now + backoff.LOOK_AFTER, uncertain=True, code="uncertain")
            return
        if row.kind is EffectKind.EMAIL:
            self._bury(row, "mail_is_off")
            return
        if row.uncertain_at is not None and self._found(row):
            return
        if not self._free("chat.postMessage", row.channel or "direct", self._pace.post, row):
            return
        if not self._storage.begin_sending(id=row.id, now=self._clock()):
            return
        try:
            result = self._messenger.send(row)
        except NothingToSend:
            result = {"sent": False}
        except SendFailed as failed:
            self._failed(row, failed)
            return
        self._storage.settle(id=row.id, result=result, now=self._clock())

    def _found(self, row: EffectRow) -> bool:
        """Look for a message that may have been sent; True when the row is done with for now."""
        now = self._clock()
        since = row.uncertain_at or now
        if now < since + backoff.LOOK_AFTER:
            self._storage.retry(id=row.id, at=since + backoff.LOOK_AFTER, uncertain=True, code="look_later")
            return True
        try:
            found = self._messenger.look(row, row.created_at or since)
        except SendFailed as failed:
            wait = backoff.wait(row.attempt, failed.retry_after)
            self._storage.retry(id=row.id, at=now + wait, uncertain=True, code=failed.code)
            return True
        if found is None:
            return False
        self._storage.settle(id=row.id, result={"ts": found, "found": True}, now=now)
        return True

    def _failed(self, row: EffectRow, failed: SendFailed) -> None:
        now = self._clock()
        log.info("not delivered", extra={"row": row.id, "key": row.key, "code": failed.code, "attempt": row.attempt})
        if failed.code in LIMITED and failed.retry_after is not None:
            until, scope = now + failed.retry_after, row.channel or "direct"
            self._storage.hold_pace(method="chat.postMessage", scope=scope, until=until + self._pace.post)
            self._storage.retry(id=row.id, at=until, uncertain=False, code=PACED)
            return
        elsewhere = self._fallback()
        if failed.code in ELSEWHERE_CODES and elsewhere and row.conversation and elsewhere != row.channel:
            self._storage.move_conversation(conversation=row.conversation, channel=elsewhere, now=now)
            self._storage.retry(id=row.id, at=now, uncertain=False, code=failed.code)
            return
        too_old = row.created_at is not None and now - row.created_at > backoff.GIVE_UP_AFTER
        if failed.permanent or too_old:
            self._bury(row, failed.code)
            return
        wait = backoff.LOOK_AFTER if failed.uncertain else backoff.wait(row.attempt + 1, failed.retry_after)
        self._storage.retry(id=row.id, at=now + wait, uncertain=failed.uncertain, code=failed.code)

    def _bury(self, row: EffectRow, code: str) -> None:
        """Give up on a row, and let the incident know."""
        now = self._clock()
        if not self._storage.bury(id=row.id, code=code, now=now):
            return
        what = str(row.content.get("kind", row.kind))
        destination = str(row.content.get("address") or row.channel or "")
        event = DeliveryBuried(destination=destination, what=what, code=code, at=now)
        occurrence = (row.record, row.number)
        self._take_in([Inbound(key=f"buried:{row.key}", event=event, occurrence=occurrence)])

    def _view(self, row: ViewRow) -> None:
        method, scope = lane_of(row)
        gap = self._pace.update if row.root_ts else self._pace.post
        now = self._clock()
        free_at = now if row.paced else self._slot(method, scope, gap, now)
        if free_at > now:
            self._storage.retry_view(id=row.id, at=free_at, uncertain=row.uncertain_at is not None, code=PACED)
            return
        self._views.show(row)

    def _free(self, method: str, scope: str, gap: timedelta, row: EffectRow) -> bool:
        """Whether the row may go now; if not, it has a slot in its lane and comes back for it."""
        now = self._clock()
        free_at = now if row.paced else self._slot(method, scope, gap, now)
        if free_at <= now:
            return True
        self._storage.retry(id=row.id, at=free_at, uncertain=False, code=PACED)
        return False

    def _slot(self, method: str, scope: str, gap: timedelta, now: datetime) -> datetime:
        return self._storage.take_pace(method=method, scope=scope, now=now, gap_us=gap // MICROSECOND)


MICROSECOND = timedelta(microseconds=1)
