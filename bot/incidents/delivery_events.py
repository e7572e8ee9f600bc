"""What becomes known of messages on their way out, as facts in the past tense. Values only; nothing here decides."""

from dataclasses import dataclass
from datetime import datetime

from bot.incidents.policy import Door


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryBuried:
    """A message could not be delivered: `what` names it, `code` is the other side's error.

    `door`: by which it should have left. `since`: when it was written, where that is known.
    """

    destination: str
    what: str
    code: str
    at: datetime
    door: Door = Door.CHANNEL
    since: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryLate:
    """What was written to the thread at `since` is not in it yet: `code` is the other side's last error."""

    destination: str
    what: str
    code: str
    since: datetime
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadMoved:
    """The thread goes on in channel `to`: the channel that it `left` cannot be written to (`code`); `url` is the old root's."""

    left: str
    to: str
    url: str | None
    code: str
    at: datetime
