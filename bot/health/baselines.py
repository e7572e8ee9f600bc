"""The baseline that others are compared with: set by a manager, recorded, never changed; the newest stands.

Who may set one is judged before anything here runs.
"""

from dataclasses import replace
from datetime import datetime

from bot.incidents.health import Baseline, Period
from bot.store.health import BaselineStore

KEPT_IN_SIGHT = 20


class Baselines:
    """What was set, and by whom."""

    def __init__(self, store: BaselineStore) -> None:
        self._store = store

    def newest(self) -> Baseline | None:
        """The one that stands; None: nobody has set any."""
        return next(iter(self._store.baselines(limit=1)), None)

    def history(self) -> tuple[Baseline, ...]:
        """Those that were set lately, the newest first."""
        return self._store.baselines(limit=KEPT_IN_SIGHT)

    def set(self, period: Period, review: Period, *, by: str, now: datetime) -> Baseline:
        """Record that `by` set it; both periods are of the same zone."""
        baseline = Baseline(period=period, review=replace(review, zone=period.zone), set_by=by, set_at=now)
        self._store.add_baseline(baseline)
        return baseline
