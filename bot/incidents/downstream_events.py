"""What downstream jobs tell the occurrence for which they wait, as facts in the past tense. Values only."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.incidents.waits import Hung


@dataclass(frozen=True, slots=True, kw_only=True)
class DownstreamHung:
    """A downstream job is late, skipped or failed because of the occurrence: it has none of its own."""

    job: str
    nominal_time: datetime | None
    what: Hung
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DownstreamRan:
    """The run that a downstream job could not do has ended well; `lag` is how long after its nominal time it usually ends,
    learned from so many runs."""

    job: str
    nominal_time: datetime | None
    at: datetime
    lag: timedelta | None = None
    learned_from: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DownstreamAlone:
    """A downstream job is still not done although nothing that it needs is owed: it has an occurrence of its own now."""

    job: str
    nominal_time: datetime | None
    at: datetime


DownstreamEvent = DownstreamHung | DownstreamRan | DownstreamAlone
