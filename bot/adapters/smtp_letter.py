"""A mail as it travels: its header and both forms of its text, as bytes that every server takes. It sends nothing."""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from email.charset import QP, Charset
from email.header import Header
from email.mime.multipart import MIMEMultipart
from email.mime.nonmultipart import MIMENonMultipart
from email.policy import compat32
from email.utils import format_datetime, formataddr, parseaddr
from hashlib import sha256

from bot.ports import MailMessage, SendFailed

_WIRE = compat32.clone(linesep="\r\n", max_line_length=900, mangle_from_=False)
_UTF8 = Charset("utf-8")
_UTF8.body_encoding = QP
_BREAKING = frozenset({"Cc", "Cs", "Zl", "Zp"})
_SUPPRESSED = "DR, RN, NRN, OOF, AutoReply"
"""Every automatic answer of an Exchange server but the report that a mail did not arrive, which we need."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """`senders`: where a report of failure is to go, the best first: for a mail whose answers are read, an address that
    names the mail; then ours.
    """

    senders: tuple[str, ...]
    to: str
    text: bytes


def letter(message: MailMessage, *, sender: str, at: datetime) -> Letter:
    """The mail of `message`; `sender` is our address, with our name or without. Raises `SendFailed` where a value is unsafe.

    Folded by the older `email` API: the newer one encodes References that it folds, which no mail program then reads.
    """
    name, address = parseaddr(sender)
    references = (*message.references, *([message.answers] if message.answers else []))
    _must_be_one_line([message.message_id, message.to, message.subject, message.reply_to or "", sender, *references])
    to, address = _with_ascii_domain(message.to), _with_ascii_domain(address)
    made = MIMEMultipart("alternative", boundary=_boundary(message.message_id))
    made["Subject"] = _subject(message.subject)
    made["From"] = formataddr((name, address))
    made["To"] = to
    made["Date"] = format_datetime(at)
    made["Message-ID"] = message.message_id
    if message.reply_to:
        made["Reply-To"] = message.reply_to
    if message.answers:
        made["In-Reply-To"] = message.answers
    if references:
        made["References"] = " ".join(dict.fromkeys(references))
    made["Auto-Submitted"] = "auto-replied" if message.answers else "auto-generated"
    made["X-Auto-Response-Suppress"] = _SUPPRESSED
    made.attach(_form(message.text, "plain"))
    made.attach(_form(message.html, "html"))
    senders = dict.fromkeys([message.reply_to or address, address])
    return Letter(senders=tuple(senders), to=to, text=made.as_bytes(policy=_WIRE))


def _must_be_one_line(values: Iterable[str]) -> None:
    """A line end would begin another header, or another command."""
    if any(unicodedata.category(letter) in _BREAKING for value in values for letter in value):
        raise SendFailed("unsafe_header", permanent=True)


def _with_ascii_domain(address: str) -> str:
    local, _, domain = address.rpartition("@")
    if not local or not domain or not local.isascii() or any(letter in address for letter in "<> "):
        raise SendFailed("no_address", permanent=True)
    try:
        return f"{local}@{domain if domain.isascii() else domain.encode('idna').decode()}"
    except UnicodeError:
        raise SendFailed("no_address", permanent=True) from None


def _boundary(message_id: str) -> str:
    """The same for the same mail; no quoted-printable text holds it."""
    return f"=_ontrack_{sha256(message_id.encode()).hexdigest()[:24]}"


def _subject(text: str) -> str:
    """In one line where it is ASCII, else in as many encoded words as it needs (RFC 2047)."""
    return text if text.isascii() else Header(text, "utf-8", header_name="Subject").encode(linesep="\n")


def _form(text: str, subtype: str) -> MIMENonMultipart:
    part = MIMENonMultipart("text", subtype)
    part.set_payload(text.encode("utf-8", "replace").decode(), _UTF8)
    return part
