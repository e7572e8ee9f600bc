"""Turns due timers into events, on the same road as everything else. It decides nothing and reads no clock."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from bot.incidents.events import TimerDue
from bot.intake import Consume, Inbound, Outcome, Result
from bot.intake.inbound import DeadlinePassed
from bot.store import Storage, TimerRow

log = logging.getLogger(__name__)

BATCH = 100
STEP_ASIDE = timedelta(minutes=5)


class Timers:
    """The use case of the timer thread."""

    def __init__(self, *, storage: Storage, take_in: Callable[[list[Inbound]], list[Outcome]]) -> None:
        self._storage = storage
        self._take_in = take_in

    def step(self, now: datetime) -> datetime | None:
        """Take in all timers due at `now`; returns when the next one is due. A poison timer steps aside, loudly."""
        while rows := self._storage.due_timers(now=now, limit=BATCH):
            outcomes = self._take_in([_inbound(row) for row in rows])
            for row, outcome in zip(rows, outcomes, strict=True):
                if outcome.result is Result.REJECTED:
                    log.error("a timer could not be taken in", extra={"timer": row.id, "reason": outcome.reason})
                    self._storage.postpone_timer(id=row.id, to=now + STEP_ASIDE)
        return self._storage.next_timer_at()


def _inbound(row: TimerRow) -> Inbound:
    key = f"timer:{row.id}:{row.due_at.isoformat()}"
    consume = Consume(timer=(row.id, row.due_at))
    if row.timer is not None and row.record is not None and row.number is not None:
        occurrence = (row.record, row.number)
        return Inbound(key=key, event=TimerDue(timer=row.timer), occurrence=occurrence, consume=consume)
    if row.kind is None or row.nominal_time is None:
        raise ValueError(f"timer {row.id} is of neither an occurrence nor a job")
    event = DeadlinePassed(job=row.job, kind=row.kind, nominal_time=row.nominal_time, due_at=row.due_at)
    return Inbound(key=key, event=event, consume=consume)
