"""Asks Maestro one thing after the other at an even pace, and waits, within bounds, while it is unwell. For reading only."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import ParamSpec, TypeVar

from bot.ports import Clock, HistoryDown
from bot.schedulers.maestro.client import Refused, Unwell
from bot.wire.exchange import NoAnswer, NotSent

BETWEEN = timedelta(milliseconds=100)
PATIENCE = timedelta(minutes=10)
FIRST_WAIT, LONGEST_WAIT = timedelta(seconds=5), timedelta(minutes=1)

_Asked = ParamSpec("_Asked")
_Answer = TypeVar("_Answer")


def slept(span: timedelta) -> None:
    """So much time goes by."""
    time.sleep(span.total_seconds())


class Patient:
    """`wait` is how it pauses."""

    def __init__(self, *, clock: Clock, wait: Callable[[timedelta], None]) -> None:
        self._clock = clock
        self._wait = wait

    def asked(self, ask: Callable[_Asked, _Answer], *what: _Asked.args, **how: _Asked.kwargs) -> _Answer:
        """The answer. Raises `Refused` where that is Maestro's word for good, and `HistoryDown` after too long a wait."""
        began_at, pause = self._clock(), FIRST_WAIT
        while True:
            self._wait(BETWEEN)
            try:
                return ask(*what, **how)
            except (Refused, Unwell) as no:
                if isinstance(no, Refused) and no.retry_after is None:
                    raise
                self._be_patient(began_at, max(pause, no.retry_after or pause), str(no))
            except (NotSent, NoAnswer) as lost:
                self._be_patient(began_at, pause, str(lost))
            pause = min(2 * pause, LONGEST_WAIT)

    def _be_patient(self, began_at: datetime, pause: timedelta, why: str) -> None:
        if self._clock() + pause - began_at > PATIENCE:
            raise HistoryDown(f"its past cannot be read further: {why}")
        self._wait(pause)
