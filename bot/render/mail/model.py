"""What a mail is rendered from and to: its links, what an answer says, the finished mail. Values only; nothing here sends."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec

from bot.incidents.effects import Told
from bot.mail.commands import CommandWord
from bot.render.lines import OwnerFault


class MailKind(StrEnum):
    """The mails that no decision wrote; their content has it as `kind`."""

    ANSWER = "answer"
    CONFIRM = "confirm"
    DIGEST = "digest"
    FAULT = "fault"


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedMail:
    """A mail as it is sent: `subject` is one line, `text` and `html` say the same."""

    subject: str
    text: str
    html: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MailLinks:
    """Where a mail leads: the record's page, the thread in Slack, and the pages that ask once more and then act.

    `decisions` only in a mail to one person.
    """

    page: str | None = None
    thread: str | None = None
    decisions: tuple[tuple[CommandWord, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What became of what somebody wrote.

    `said`: the line as it was read, empty where none was found. `told`: what the core said to it; None: it never came so
    far, and `reason` says why (of the reader, in words). `number`: the proposal that the mail answered was about.
    `outsider`: who wrote may not decide about it, so that the answer shows nothing of the record.
    """

    said: str = ""
    told: Told | None = None
    reason: str = ""
    number: int | None = None
    outsider: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirm:
    """Somebody wrote in a person's name; only a link in a mail to that person's own address acts.

    `said`: the line. `sure`: the person is proven, and is asked because the cause is not known.
    """

    said: str
    sure: bool = False
    number: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A trouble of ontrack itself: `code` is the other side's own name of it, `title` and `lines` say it in words.

    `owners`: owner records that lead to nobody.
    """

    title: str = ""
    lines: tuple[str, ...] = ()
    code: str = ""
    since: datetime | None = None
    owners: tuple[OwnerFault, ...] = ()


def content_of(what: Answer | Confirm | Fault) -> dict[str, Any]:
    """The content of such a mail as it is stored (`NewMail.content`)."""
    kind = {Answer: MailKind.ANSWER, Confirm: MailKind.CONFIRM, Fault: MailKind.FAULT}[type(what)]
    built: dict[str, Any] = msgspec.to_builtins({"kind": kind, "facts": what})
    return built


def facts_of(content: Mapping[str, Any]) -> Mapping[str, Any] | Sequence[Any]:
    """What the content says, beside its kind and address."""
    found: Mapping[str, Any] | Sequence[Any] = content.get("facts", content)
    return found
