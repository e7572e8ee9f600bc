"""Slack's rate limits as token buckets, off until somebody switches them on; it must not sleep and reads no clock."""

import math
from dataclasses import dataclass, field
from datetime import datetime, timedelta

MINUTE = timedelta(minutes=1)
PER_MINUTE = {1: 1, 2: 20, 3: 50, 4: 100}


@dataclass(slots=True)
class Bucket:
    tokens: float
    at: datetime


@dataclass(slots=True, kw_only=True)
class Rates:
    """A method's tier is its calls a minute; tier 0 is one a second, a channel where there is one."""

    enabled: bool = False
    special_every: timedelta = timedelta(seconds=1)
    special_burst: int = 4
    per_minute: dict[int, int] = field(default_factory=lambda: dict(PER_MINUTE))
    buckets: dict[tuple[str, str], Bucket] = field(default_factory=dict)

    def wait(self, method: str, *, tier: int, channel: str, now: datetime) -> int:
        """Seconds to wait before this call (a Retry-After), or 0 after counting it."""
        if not self.enabled:
            return 0
        size = float(self.special_burst if tier == 0 else self.per_minute[tier])
        refill = self.special_every if tier == 0 else MINUTE / self.per_minute[tier]
        bucket = self.buckets.setdefault((method, channel), Bucket(size, now))
        bucket.tokens = min(size, bucket.tokens + (now - bucket.at) / refill)
        bucket.at = now
        if bucket.tokens < 1:
            return max(1, math.ceil((1 - bucket.tokens) * refill.total_seconds()))
        bucket.tokens -= 1
        return 0
