"""Takes leased rows and gets them done, in threads or step by step; everything uncertain is looked up before it is sent again."""

import logging
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor
from datetime import datetime
from typing import Any

from bot.delivery import backoff
from bot.delivery.burying import Burier
from bot.delivery.mail_rows import MailRows
from bot.delivery.mails import Mailer
from bot.delivery.messages import Messenger, NothingToSend
from bot.delivery.moving import CHANNEL_GONE, Mover
from bot.delivery.pace import LIMITED, PACED, Pace
from bot.delivery.requests import Requester
from bot.delivery.views import Views
from bot.intake import Inbound, Outcome
from bot.ports import SendFailed
from bot.store import EVERYTHING, Committed, EffectKind, EffectRow, Lane, Share, Storage, StorageDown, ViewRow
from bot.store.share import REQUESTS

log = logging.getLogger(__name__)

BATCH = 16
NOTHING = Committed()


class Deliverer:
    """The use case of the outbox. `executor` None: everything is done in the caller's thread (tests, simulation).

    `roots` sends the first message of each thread, so that it waits behind no other; without it the executor does. `share`
    is this process's part of the outbox just now. `mailer` None: no mail server is set up.
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
        mover: Mover,
        mailer: Mailer | None = None,
        executor: Executor | None = None,
        roots: Executor | None = None,
        poke: Callable[[datetime], None] = lambda at: None,
        share: Callable[[], Share] = lambda: EVERYTHING,
    ) -> None:
        self._storage = storage
        self._messenger = messenger
        self._requester = requester
        self._views = views
        self._clock = clock
        self._pace = pace
        self._mover = mover
        self._burier = Burier(storage=storage, take_in=take_in)
        self._mails = MailRows(storage=storage, burier=self._burier, clock=clock, mailer=mailer)
        self._executor = executor
        self._roots = roots or executor
        self._poke = poke
        self._share = share
        self._begun: deque[tuple[Callable[[Any], Committed | None], Any]] = deque()

    def dispatch(self, committed: Committed) -> None:
        """Begin what a commit leased to this process at once; without an executor it is done by the next `step`."""
        for view in committed.views:
            self._begin_view(view)
        for row in committed.effects:
            self._begin(self._effect, row, self._executor)
        if committed.more:
            self._poke(self._clock())

    def step(self, now: datetime) -> datetime | None:
        """Claim what is due and get it done (or hand it to the executor); returns when the next row is due."""
        self._storage.void_leases(now=now)
        share = self._share()
        while self._pump(share):
            pass
        return self._storage.next_effect_at(now=self._clock(), share=share)

    def _pump(self, share: Share) -> bool:
        """Claim one batch, roots first, since a root that is gone is noticed by its update; True while there may be more."""
        now = self._clock()
        views = self._storage.claim_views(now=now, limit=BATCH) if share.only is None else ()
        for view in views:
            self._begin_view(view)
        self._do_here()
        rows = self._storage.claim_effects(now=now, limit=BATCH, share=share)
        for row in rows:
            self._begin(self._effect, row, self._executor)
        self._do_here()
        return bool(views or rows)

    def _do_here(self) -> None:
        """Without an executor: do what was begun, and what follows it."""
        while self._begun:
            self._guarded(*self._begun.popleft())

    def _begin_view(self, view: ViewRow) -> None:
        self._begin(self._view, view, self._executor if view.root_ts else self._roots)

    def _begin(self, perform: Callable[[Any], Committed | None], row: Any, executor: Executor | None) -> None:
        if executor is None:
            self._begun.append((perform, row))
        else:
            executor.submit(self._guarded, perform, row)

    def _guarded(self, perform: Callable[[Any], Committed | None], row: Any) -> None:
        """One row's failure is its own: it is logged, and its lease lapses so that the sweep finds it."""
        try:
            left = perform(row)
        except StorageDown as down:
            log.warning("database is down; the sweep will find the row", extra={"row": row.id, "error": str(down)})
            left = None
        except Exception:
            log.exception("delivery failed", extra={"row": row.id})
            return
        if left is not None:
            self.dispatch(left)
        elif self._executor is not None:
            self._poke(self._clock())

    def _effect(self, row: EffectRow) -> Committed | None:
        """What follows in the row's thread; None: the next claim must see what is left."""
        if row.kind in REQUESTS:
            if not self._requester.perform(row):
                now = self._clock()
                self._storage.retry(id=row.id, at=now + backoff.LOOK_AFTER, uncertain=True, code="uncertain")
            return None
        if row.kind is EffectKind.EMAIL:
            return self._mails.perform(row)
        if row.uncertain_at is not None:
            known, left = self._looked(row)
            if known:
                return left
        now = self._clock()
        begun_at = self._storage.begin_sending(id=row.id, now=now, lane=self._lane(row))
        if begun_at is None:
            return NOTHING
        if begun_at > now:
            self._poke(begun_at)
            return NOTHING
        try:
            result = self._messenger.send(row, now)
        except NothingToSend:
            result = {"sent": False}
        except SendFailed as failed:
            self._failed(row, failed)
            return None
        return self._storage.settle(row=row, result=result, now=self._clock())

    def _lane(self, row: EffectRow) -> Lane | None:
        """The lane in which the row must find a slot; None where it has one, or none is needed."""
        if row.paced or not self._pace.post:
            return None
        return Lane(method="chat.postMessage", scope=row.channel or "direct", gap=self._pace.post)

    def _looked(self, row: EffectRow) -> tuple[bool, Committed | None]:
        """Look for a message that may have been sent; False when it was not, so that it is to be sent now."""
        now = self._clock()
        since = row.uncertain_at or now
        if now < since + backoff.LOOK_AFTER:
            self._storage.retry(id=row.id, at=since + backoff.LOOK_AFTER, uncertain=True, code="look_later")
            return True, None
        try:
            found = self._messenger.look(row, row.created_at or since)
        except SendFailed as failed:
            wait = backoff.wait(row.attempt, failed.retry_after)
            self._storage.retry(id=row.id, at=now + wait, uncertain=True, code=failed.code)
            return True, None
        if found is None:
            return False, None
        return True, self._storage.settle(row=row, result={"ts": found, "found": True}, now=now)

    def _failed(self, row: EffectRow, failed: SendFailed) -> None:
        now = self._clock()
        log.info("not delivered", extra={"row": row.id, "key": row.key, "code": failed.code, "attempt": row.attempt})
        if failed.code in LIMITED and failed.retry_after is not None:
            until, scope = now + failed.retry_after, row.channel or "direct"
            self._storage.hold_pace(method="chat.postMessage", scope=scope, until=until + self._pace.post)
            self._storage.retry(id=row.id, at=until, uncertain=False, code=PACED)
            return
        if row.conversation is not None and self._moves(row, failed.code, now):
            self._storage.retry(id=row.id, at=now, uncertain=False, code=failed.code)
            return
        too_old = row.created_at is not None and now - row.created_at > backoff.GIVE_UP_AFTER
        waits_for_its_channel = row.conversation is not None and failed.code in CHANNEL_GONE
        if (failed.permanent and not waits_for_its_channel) or too_old:
            self._burier.bury(row, failed.code, now)
            return
        wait = backoff.LOOK_AFTER if failed.uncertain else backoff.wait(row.attempt + 1, failed.retry_after)
        self._storage.retry(id=row.id, at=now + wait, uncertain=failed.uncertain, code=failed.code)

    def _moves(self, row: EffectRow, code: str, now: datetime) -> bool:
        """Whether the row's thread goes on elsewhere."""
        return self._mover.to_fallback(row, code, now) or self._mover.to_new_root(row, code, now)

    def _view(self, row: ViewRow) -> Committed | None:
        left = self._views.show(row)
        if isinstance(left, datetime):
            self._poke(left)
            return NOTHING
        return left
