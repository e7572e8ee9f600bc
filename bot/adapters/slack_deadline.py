"""Holds a send to one total deadline: each wait on the network gets what is left of it, however often it waits.

It must not know Slack, and it never sends anything again.
"""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import httpcore
import httpx

AS_HTTPX: dict[type[Exception], type[httpx.TransportError]] = {
    httpcore.ConnectTimeout: httpx.ConnectTimeout,
    httpcore.PoolTimeout: httpx.PoolTimeout,
    httpcore.ReadTimeout: httpx.ReadTimeout,
    httpcore.WriteTimeout: httpx.WriteTimeout,
    httpcore.ConnectError: httpx.ConnectError,
    httpcore.ProxyError: httpx.ProxyError,
    httpcore.ReadError: httpx.ReadError,
    httpcore.WriteError: httpx.WriteError,
    httpcore.LocalProtocolError: httpx.LocalProtocolError,
    httpcore.RemoteProtocolError: httpx.RemoteProtocolError,
    httpcore.UnsupportedProtocol: httpx.UnsupportedProtocol,
}


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


def addresses_of(host: str, port: int) -> tuple[str, ...]:
    """The addresses of `host`, best first, each once."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise httpcore.ConnectError(str(error)) from error
    return tuple(dict.fromkeys(str(address[0]) for *_, address in found))


class DeadlineBackend(httpcore.NetworkBackend):
    """Opens connections within one timeout for all addresses of a host together, not one for each."""

    def __init__(self, deadline: Deadline, *, resolve: Callable[[str, int], tuple[str, ...]] = addresses_of) -> None:
        self._backend = httpcore.SyncBackend()
        self._deadline = deadline
        self._resolve = resolve

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        addresses = self._resolve(host, port)
        connecting = Deadline()
        failure: httpcore.ConnectError | httpcore.ConnectTimeout = httpcore.ConnectTimeout("deadline")
        with connecting.within(timedelta(seconds=30.0 if timeout is None else timeout)):
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


@contextmanager
def told_in_httpx() -> Iterator[None]:
    """Raises what goes wrong inside as the exception that an httpx client's caller knows."""
    try:
        yield
    except tuple(AS_HTTPX) as error:
        raise AS_HTTPX[type(error)](str(error)) from error


class DeadlineBody(httpx.SyncByteStream):
    """The body of an answer as it comes from the connection."""

    def __init__(self, stream: Iterable[bytes], close: Callable[[], None]) -> None:
        self._stream = stream
        self._close = close

    def __iter__(self) -> Iterator[bytes]:
        with told_in_httpx():
            yield from self._stream

    def close(self) -> None:
        with told_in_httpx():
            self._close()


class DeadlineTransport(httpx.BaseTransport):
    """HTTP/1.1 over kept connections, all of them under `deadline`; never asks twice."""

    def __init__(
        self,
        *,
        deadline: Deadline,
        connections: int,
        idle: timedelta,
        ssl_context: ssl.SSLContext | None,
        proxy: httpx.Proxy | None = None,
    ) -> None:
        self._pool = httpcore.ConnectionPool(
            proxy=httpcore.Proxy(str(proxy.url), auth=proxy.raw_auth) if proxy else None,
            ssl_context=ssl_context,
            max_connections=connections,
            max_keepalive_connections=connections,
            keepalive_expiry=idle.total_seconds(),
            network_backend=DeadlineBackend(deadline),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        with told_in_httpx():
            answer = self._pool.handle_request(
                httpcore.Request(
                    method=request.method,
                    url=httpcore.URL(
                        scheme=request.url.raw_scheme,
                        host=request.url.raw_host,
                        port=request.url.port,
                        target=request.url.raw_path,
                    ),
                    headers=request.headers.raw,
                    content=request.read(),
                    extensions=request.extensions,
                )
            )
        return httpx.Response(
            status_code=answer.status,
            headers=answer.headers,
            stream=DeadlineBody(answer.iter_stream(), answer.close),
            extensions=answer.extensions,
        )

    def close(self) -> None:
        self._pool.close()
