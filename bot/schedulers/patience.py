"""Asks a scheduler one thing after the other at an even pace, and waits, within bounds, while it is unwell. For reading only."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import ParamSpec, Protocol, TypeVar

from bot.ports import Clock, HistoryDown
from bot.wire.exchange import NoAnswer, NotSent, Refused, Unwell

BETWEEN_CALLS = timedelta(milliseconds=200)
CALL_WITHIN = timedelta(seconds=30)
PATIENCE = timedelta(minutes=10)
"""How long one waits for a scheduler that is unwell."""
FIRST_WAIT, LONGEST_WAIT = timedelta(seconds=5), timedelta(minutes=1)

_Asked = ParamSpec("_Asked")
_Answer = TypeVar("_Answer")


def slept(span: timedelta) -> None:
    """So much time goes by."""
    time.sleep(span.total_seconds())


class Client(Protocol):
    """What bounds its own calls; they raise `Refused`, `Unwell`, `NotSent` and `NoAnswer`."""

    def within(self, allowed: timedelta) -> AbstractContextManager[None]: ...


class Patient:
    """`wait` is how it pauses; `at_first`: how long it waits for one that has not answered at all yet."""

    def __init__(
        self, client: Client, *, clock: Clock, wait: Callable[[timedelta], None], at_first: timedelta = PATIENCE
    ) -> None:
        self._client = client
        self._clock = clock
        self._wait = wait
        self._patience = at_first

    def asked(self, ask: Callable[_Asked, _Answer], *what: _Asked.args, **how: _Asked.kwargs) -> _Answer:
        """The answer. Raises `Refused` where that is its word for good, and `HistoryDown` after too long a wait."""
        began_at, pause = self._clock(), FIRST_WAIT
        while True:
            self._wait(BETWEEN_CALLS)
            try:
                with self._client.within(CALL_WITHIN):
                    answer = ask(*what, **how)
                self._patience = PATIENCE
                return answer
            except Refused as no:
                self._patience = PATIENCE
                if no.retry_after is None:
                    raise
                self._be_patient(began_at, max(pause, no.retry_after), str(no))
            except Unwell as unwell:
                self._be_patient(began_at, max(pause, unwell.retry_after or pause), str(unwell))
            except (NotSent, NoAnswer) as lost:
                self._be_patient(began_at, pause, str(lost))
            pause = min(2 * pause, LONGEST_WAIT)

    def _be_patient(self, began_at: datetime, pause: timedelta, why: str) -> None:
        if self._clock() + pause - began_at > self._patience:
            raise HistoryDown(f"its past cannot be read further: {why}")
        self._wait(pause)
