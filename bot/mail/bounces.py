"""What a report of a mail system tells of an address: that it is broken, or that a mail waits. It changes no record."""

import re
from dataclasses import dataclass
from enum import StrEnum

from bot.mail.decoding import Unreadable, decoded
from bot.mail.parts import Part, Parts
from bot.mail.raw import Headers, split_entity
from bot.mail.tokens import token_of, tokens_within

MOST_TEXT = 64 * 1024

_STATUS = re.compile(r"(?<![\d.])([245]\.\d{1,3}\.\d{1,3})(?![\d.])")
_ANGLED = re.compile(r"^\s*<?([^\s<>@]{1,64}@[\w.-]{1,253})>?\s*:?", re.MULTILINE)
_COPY = re.compile(r"^[ \t]*-{2,}[^\n]{0,200}(?:copy|original message|below this line)", re.MULTILINE | re.IGNORECASE)
_HUMAN = re.compile(r"delay|still being|will (?:keep|be) (?:try|retr)|warning only", re.IGNORECASE)
_DAEMONS = ("mailer-daemon@", "postmaster@", "microsoftexchange")
_STATUS_KINDS = ("message/delivery-status", "message/global-delivery-status")


class BounceKind(StrEnum):
    """`hard`: given up; `delayed`: still being tried."""

    HARD = "hard"
    DELAYED = "delayed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounce:
    """One recipient of a report. `token`: the notification that came back, by its headers in the report, else by the address
    that the report was sent to."""

    kind: BounceKind
    recipient: str
    status: str | None
    token: str | None


def bounces_of(headers: Headers, parts: Parts, *, sender: str | None, bot: str) -> tuple[Bounce, ...]:
    """The recipients that a report names, none where the mail is no report of delivery."""
    returned = b"\n".join(part.entity.body[:MOST_TEXT] for part in parts.leaves[:20]).decode("utf-8", "replace")
    tokens = tokens_within(returned, bot=bot)
    token = tokens[0] if len(tokens) == 1 else token_of(headers, bot=bot).token if not tokens else None
    for part in parts.leaves:
        if part.kind in _STATUS_KINDS:
            return _by_status(part, token)
    if "message/feedback-report" in parts.kinds or "message/disposition-notification" in parts.kinds:
        return ()
    return _by_words(headers, parts, sender, token)


def _by_status(part: Part, token: str | None) -> tuple[Bounce, ...]:
    """By the fields of RFC 3464, a block for each recipient."""
    text = _text(part).encode("utf-8", "surrogateescape")
    found: list[Bounce] = []
    for block in re.split(rb"\n[ \t]*\n", text.replace(b"\r\n", b"\n"))[:100]:
        fields = split_entity(block.lstrip(b"\n")).headers
        recipient = _recipient(fields.first("final-recipient")) or _recipient(fields.first("original-recipient"))
        action = fields.first("action").partition("(")[0].strip().lower()
        if recipient and action in ("failed", "delayed"):
            status = _STATUS.search(fields.first("status"))
            kind = BounceKind.HARD if action == "failed" else BounceKind.DELAYED
            found.append(Bounce(kind=kind, recipient=recipient, status=status[1] if status else None, token=token))
    return tuple(found)


def _by_words(headers: Headers, parts: Parts, sender: str | None, token: str | None) -> tuple[Bounce, ...]:
    """By X-Failed-Recipients, or by the words of a mail system that writes no fields."""
    paths = headers.all("return-path")
    daemon = sender is not None and sender.startswith(_DAEMONS)
    if not (daemon and (not paths or paths[0].strip() == "<>")) and not headers.first("x-failed-recipients"):
        return ()
    text = next((_text(part) for part in parts.leaves if part.kind.startswith("text/")), "")
    copy = _COPY.search(text)
    told = text[: copy.start()] if copy else text
    named = headers.first("x-failed-recipients") or next((one[1] for one in _ANGLED.finditer(told)), "")
    status = _STATUS.search(told)
    delayed = bool(_HUMAN.search(f"{headers.first('subject')[:200]} {told[:500]}"))
    kind = BounceKind.DELAYED if delayed else BounceKind.HARD
    return tuple(
        Bounce(kind=kind, recipient=recipient, status=status[1] if status else None, token=token)
        for one in named.split(",")[:100]
        if (recipient := _recipient(one))
    )


def _recipient(value: str) -> str | None:
    address = value.rpartition(";")[2].strip().strip("<>").strip().lower()
    return address if re.fullmatch(r"[^\s<>@]{1,64}@[\w.-]{1,253}", address) else None


def _text(part: Part) -> str:
    try:
        return decoded(part.entity).text[:MOST_TEXT]
    except Unreadable:
        return part.entity.body[:MOST_TEXT].decode("utf-8", "replace")
