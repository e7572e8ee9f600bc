"""The values that the evidence reader takes and gives; they hold no behaviour beyond their fields.

Nothing here reads a log, a clock or a file.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

UNKNOWN = "unknown"
REPORTED = 0


class RetryHint(StrEnum):
    """What a rerun would probably do. Shown to owners; it licenses nothing."""

    LIKELY = "likely"
    UNLIKELY = "unlikely"
    DEPENDS = "depends"


class ChangeKind(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorReport:
    """A failure as its scheduler told it: hostile text, nothing cleaned or masked yet."""

    type: str | None = None
    message: str | None = None
    exit_code: int | None = None
    signal: str | None = None
    log: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceLine:
    """A line of the log; under the number `REPORTED` what the scheduler said itself, which no log holds."""

    number: int
    text: str
    decisive: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RootError:
    """The error that began the failure, with at most twelve lines around it."""

    type: str | None
    message: str
    lines: tuple[EvidenceLine, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """The class that the rules give a failure; `id` is "unknown" when nothing is sure.

    `also` names the other rules that matched. `ruled_out_by` names what was seen that forbids to call the
    failure passing: a safe mark never covers a failure where it is not empty.
    """

    id: str
    title: str
    group: str
    retry_hint: RetryHint
    never_safe: bool
    reason: str
    also: tuple[str, ...] = ()
    ruled_out_by: tuple[str, ...] = ()
    platform_team: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One difference from the last good run; the lower `rank`, the likelier it matters.

    `says` tells it in one line, `diff` is the unified diff of a text of several lines.
    """

    path: str
    kind: ChangeKind
    before: str | None
    after: str | None
    note: str | None
    rank: int
    says: str = ""
    diff: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All that is told of a failure, masked and safe to store.

    `changes` is None when there is no good run to compare with, which is not "nothing changed".
    """

    root: RootError
    cause: Cause
    fingerprint: str
    changes: tuple[Change, ...] | None
    facts: dict[str, Any]
    log_tail: str
    log_lines: int
