"""The value that stands for one statement of failure in a log; it does not look for any."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum


class Link(StrEnum):
    """How a finding hangs on the one before it."""

    NONE = "none"
    CAUSE = "cause"
    WRAPPER = "wrapper"
    CONTEXT = "context"


class Weight(IntEnum):
    """How much a finding says by itself."""

    WRAPPER = 1
    WARNING = 2
    TOLD = 3
    TYPED = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One statement of failure: lines `first` to `last` (indices), and what they say."""

    type: str | None
    message: str
    text: str
    first: int
    last: int
    weight: Weight
    link: Link = Link.NONE
    chain: int = 0
    opens: int = -1

    @property
    def start(self) -> int:
        """The line on which its block begins, above the frames of a traceback."""
        return self.first if self.opens < 0 else self.opens
