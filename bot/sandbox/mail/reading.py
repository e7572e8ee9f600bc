"""Reads a mail as a person's mail client does: who, when, what about, both its texts. It judges nothing and acts on nothing."""

from dataclasses import dataclass
from datetime import datetime
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from email.utils import getaddresses
from itertools import pairwise

from bot.mail.commands import NoCommand, command_of

BULLETS = " \t-*•"


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A mail as a client shows it. `reply_to`: where an answer goes. `html` None where it has only plain text."""

    author: str
    address: str
    to: str
    reply_to: str
    subject: str
    message_id: str
    references: tuple[str, ...]
    text: str
    html: str | None

    @property
    def conversation(self) -> str:
        """What all mails of one conversation have in common."""
        return self.references[0] if self.references else self.message_id


def opened(message: bytes) -> Opened:
    parsed = message_from_bytes(message, policy=default)
    author, address = _first(parsed, "from")
    _, answered = _first(parsed, "reply-to")
    return Opened(
        author=author or address.partition("@")[0],
        address=address,
        to=_first(parsed, "to")[1],
        reply_to=answered or address,
        subject=str(parsed["subject"] or ""),
        message_id=str(parsed["message-id"] or "").strip(),
        references=tuple(str(parsed["references"] or parsed["in-reply-to"] or "").split()),
        text=_body(parsed, "plain") or "",
        html=_body(parsed, "html"),
    )


def offered_lines(text: str, *, now: datetime) -> tuple[str, ...]:
    """The lines of a mail that would do something if they were sent back; what its reader wrote before is none of them."""
    lines = [line for each in text.splitlines() if (line := each.strip(BULLETS))]
    offered = (
        line for before, line in pairwise(["", *lines]) if not before.endswith("wrote:") and _does(line, now=now)
    )
    return tuple(dict.fromkeys(offered))


def _does(line: str, *, now: datetime) -> bool:
    try:
        command_of(line, zone="UTC", now=now)
    except NoCommand:
        return False
    return True


def _first(parsed: EmailMessage, header: str) -> tuple[str, str]:
    return next(iter(getaddresses(parsed.get_all(header, []))), ("", ""))


def _body(parsed: EmailMessage, kind: str) -> str | None:
    part = parsed.get_body((kind,))
    return None if part is None else str(part.get_content()).replace("\r\n", "\n")
