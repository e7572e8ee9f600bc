"""What a mail system's report of a mail of ours leads to: the address is broken, and the record learns of it.

It believes a report only about a mail that we sent, to the address that we sent it to.
"""

from collections.abc import Iterable
from datetime import datetime

from bot.incidents.events import DeliveryBuried
from bot.incidents.policy import Door
from bot.intake import Inbound
from bot.mail import Bounce, BounceKind
from bot.replies.known import Notices
from bot.replies.links import TakeIn
from bot.store import BrokenAddress, EffectRow, Storage

NO_CODE = "bounced"


class Bounced:
    """Takes reports in; a mail that is only delayed is no news."""

    def __init__(self, *, storage: Storage, notices: Notices, take_in: TakeIn) -> None:
        self._storage = storage
        self._notices = notices
        self._take_in = take_in

    def take(self, bounces: Iterable[Bounce], now: datetime) -> None:
        """Mark the addresses, then tell their records, which ask nobody there any more; to do so again changes nothing."""
        for bounce in bounces:
            row = self._sent_to(bounce)
            if row is None:
                continue
            code = bounce.status or NO_CODE
            self._storage.break_address(BrokenAddress(address=bounce.recipient, status=code, since=now))
            if row.record:
                self._tell(row, bounce.recipient, code, now)

    def _sent_to(self, bounce: Bounce) -> EffectRow | None:
        if bounce.kind is not BounceKind.HARD or bounce.token is None:
            return None
        row = self._notices.row_of(bounce.token)
        if row is None or str(row.content.get("address", "")).lower() != bounce.recipient.lower():
            return None
        return row

    def _tell(self, row: EffectRow, address: str, code: str, now: datetime) -> None:
        event = DeliveryBuried(
            destination=address,
            what=str(row.content.get("kind", "")),
            code=code,
            at=now,
            door=Door.EMAIL,
            since=row.created_at,
        )
        key = f"bounce:{row.id}:{address.lower()}"
        self._take_in([Inbound(key=key, event=event, occurrence=(row.record, row.number))])
