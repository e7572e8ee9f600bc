"""A scheduler's own word on when the runs of a job should be done. A value only; it decides nothing."""

from dataclasses import dataclass
from datetime import datetime, time, timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Done `finish_within` so long after the nominal time, or by the first `finish_by` after it in `zone`; neither: none."""

    finish_within: timedelta | None = None
    finish_by: time | None = None
    zone: str = "UTC"


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """What a scheduler said of one run before it began: the run of `nominal_time` should be done at `finish_by`."""

    nominal_time: datetime
    finish_by: datetime
