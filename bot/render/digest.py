"""The messages that ontrack writes of itself: a team's digest, owner records that lead to nobody, runs that must fail.

They are values first, mention nobody, and are rendered from what was frozen when they were written. It must not look
anything up.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec

from bot.incidents.keys import JobKey
from bot.render.lines import ChronicLine, DecidedLine, EndingLine, MarkLine, OwnerFault, StandingLine
from bot.render.rendered import Rendered
from bot.render.templates import draft

MOST_OPEN = 8
MOST_LINES = 5
MOST_FAULTS = 15


class NoticeKind(StrEnum):
    """Which notice it is."""

    DIGEST = "digest"
    OWNERS = "owners"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Warned:
    """A run of the job must fail, by its scheduler's `words` ("will fail: ..."), and still goes on."""

    job: JobKey
    words: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """What a team hands over at `at`; the counts say how much there is where only the first are listed.

    `recovered` counts what was settled since the last digest without anybody's decision.
    """

    team: str
    zone: str
    at: datetime
    since: datetime
    open: tuple[StandingLine, ...] = ()
    open_count: int = 0
    decided: tuple[DecidedLine, ...] = ()
    decided_count: int = 0
    recovered: int = 0
    ending: tuple[EndingLine, ...] = ()
    ending_count: int = 0
    chronic: tuple[ChronicLine, ...] = ()
    chronic_count: int = 0
    marks: tuple[MarkLine, ...] = ()
    marks_count: int = 0
    faults: tuple[OwnerFault, ...] = ()
    faults_count: int = 0

    @property
    def says_something(self) -> bool:
        """What healed by itself is no reason to write."""
        counts = (self.open_count, self.decided_count, self.ending_count, self.chronic_count)
        return any(counts) or bool(self.marks_count or self.faults_count)


def content_of(kind: NoticeKind, facts: object, *, until: datetime | None = None) -> dict[str, Any]:
    """A notice as it is stored; after `until` it is not worth sending any more."""
    built: dict[str, Any] = msgspec.to_builtins({"kind": kind, "facts": facts, "until": until})
    return built


def expired(content: Mapping[str, Any], now: datetime) -> bool:
    """Whether the notice came too late."""
    until = content.get("until")
    return until is not None and now >= datetime.fromisoformat(until)


def notice(content: Mapping[str, Any]) -> Rendered | None:
    """The message; None when there is nothing to say."""
    match content["kind"]:
        case NoticeKind.OWNERS:
            return owners(msgspec.convert(content["facts"], tuple[OwnerFault, ...]))
        case NoticeKind.WARNING:
            return warning(msgspec.convert(content["facts"], Warned))
    found = msgspec.convert(content["facts"], Digest)
    return digest(found) if found.says_something else None


def digest(found: Digest) -> Rendered:
    """The hand-over message."""
    drafted = draft("digest", {"digest": found}, zone=found.zone)
    return Rendered(text=drafted.text, blocks=drafted.blocks)


def owners(faults: tuple[OwnerFault, ...]) -> Rendered:
    """What is wrong with the owner records, for the fallback channel."""
    drafted = draft("owners", {"faults": faults[:MOST_FAULTS], "count": len(faults)}, zone="UTC")
    return Rendered(text=drafted.text, blocks=drafted.blocks)


def warning(found: Warned) -> Rendered:
    """What nobody has to act on yet."""
    drafted = draft("warning", {"found": found}, zone="UTC")
    return Rendered(text=drafted.text, blocks=drafted.blocks)
