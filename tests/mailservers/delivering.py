"""People who get ontrack's mail over SMTP and answer it into the IMAP mailbox as their programs do. It tests nothing."""

from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, getaddresses
from enum import StrEnum
from html import escape
from itertools import count

from tests.mailservers.imap_server import ImapServer
from tests.mailservers.smtp_server import Sent, SmtpServer

AUTHSERV_ID = "mx.example.com"
_numbers = count(1)


class Layout(StrEnum):
    """Where a program puts the answer, and how it marks what it quotes."""

    GMAIL = "gmail"
    """Above the quote, in plain text and HTML."""
    OUTLOOK = "outlook"
    """Above a rule and the headers of the quoted mail, which is not marked line by line."""
    APPLE = "apple"
    """Below the quote, in plain text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """The post of a small company: one server that sends, one mailbox that ontrack reads."""

    smtp: SmtpServer
    imap: ImapServer

    def answers(
        self,
        sent: Sent,
        words: str,
        *,
        layout: Layout = Layout.GMAIL,
        by: str | None = None,
        at: datetime | None = None,
        proven: bool = True,
    ) -> bytes:
        """Whoever got the mail (or `by`) answers it; the answer as it was delivered."""
        message = reply_to(sent, words, layout=layout, by=by or sent.to[0], at=at or datetime.now(UTC), proven=proven)
        self.imap.put(message)
        return message


def reply_to(sent: Sent, words: str, *, layout: Layout, by: str, at: datetime, proven: bool = True) -> bytes:
    """The reply as the receiving server delivers it; `proven`: with that server's word that `by` sent it."""
    letter = EmailMessage(policy=SMTP)
    _head(letter, sent, by=by, at=at, proven=proven)
    quoted = sent.part("plain").replace("\r\n", "\n").rstrip("\n")
    if layout is Layout.GMAIL:
        _gmail(letter, sent, words, quoted, at)
    elif layout is Layout.OUTLOOK:
        _outlook(letter, sent, words, quoted, at)
    else:
        marked = "\n".join(f"> {line}".rstrip() for line in quoted.split("\n"))
        letter.set_content(f"> On {at:%d %b %Y, at %H:%M}, {_ours(sent)} wrote:\n>\n{marked}\n\n{words}\n")
    return letter.as_bytes()


def bounce_of(sent: Sent, *, status: str = "5.1.1", at: datetime) -> bytes:
    """The report of a mail system that could not deliver it (RFC 3464), sent to where the mail came from."""
    failed, boundary = sent.to[0], f"bounce-{next(_numbers)}"
    head = (
        "Return-Path: <>",
        f"From: Mail Delivery System <mailer-daemon@{AUTHSERV_ID}>",
        f"To: {sent.sender}",
        "Subject: Undelivered Mail Returned to Sender",
        f"Date: {format_datetime(at)}",
        f"Message-ID: <bounce-{next(_numbers)}@{AUTHSERV_ID}>",
        "Auto-Submitted: auto-replied",
        "MIME-Version: 1.0",
        f'Content-Type: multipart/report; report-type=delivery-status; boundary="{boundary}"',
    )
    told = (
        f"Reporting-MTA: dns; {AUTHSERV_ID}",
        "",
        f"Final-Recipient: rfc822; {failed}",
        "Action: failed",
        f"Status: {status}",
        f"Diagnostic-Code: smtp; 550 {status} User unknown",
    )
    parts = (
        f"Content-Type: text/plain\n\nYour message to <{failed}> could not be delivered.\n",
        "Content-Type: message/delivery-status\n\n{}\n".format("\n".join(told)),
        f"Content-Type: text/rfc822-headers\n\nMessage-ID: {sent.header('Message-ID')}\nTo: {failed}\n",
    )
    body = "".join(f"--{boundary}\n{part}\n" for part in parts)
    lines = "\n".join((*head, "", body + f"--{boundary}--", ""))
    return lines.replace("\n", "\r\n").encode()


def _head(letter: EmailMessage, sent: Sent, *, by: str, at: datetime, proven: bool) -> None:
    domain = by.rpartition("@")[2]
    said = f"dkim=pass header.d={domain}; dmarc=pass header.from={domain}" if proven else "dkim=none; dmarc=none"
    letter["Authentication-Results"] = f"{AUTHSERV_ID}; {said}"
    letter["Received"] = f"from mail.{domain} by {AUTHSERV_ID} with ESMTPS id {next(_numbers)}; {format_datetime(at)}"
    letter["From"] = by
    letter["To"] = sent.header("Reply-To") or sent.header("From")
    letter["Subject"] = f"Re: {sent.header('Subject')}"
    letter["Date"] = format_datetime(at)
    letter["Message-ID"] = f"<reply-{next(_numbers)}-{at.timestamp():.0f}@mail.{domain}>"
    letter["In-Reply-To"] = sent.header("Message-ID")
    letter["References"] = f"{sent.header('References')} {sent.header('Message-ID')}".strip()


def _gmail(letter: EmailMessage, sent: Sent, words: str, quoted: str, at: datetime) -> None:
    wrote = f"On {at:%a, %b %d, %Y at %H:%M} {_ours(sent)} wrote:"
    marked = "\n".join(f"> {line}".rstrip() for line in quoted.split("\n"))
    letter.set_content(f"{words}\n\n{wrote}\n\n{marked}\n")
    shown = _shown(quoted)
    letter.add_alternative(
        f'<div dir="ltr">{_shown(words)}</div><br><div class="gmail_quote gmail_quote_container">'
        f'<div dir="ltr" class="gmail_attr">{escape(wrote)}<br></div>'
        '<blockquote class="gmail_quote" style="margin:0px 0px 0px 0.8ex;border-left:1px solid rgb(204,204,204)">'
        f"{shown}</blockquote></div>",
        subtype="html",
    )


def _outlook(letter: EmailMessage, sent: Sent, words: str, quoted: str, at: datetime) -> None:
    head = {
        "From": _ours(sent),
        "Sent": f"{at:%A, %B %d, %Y %I:%M %p}",
        "To": sent.to[0],
        "Subject": sent.header("Subject"),
    }
    lines = "\n".join(f"{name}: {value}" for name, value in head.items())
    letter.set_content(f"{words}\n{'_' * 32}\n{lines}\n\n{quoted}\n")
    shown = "<br>".join(f"<b>{name}:</b> {escape(value)}" for name, value in head.items())
    letter.add_alternative(
        f'<html><body dir="ltr"><div class="elementToProof">{_shown(words)}</div>'
        f'<hr style="display:inline-block;width:98%" tabindex="-1"><div id="divRplyFwdMsg" dir="ltr">{shown}</div>'
        f"<div>{_shown(quoted)}</div></body></html>",
        subtype="html",
    )


def _shown(text: str) -> str:
    return escape(text).replace("\n", "<br>")


def _ours(sent: Sent) -> str:
    """Who wrote the mail, as programs show it."""
    name, address = getaddresses([sent.header("From")])[0]
    return f"{name or 'ontrack'} <{address or sent.sender}>"
