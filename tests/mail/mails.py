"""Builds mails for the tests, well-formed unless asked otherwise, and reads them as the corpus is read; it judges nothing."""

from bot.mail import Verdict
from tests.mail.corpus_cases import TOKENS, Mailbox

ADDRESS = f"ontrack+{TOKENS['ok']}@bot.example.com"
PASSED = "mx.example.com; dmarc=pass header.from=example.com; dkim=pass header.d=example.com"
NOTICE = (
    "finance.daily_revenue failed at 06:04 UTC, attempt 3 of 3.",
    "Answer this mail. Only the first line you write counts:",
    "",
    "ack",
    "approve",
    "retire <reason>",
    "pause until 2026-12-05 the feed is down",
)
QUOTE = "\n".join(f"> {line}" for line in NOTICE)
UNMARKED = "\n".join(NOTICE)


def mail(
    body: str | bytes,
    *more: str,
    kind: str = "text/plain; charset=utf-8",
    sender: str = "Ana Ortiz <ana@example.com>",
    to: str = ADDRESS,
    passed: str | None = PASSED,
    without: tuple[str, ...] = (),
) -> bytes:
    """A reply of an owner; `more` are further header lines, `without` names header fields that it lacks."""
    fields = {
        "Return-Path": "<ana@example.com>",
        "Authentication-Results": passed,
        "Received": "from out1.example.com (out1.example.com [192.0.2.25]) by mx.example.com with ESMTPS id 4QB",
        "From": sender,
        "To": to,
        "Subject": "Re: [ontrack] finance.daily_revenue failed (#4127)",
        "Message-ID": "<one@mail.example.com>",
        "In-Reply-To": f"<{ADDRESS}>",
        "MIME-Version": "1.0",
        "Content-Type": kind,
    }
    given = {line.partition(":")[0].lower() for line in more}
    lines = [
        f"{name}: {value}"
        for name, value in fields.items()
        if value is not None and name not in without and name.lower() not in given
    ]
    head = "\r\n".join([*lines, *more]) + "\r\n\r\n"
    raw = body if isinstance(body, bytes) else body.replace("\n", "\r\n").encode()
    return head.encode() + raw


def html(body: str, *more: str) -> bytes:
    """A reply that is HTML alone."""
    return mail(f"<html><body>{body}</body></html>", *more, kind="text/html; charset=utf-8")


def both(text: str, markup: str) -> bytes:
    """A reply in plain text and HTML."""
    body = (
        f"--b1\nContent-Type: text/plain; charset=utf-8\n\n{text}\n"
        f"--b1\nContent-Type: text/html; charset=utf-8\n\n{markup}\n--b1--\n"
    )
    return mail(body, kind='multipart/alternative; boundary="b1"')


def read(raw: bytes) -> Verdict:
    """The verdict on the only mail of a fresh mailbox, with Ana's token."""
    return Mailbox("ana@example.com").take(raw)


def said(raw: bytes) -> str:
    """What the mail does, in short: the command and its argument, or who hears about it that it does nothing."""
    verdict = read(raw)
    if verdict.acts:
        return " ".join((verdict.command or "", verdict.argument or "")).strip()
    return verdict.answer.value
