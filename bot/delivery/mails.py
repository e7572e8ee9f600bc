"""Sends a mail of the outbox: rendered as things stand, named so that the same row is always the same mail. It decides nothing."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import parseaddr
from typing import Any

from bot.delivery.messages import NothingToSend
from bot.ports import Mail, MailMessage
from bot.render.mail import RenderedMail
from bot.signed import Signer
from bot.store import EffectRow

Render = Callable[[EffectRow, datetime], RenderedMail | None]
"""The mail of a row; None: there is nothing to say any more. Raises `SendFailed` where it never can be said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mailer:
    """`sender` is MAIL_FROM; `replies`: an answer to a mail is read, so that each has its own address to answer to."""

    mail: Mail
    render: Render
    signer: Signer
    sender: str
    replies: bool = False

    def send(self, row: EffectRow, now: datetime) -> Mapping[str, Any]:
        """Send once and return what to remember. Raises `SendFailed` and `NothingToSend`."""
        rendered = self.render(row, now)
        if rendered is None:
            raise NothingToSend
        local, _, domain = parseaddr(self.sender)[1].rpartition("@")
        own = f"{local}+{self.signer.mail(row.id)}@{domain}"
        answers = row.content.get("answers")
        message = MailMessage(
            key=row.key,
            message_id=f"<{own}>",
            to=str(row.content["address"]),
            subject=rendered.subject,
            text=rendered.text,
            html=rendered.html,
            references=(f"<record-{row.record}@{domain}>",) if row.record else (),
            answers=answers if isinstance(answers, str) else None,
            reply_to=own if self.replies else None,
        )
        self.mail.send(message)
        return {"message_id": message.message_id}
