"""Works the mails of the outbox: begin, send, settle; what may have arrived is sent once more at most, and an address that
leads nowhere is marked. It decides nothing.
"""

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.delivery import backoff
from bot.delivery.burying import Burier
from bot.delivery.mails import Mailer
from bot.delivery.messages import NothingToSend
from bot.delivery.refusals import RecipientRefused
from bot.ports import SendFailed
from bot.store import BrokenAddress, Committed, EffectRow, Storage

log = logging.getLogger(__name__)

OFF = "mail_is_off"
_NO_SUCH_ADDRESS = re.compile(r"5\.1\.(?![78]$)\d{1,3}|5\.2\.1")
"""RFC 3463: what is wrong with the recipient's address; 5.1.7 and 5.1.8 speak of the sender's. 5.2.1: it is disabled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MailRows:
    """`mailer` None: no mail server is set up, so that every row is given up on at once and the ladder goes on without."""

    storage: Storage
    burier: Burier
    clock: Callable[[], datetime]
    mailer: Mailer | None

    def perform(self, row: EffectRow) -> Committed | None:
        """What follows; None: the next claim must see what is left."""
        now = self.clock()
        if self.mailer is None:
            self.burier.bury(row, OFF, now)
            return None
        if row.uncertain_at is not None and row.resent:
            return self._unknown(row, "no_answer", now)
        if row.uncertain_at is not None and now < row.uncertain_at + backoff.LOOK_AFTER:
            self.storage.retry(id=row.id, at=row.uncertain_at + backoff.LOOK_AFTER, uncertain=True, code="look_later")
            return None
        if self.storage.begin_sending(id=row.id, now=now) is None:
            return Committed()
        result: Mapping[str, Any]
        try:
            result = self.mailer.send(row, now)
        except NothingToSend:
            result = {"sent": False}
        except SendFailed as failed:
            return self._failed(row, failed)
        return self.storage.settle(row=row, result=result, now=self.clock())

    def _failed(self, row: EffectRow, failed: SendFailed) -> Committed | None:
        now = self.clock()
        notes = "; ".join(getattr(failed, "__notes__", ()))
        fields = {"row": row.id, "key": row.key, "code": failed.code, "attempt": row.attempt, "why": notes}
        log.info("a mail was not sent", extra=fields)
        earlier = row.uncertain_at is not None
        if failed.uncertain and earlier:
            return self._unknown(row, failed.code, now)
        too_old = row.created_at is not None and now - row.created_at > backoff.GIVE_UP_AFTER
        if failed.permanent or (too_old and not earlier):
            if leads_nowhere(failed):
                address = BrokenAddress(address=str(row.content["address"]), status=failed.code, since=now)
                self.storage.break_address(address)
            self.burier.bury(row, failed.code, now)
            return None
        if too_old:
            return self._unknown(row, failed.code, now)
        wait = backoff.LOOK_AFTER if failed.uncertain else backoff.wait(row.attempt + 1, failed.retry_after)
        self.storage.retry(
            id=row.id, at=now + wait, uncertain=failed.uncertain or earlier, code=failed.code, earlier=earlier
        )
        return None

    def _unknown(self, row: EffectRow, code: str, now: datetime) -> Committed | None:
        """It may have arrived twice; a third one would help nobody."""
        log.warning("whether a mail arrived is not known", extra={"row": row.id, "key": row.key, "code": code})
        return self.storage.settle(row=row, result={"sent": "unknown", "code": code}, now=now)


def leads_nowhere(failed: SendFailed) -> bool:
    """Nothing will arrive at that address, whatever is sent."""
    return isinstance(failed, RecipientRefused) or _NO_SUCH_ADDRESS.fullmatch(failed.code) is not None
