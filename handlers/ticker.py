"""Wakes the timer thread at the earliest due row, and now and then besides; APScheduler inside, in this process only.

It must not know what a step does, keep due times of its own, or die of a step that raises.
"""

import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.interval import IntervalTrigger

from bot.ports import Clock

logger = logging.getLogger(__name__)

JOB = "tick"
WAITING = 4
AT_LEAST_APART = timedelta(milliseconds=10)
AFTER_FAILURE = timedelta(seconds=1)


class Ticker:
    """Calls `step(now)` from one thread, never twice at once; what it returns is when the next row is due, if any.

    `poke` brings the next call forward. A call comes `at_least_every` so often, whatever was poked or returned; after a
    step that raised it comes within a second.
    """

    def __init__(
        self,
        *,
        step: Callable[[datetime], datetime | None],
        clock: Clock,
        at_least_every: timedelta = timedelta(seconds=30),
    ) -> None:
        self._step = step
        self._clock = clock
        self._every = at_least_every
        self._lock = threading.Lock()
        self._stepping = False
        self._stopped = False
        self._next_at: datetime | None = None
        self._poked_at: datetime | None = None
        self._scheduler = BackgroundScheduler(executors={"default": ThreadPoolExecutor(max_workers=1)}, timezone=UTC)

    def start(self) -> None:
        """Begin, with a first step at once."""
        with self._lock:
            self._next_at = self._clock()
            self._scheduler.add_job(
                self._tick,
                IntervalTrigger(seconds=self._every.total_seconds(), timezone=UTC),
                id=JOB,
                next_run_time=self._next_at,
                misfire_grace_time=None,
                coalesce=True,
                max_instances=WAITING,
            )
            self._scheduler.start()

    def poke(self, at: datetime) -> None:
        """Something is due at `at`: wake then, unless a step comes earlier anyway. Safe from any thread."""
        with self._lock:
            if self._stopped or self._next_at is None:
                return
            if self._stepping or self._next_at <= self._clock():
                self._poked_at = at if self._poked_at is None else min(at, self._poked_at)
            elif at < self._next_at:
                self._wake_at(at)

    def stop(self) -> None:
        """End after the step that is under way; safe to call twice."""
        with self._lock:
            running = self._next_at is not None and not self._stopped
            self._stopped = True
        if running:
            self._scheduler.shutdown(wait=True)

    def _tick(self) -> None:
        with self._lock:
            if self._stopped:
                return
            self._stepping = True
            self._poked_at = None
        due_at = self._stepped()
        with self._lock:
            self._stepping = False
            wanted = [at for at in (due_at, self._poked_at, self._clock() + self._every) if at is not None]
            if not self._stopped:
                self._wake_at(min(wanted))

    def _stepped(self) -> datetime | None:
        try:
            due_at = self._step(self._clock())
            return due_at and max(due_at, self._clock() + AT_LEAST_APART)
        except Exception:
            logger.exception("a step failed; the next tick tries again")
            return self._clock() + AFTER_FAILURE

    def _wake_at(self, at: datetime) -> None:
        self._next_at = at
        self._scheduler.modify_job(JOB, next_run_time=at)
