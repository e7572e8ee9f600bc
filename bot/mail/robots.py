"""Whether a program sent a mail: such mail never acts and is never answered. It looks at headers and kinds of parts only."""

import re

from bot.mail.parts import Parts
from bot.mail.raw import Headers, bare
from bot.mail.subjects import decoded_subject
from bot.mail.tongues import AUTOMATIC_SUBJECTS

MOST_HOPS = 50

_AUTO_HEADER = re.compile(
    r"x-(?:mail-|ms-)?auto-?(?:matic-?)?(?:repl(?:y|ied)|respond(?:er)?|response|generated|submitted)(?:-[a-z-]+)?"
)
_ROBOT_HEADERS = frozenset(
    {"x-failed-recipients", "x-fc-machinegenerated", "x-cron-env", "x-beenthere", "mailing-list", "x-mailing-list"}
    | {"x-vacation", "x-servicenow-generated", "x-ms-exchange-message-is-ndr", "x-ms-exchange-generated-message-source"}
    | {"x-jira-fingerprint", "x-github-reason", "x-loop-detect"}
)
_LISTS = ("list-id", "list-unsubscribe", "list-post", "list-help", "list-subscribe", "list-owner", "list-archive")
_PRECEDENCES = frozenset({"bulk", "junk", "list", "auto_reply", "auto-reply", "autoreply"})
_KINDS = {
    "multipart/report": "it is a report of a mail system",
    "message/delivery-status": "it is a report of a mail system",
    "message/global-delivery-status": "it is a report of a mail system",
    "message/disposition-notification": "it is a read receipt",
    "message/feedback-report": "it is a complaint report",
    "text/calendar": "it is an answer to an invitation",
}
_ROBOT_NAMES = re.compile(
    r"(?:mailer-?daemon|postmaster|microsoftexchange[0-9a-f]*|(?:[\w.-]*[._-])?(?:no-?reply|do-?not-?reply|donotrespond)"
    r"(?:[._+-][\w.+-]*)?|bounces?(?:[._+-].*)?|auto-?repl(?:y|ies)|auto-?responder|daemon|listserv|majordomo)"
)
_TAGS = re.compile(
    r"(?:\s*(?:\[[^\[\]]{0,60}\]|\([^()]{0,60}\)|\*{1,3}[^*]{1,40}\*{1,3}|(?:external|ext|extern)\s*:))+\s*"
)


def robot_reason(headers: Headers, parts: Parts, *, sender: str | None, bot: str) -> str | None:
    """Why a program must have sent the mail, None where nothing tells so. `bot`: our own address."""
    return (
        _by_header(headers)
        or _by_kind(parts)
        or _by_sender(headers, sender, bot)
        or _by_subject(headers.first("subject"))
    )


def forbids_answer(headers: Headers) -> bool:
    """Whether the mail asks for no automatic answer."""
    values = {bare(value).strip().lower() for value in headers.all("x-auto-response-suppress")}
    return bool(values - {"", "none"})


def _by_header(headers: Headers) -> str | None:
    for value in headers.all("auto-submitted"):
        if bare(value).partition(";")[0].strip().lower() not in ("no", ""):
            return "it is marked as sent automatically (Auto-Submitted)"
    if any(bare(value).strip().lower() in _PRECEDENCES for value in headers.all("precedence", "x-precedence")):
        return "it is marked as bulk or automatic mail (Precedence)"
    if headers.all(*_LISTS):
        return "it came through a mailing list"
    if (path := headers.all("return-path")) and bare(path[0]).strip() in ("<>", ""):
        return "its Return-Path is empty, as of reports"
    if len(headers.all("received")) > MOST_HOPS:
        return "it has gone through too many servers: a loop"
    for name, value in headers.fields:
        automatic = name in _ROBOT_HEADERS or _AUTO_HEADER.fullmatch(name) is not None
        if automatic and name != "x-auto-response-suppress" and value.strip().lower() not in ("no", "false", "0"):
            return f"it is marked as sent automatically ({name})"
    return None


def _by_kind(parts: Parts) -> str | None:
    return next((says for kind, says in _KINDS.items() if kind in parts.kinds), None)


def _by_sender(headers: Headers, sender: str | None, bot: str) -> str | None:
    name, _, domain = bot.partition("@")
    ours = re.compile(rf"(?<![\w.+-]){re.escape(name)}(?:\+[\w-]+)?@{re.escape(domain)}(?![\w-])", re.IGNORECASE)
    if sender is not None and ours.fullmatch(sender):
        return "it is our own mail that came back"
    if any(ours.search(value[:2_000]) for value in headers.all("x-loop", "x-original-sender", "x-autoreply-to")):
        return "it has been here before: a loop"
    if sender is not None and _ROBOT_NAMES.fullmatch(sender.partition("@")[0]):
        return "its sender's address is one of a program"
    return None


def _by_subject(subject: str) -> str | None:
    told = decoded_subject(subject).strip().lower()
    if (tags := _TAGS.match(told)) is not None:
        told = told[tags.end() :]
    return "its subject is one of an automatic answer" if told.startswith(AUTOMATIC_SUBJECTS) else None
