"""Holds a call to one total deadline: each wait on the network gets what is left of it, however often it waits.

It must not know whom it calls, and it never sends anything again.
"""

import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import httpcore

from bot.wire.resolving import Look, Resolver, addresses_of

CONNECTING = 30.0


class Deadline:
    """The instant by which the present thread's send must be over; a thread without one waits as long as it likes."""

    def __init__(self, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._of_thread = threading.local()

    @contextmanager
    def within(self, allowed: timedelta) -> Iterator[None]:
        """Everything in this block is over after `allowed`; inside another such block the nearer deadline holds."""
        outer: float | None = getattr(self._of_thread, "until", None)
        until = self._monotonic() + allowed.total_seconds()
        self._of_thread.until = until if outer is None else min(until, outer)
        try:
            yield
        finally:
            self._of_thread.until = outer

    def clamp(self, wanted: float | None) -> float | None:
        """`wanted` seconds, or what is left where that is less; 0 when nothing is left."""
        until: float | None = getattr(self._of_thread, "until", None)
        if until is None:
            return wanted
        left = max(until - self._monotonic(), 0.0)
        return left if wanted is None else min(wanted, left)


class DeadlineStream(httpcore.NetworkStream):
    """A connection whose reads and writes are clamped to the deadline of the thread that makes them."""

    def __init__(self, stream: httpcore.NetworkStream, deadline: Deadline) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        timeout = self._deadline.clamp(timeout)
        if timeout == 0:
            raise httpcore.ReadTimeout("deadline")
        return self._stream.read(max_bytes, timeout)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        timeout = self._deadline.clamp(timeout)
        if timeout == 0:
            raise httpcore.WriteTimeout("deadline")
        self._stream.write(buffer, timeout)

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        timeout = self._deadline.clamp(timeout)
        if timeout == 0:
            raise httpcore.ConnectTimeout("deadline")
        return DeadlineStream(self._stream.start_tls(ssl_context, server_hostname, timeout), self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class DeadlineBackend(httpcore.NetworkBackend):
    """Opens connections within one timeout: the look-up of the host and all of its addresses together, not one for each."""

    def __init__(self, deadline: Deadline, *, look: Look = addresses_of) -> None:
        self._backend = httpcore.SyncBackend()
        self._deadline = deadline
        self._resolver = Resolver(look)

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        connecting = Deadline()
        failure: httpcore.ConnectError | httpcore.ConnectTimeout = httpcore.ConnectTimeout("deadline")
        with connecting.within(timedelta(seconds=CONNECTING if timeout is None else timeout)):
            left = self._deadline.clamp(connecting.clamp(None))
            if left == 0:
                raise failure
            addresses = self._resolver.addresses(host, port, within=left)
            for number, address in enumerate(addresses, start=1):
                left = self._deadline.clamp(connecting.clamp(None))
                if left == 0:
                    break
                share = left if left is None or number == len(addresses) else left / 2
                try:
                    stream = self._backend.connect_tcp(address, port, share, local_address, socket_options)
                except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                    failure = error
                else:
                    return DeadlineStream(stream, self._deadline)
        raise failure
