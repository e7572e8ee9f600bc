"""Ends things within a time, whether they want to or not, and sends in threads that can be ended so. It decides nothing."""

import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from datetime import timedelta
from typing import Any


class Senders:
    """Threads for sending: so many for whatever there is, and half as many for the first messages of threads."""

    def __init__(self, threads: int) -> None:
        self.notes = Sending(threads, "deliver")
        self.roots = Sending(max(1, threads // 2), "roots")

    def end(self) -> None:
        """Return when what was begun has ended; what was not begun is left."""
        for pool in (self.notes, self.roots):
            pool.shutdown(wait=False)
        for pool in (self.notes, self.roots):
            pool.shutdown(wait=True)


class Sending(Executor):
    """Once closed it takes nothing more: a row that comes then keeps its lease, to be handed back."""

    def __init__(self, threads: int, name: str) -> None:
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix=name)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        try:
            return self._pool.submit(fn, *args, **kwargs)
        except RuntimeError:
            late: Future[Any] = Future()
            late.cancel()
            return late

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """What was not begun is left; `wait`: return when what was begun has ended."""
        self._pool.shutdown(wait=wait, cancel_futures=True)


def ended(endings: Iterable[Callable[[], object]], *, within: timedelta) -> bool:
    """Run the endings beside each other; False when some have not returned in that time: they are waited for no longer."""
    threads = [threading.Thread(target=ending, name="ending", daemon=True) for ending in endings]
    until = time.monotonic() + within.total_seconds()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    return not any(thread.is_alive() for thread in threads)
