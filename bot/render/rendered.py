"""What rendering gives: a message for Slack, and a text file that goes with it. Values only; it must not send anything."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class FileContent:
    """A text file for the thread; whoever uploads it may put a key into `name`."""

    name: str
    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """`text` is what a notification or a screen reader says, `blocks` what the message shows, complete by themselves.

    `richer` shows the same in blocks that not every workspace takes; empty: there is no such form.
    """

    text: str
    blocks: tuple[dict[str, Any], ...] = ()
    richer: tuple[dict[str, Any], ...] = ()
    file: FileContent | None = None
