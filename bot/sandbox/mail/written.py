"""Writes mails as bytes: one of ontrack as it lies in a mailbox, and a person's reply as a common client writes it.

It decides about nothing: who is proven is told to it, as a receiving server would have found out.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, formataddr
from html import escape

from bot.adapters.smtp_letter import letter
from bot.ports import MailMessage
from bot.sandbox.mail.reading import Opened

BODY = re.compile(r"<body[^>]*>(.*)</body>", re.DOTALL | re.IGNORECASE)
QUOTE_STYLE = "margin:0 0 0 0.8ex;border-left:1px solid #ccc;padding-left:1ex"


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody who writes mail."""

    name: str
    address: str

    @property
    def domain(self) -> str:
        return self.address.rpartition("@")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A person's answer. `quoting`: the answered mail stands below. `proven`: what the receiving server says of the sender."""

    text: str
    author: Person
    message_id: str
    at: datetime
    quoting: bool = True
    proven: bool = True


def mail_bytes(message: MailMessage, *, sender: str, at: datetime) -> bytes:
    """A mail of ours as its recipient's mailbox holds it: as it goes over SMTP, below the lines of who delivered it."""
    sent = letter(message, sender=sender, at=at)
    return f"Return-Path: <{sent.senders[0]}>\r\nDelivered-To: {sent.to}\r\n".encode() + sent.text


def reply_bytes(reply: Reply, *, to: Opened, sent_at: datetime, authserv_id: str) -> bytes:
    """The answer to a mail of ours (`to`, which came at `sent_at`) as ontrack's mailbox gets it."""
    author = reply.author
    found = "pass" if reply.proven else "fail (p=none)"
    written = EmailMessage(policy=SMTP)
    written["Return-Path"] = f"<{author.address}>"
    written["Authentication-Results"] = f"{authserv_id}; dmarc={found} header.from={author.domain}"
    written["Received"] = (
        f"from mail.{author.domain} (mail.{author.domain} [192.0.2.25]) by {authserv_id} with ESMTPS; "
        f"{format_datetime(reply.at)}"
    )
    written["From"] = formataddr((author.name, author.address))
    written["To"] = to.reply_to
    written["Subject"] = to.subject if to.subject.lower().startswith("re:") else f"Re: {to.subject}"
    written["Date"] = format_datetime(reply.at)
    written["Message-ID"] = reply.message_id
    written["In-Reply-To"] = to.message_id
    written["References"] = " ".join((*to.references, to.message_id))
    text, html = reply.text.strip(), _as_html(reply.text.strip())
    if reply.quoting:
        text, html = _quoted_text(text, to, sent_at), _quoted_html(html, to, sent_at)
    _say(written, text, html)
    return written.as_bytes()


def _say(written: EmailMessage, text: str, html: str) -> None:
    written.set_content(text, cte="quoted-printable")
    written.add_alternative(html, subtype="html", cte="quoted-printable")


def _as_html(text: str) -> str:
    return "\n".join(f'<div dir="ltr">{escape(line) or "<br>"}</div>' for line in text.splitlines())


def _introduction(to: Opened, sent_at: datetime) -> str:
    return f"On {sent_at:%a, %d %b %Y} at {sent_at:%H:%M}, {to.author} <{to.address}> wrote:"


def _quoted_text(text: str, to: Opened, sent_at: datetime) -> str:
    below = "\n".join(f"> {line}".rstrip() for line in to.text.splitlines())
    return f"{text}\n\n{_introduction(to, sent_at)}\n\n{below}\n"


def _quoted_html(html: str, to: Opened, sent_at: datetime) -> str:
    whole = to.html or f"<pre>{escape(to.text)}</pre>"
    body = BODY.search(whole)
    below = body[1] if body else whole
    head = f'<div dir="ltr" class="gmail_attr">{escape(_introduction(to, sent_at))}<br></div>'
    quote = f'<blockquote class="gmail_quote" style="{QUOTE_STYLE}">{below}</blockquote>'
    return f'{html}<br><div class="gmail_quote">{head}{quote}</div>'
