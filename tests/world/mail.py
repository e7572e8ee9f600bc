"""The mail system around the product: what it sent, what it may read, and people who answer. Nothing here decides.

The mailbox holds bytes as a receiving server left them, its verdict on the sender on top.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from email.message import EmailMessage

from bot.ports import ArrivedMail, MailboxDown, MailMessage, SendFailed

SENDER = "ontrack@bot.example.com"
AUTHSERV_ID = "mx.example.com"


@dataclass(slots=True)
class FakeMail:
    """Port `Mail`: keeps what it took. `fails` is raised by the next sends, one each; `refuses` names dead addresses."""

    sent: list[MailMessage] = field(default_factory=list)
    fails: list[SendFailed] = field(default_factory=list)
    refuses: set[str] = field(default_factory=set)

    def send(self, message: MailMessage) -> None:
        if self.fails:
            raise self.fails.pop(0)
        if message.to in self.refuses:
            raise SendFailed("5.1.1", permanent=True)
        self.sent.append(message)

    def to(self, address: str) -> list[MailMessage]:
        return [message for message in self.sent if message.to == address]

    def last_to(self, address: str) -> MailMessage:
        return self.to(address)[-1]


@dataclass(slots=True)
class FakeMailbox:
    """Port `Mailbox`: lies in memory and never waits. While `down` it cannot be read."""

    validity: int = 1
    mails: dict[int, bytes] = field(default_factory=dict)
    down: str = ""

    def open(self) -> int:
        if self.down:
            raise MailboxDown(self.down)
        return self.validity

    def after(self, uid: int, *, limit: int) -> tuple[ArrivedMail, ...]:
        if self.down:
            raise MailboxDown(self.down)
        found = sorted(one for one in self.mails if one > uid)[:limit]
        return tuple(ArrivedMail(uid=one, message=self.mails[one]) for one in found)

    def wait(self, timeout: timedelta) -> None:
        return

    def close(self) -> None:
        return

    def takes(self, message: bytes) -> int:
        """It arrives; returns its UID."""
        uid = max(self.mails, default=0) + 1
        self.mails[uid] = message
        return uid


_IDS: Iterator[int] = iter(range(1, 10**9))


def answer_to(
    message: MailMessage,
    text: str,
    *,
    sender: str,
    proven: bool = True,
    message_id: str | None = None,
    quoting: bool = True,
) -> bytes:
    """The bytes of a person's answer to a mail of ours, as it lies in the mailbox."""
    written = EmailMessage()
    if proven:
        domain = sender.rpartition("@")[2]
        written["Authentication-Results"] = f"{AUTHSERV_ID}; dmarc=pass header.from={domain}"
    written["From"] = sender
    written["To"] = message.reply_to or SENDER
    written["Subject"] = f"Re: {message.subject}"
    written["Message-ID"] = message_id or f"<answer-{next(_IDS)}@{sender.rpartition('@')[2]}>"
    written["In-Reply-To"] = message.message_id
    written["References"] = " ".join((*message.references, message.message_id))
    quoted = "".join(f"> {line}\n" for line in message.text.splitlines()) if quoting else ""
    written.set_content(f"{text}\n\nOn Monday, ontrack wrote:\n{quoted}" if quoting else f"{text}\n")
    return written.as_bytes()
