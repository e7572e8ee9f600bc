"""Gives up on a row of the outbox, and lets its incident know, if it has one. It sends nothing."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from bot.incidents.events import DeliveryBuried
from bot.incidents.policy import Door
from bot.intake import Inbound, Outcome
from bot.store import EffectRow, Storage

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Burier:
    storage: Storage
    take_in: Callable[[list[Inbound]], list[Outcome]]

    def bury(self, row: EffectRow, code: str, now: datetime) -> None:
        if not self.storage.bury(id=row.id, code=code, now=now):
            return
        if not row.record:
            log.error(
                "a message of ontrack itself was given up on", extra={"row": row.id, "key": row.key, "code": code}
            )
            return
        event = DeliveryBuried(
            destination=str(row.content.get("address") or row.channel or ""),
            what=str(row.content.get("kind", row.kind)),
            code=code,
            at=now,
            door=Door(row.content.get("door", Door.CHANNEL)),
            since=row.created_at,
        )
        occurrence = (row.record, row.number)
        self.take_in([Inbound(key=f"buried:{row.key}", event=event, occurrence=occurrence)])
