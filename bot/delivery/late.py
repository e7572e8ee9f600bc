"""Notices that asks do not reach their thread, and tells their incidents, so that they go by mail; and tells the admins
that the chat refuses us. It asks nobody itself.
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bot.incidents.events import DeliveryLate
from bot.incidents.keys import JobKey
from bot.incidents.policy import JobPolicy
from bot.intake import Inbound, Outcome
from bot.render.mail import Fault, content_of
from bot.store import LateAsk, NewMail, Storage

log = logging.getLogger(__name__)

REFUSED_FOR_GOOD = {
    "account_inactive": "The app was removed from the workspace: install it again and give ontrack its new token.",
    "invalid_auth": "The token in SLACK_BOT_TOKEN opens nothing: copy it anew from the app's OAuth & Permissions page.",
    "missing_scope": "The token lacks a permission: `python -m bot doctor` names it; add it and reinstall the app.",
    "not_authed": "No token arrives: copy it anew from the app's OAuth & Permissions page into SLACK_BOT_TOKEN.",
    "org_login_required": "The workspace is being moved to an organisation: nothing can be written until that is done.",
    "token_expired": "The token has expired: switch token rotation off, reinstall the app, and set SLACK_BOT_TOKEN anew.",
    "token_revoked": "The token was revoked: reinstall the app and copy its new token into SLACK_BOT_TOKEN.",
}
"""The chat's words that no waiting mends, and what does."""

NEVER_THERE = "slack_is_off"
BATCH = 500
AGAIN = timedelta(seconds=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class LateAsks:
    """`admins`: the addresses at which they are reached, without those that are broken; `written`: a mail waits to be sent."""

    storage: Storage
    take_in: Callable[[list[Inbound]], list[Outcome]]
    policy_of: Callable[[JobKey], JobPolicy]
    admins: Callable[[], Iterable[str]]
    written: Callable[[], None] = lambda: None

    def step(self, now: datetime) -> datetime | None:
        """Make known what is late by now; returns when to look again, None where nothing waits."""
        self._tell_admins(now)
        waiting = self.storage.late_asks(before=now, limit=BATCH)
        due = [(self._due_at(ask), ask) for ask in waiting]
        for due_at, ask in due:
            if due_at <= now:
                self._make_known(ask, now)
        later = [due_at for due_at, _ in due if due_at > now]
        if not waiting:
            return None
        return min([now + AGAIN, *later])

    def _due_at(self, ask: LateAsk) -> datetime:
        written_at = ask.row.created_at or ask.row.due_at
        if ask.code in REFUSED_FOR_GOOD or ask.code == NEVER_THERE:
            return written_at
        return written_at + self.policy_of(ask.row.job).chase.mail_after

    def _make_known(self, ask: LateAsk, now: datetime) -> None:
        row = ask.row
        log.warning("an ask is late", extra={"row": row.id, "key": row.key, "code": ask.code})
        event = DeliveryLate(
            destination=row.channel or "",
            what=str(row.content["kind"]),
            code=ask.code,
            since=row.created_at or row.due_at,
            at=now,
        )
        self.take_in([Inbound(key=f"late:{row.key}", event=event, occurrence=(row.record, row.number))])
        self.storage.mark_late(id=row.id, now=now)

    def _tell_admins(self, now: datetime) -> None:
        """Once a trouble and day."""
        said = sorted(self.storage.said_of_waiting(codes=REFUSED_FOR_GOOD.keys()))
        addresses = dict.fromkeys(self.admins()) if said else ()
        new = [self.storage.put_mail(_fault(code, address, now), now=now) for code in said for address in addresses]
        if any(new):
            self.written()


def _fault(code: str, address: str, now: datetime) -> NewMail:
    day = now.astimezone(UTC).date().isoformat()
    fault = Fault(lines=(REFUSED_FOR_GOOD[code],), code=code, since=now)
    return NewMail(key=f"slack:{code}:{day}:{address.lower()}", address=address, content=content_of(fault), due_at=now)
