"""Ends the runs that would outlive the demo: outside the sandbox a run goes on when ontrack stops, here nothing may stay."""

import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from bot.schedulers.local.claims import Claims

LOOK_EVERY = 0.05


def end_living_runs(state: Path, *, within: timedelta) -> None:
    """Tell every living run of every local scheduler under `state` to end, and see it end."""
    until = time.monotonic() + within.total_seconds()
    told = [(claims, claim) for claims, claim in living(state) if claims.stop(claim, by="the sandbox")]
    while any(claims.is_living(claim) for claims, claim in told) and time.monotonic() < until:
        time.sleep(LOOK_EVERY)


def living(state: Path) -> Iterator[tuple[Claims, str]]:
    """The runs that live under `state`."""
    for runs in state.glob("*/runs"):
        claims = Claims(runs)
        for claim in claims.oldest_first():
            if claims.is_living(claim):
                yield claims, claim
