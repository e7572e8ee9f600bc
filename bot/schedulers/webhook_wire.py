"""Makes one POST to a scheduler's address: one request, one answer, all of it within one deadline.

It must not repeat a request, follow a redirect, or know what is asked; no text made here shows an address or a header.
"""

import math
import socket
import ssl
import threading
import time
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx

LONGEST_ANSWER = 64 * 1024
CONNECTIONS = 32
IDLE = timedelta(seconds=50)
CONNECTING = timedelta(seconds=10)
LOOPBACK = ("127.0.0.1", "localhost", "::1")
NOTHING_SENT = (httpcore.ConnectError, httpcore.ConnectTimeout, httpcore.PoolTimeout, httpcore.ProxyError)
CANNOT_BE_SENT = (httpcore.LocalProtocolError, httpcore.UnsupportedProtocol)
BROKEN = (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The other side's answer; `content` is what was read of its body, at most `LONGEST_ANSWER` bytes."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class NotSent(Exception):
    """No connection came about: nothing of the request was written."""


class CannotBeSent(Exception):
    """The address or a header is such that no request can be made of it."""


class NoAnswer(Exception):
    """The request may have arrived; no answer did."""


class Deadline(threading.local):
    """The instant by which the present thread's exchange must be over."""

    until = math.inf

    @contextmanager
    def within(self, allowed: timedelta) -> Iterator[None]:
        self.until = time.monotonic() + allowed.total_seconds()
        try:
            yield
        finally:
            self.until = math.inf

    def left(self, wanted: float | None = None) -> float | None:
        """The seconds that one wait may last; 0 when nothing is left."""
        if self.until == math.inf:
            return wanted
        left = max(self.until - time.monotonic(), 0.0)
        return left if wanted is None else min(wanted, left)


class WebhookWire:
    """Keeps its connections; safe to use from many threads at once. Who lets go of it need not close it."""

    def __init__(self, url: str, *, within: timedelta) -> None:
        self._within = within
        self._deadline = Deadline()
        self._problem = ""
        address = _address(url)
        if address is None:
            self._problem = "its url is not an address that can be asked"
        self._address = address or httpx.URL("http://localhost")
        self._url = httpcore.URL(
            scheme=self._address.raw_scheme,
            host=self._address.raw_host,
            port=self._address.port,
            target=self._address.raw_path,
        )
        proxy = _proxy_for(self._address)
        self._pool = httpcore.ConnectionPool(
            ssl_context=httpx.create_ssl_context() if self._address.scheme == "https" else None,
            proxy=httpcore.Proxy(str(proxy.url), auth=proxy.raw_auth) if proxy else None,
            max_connections=CONNECTIONS,
            max_keepalive_connections=CONNECTIONS,
            keepalive_expiry=IDLE.total_seconds(),
            network_backend=_Backend(self._deadline),
        )
        self.close = weakref.finalize(self, self._pool.close)

    def post(self, content: bytes, headers: Mapping[str, str]) -> Answered:
        """Raises `NotSent`, `CannotBeSent` or `NoAnswer`."""
        if self._problem:
            raise CannotBeSent(self._problem)
        sent = [
            (b"Host", self._address.netloc),
            *((name.encode("ascii"), value.encode("ascii")) for name, value in headers.items()),
            (b"Content-Length", str(len(content)).encode("ascii")),
        ]
        waits = {"connect": CONNECTING.total_seconds(), "pool": CONNECTING.total_seconds(), "read": None, "write": None}
        with self._deadline.within(self._within):
            try:
                return self._exchange(sent, content, {"timeout": waits})
            except NOTHING_SENT as error:
                raise NotSent("no connection to it came about") from error
            except CANNOT_BE_SENT as error:
                raise CannotBeSent("its url is not an address that can be asked") from error
            except httpcore.TimeoutException as error:
                raise NoAnswer(f"no answer within {self._within.total_seconds():g} s") from error
            except BROKEN as error:
                raise NoAnswer("the connection broke before an answer came") from error

    def _exchange(self, headers: list[tuple[bytes, bytes]], content: bytes, extensions: dict[str, Any]) -> Answered:
        with self._pool.stream("POST", self._url, headers=headers, content=content, extensions=extensions) as response:
            names = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
            return Answered(status=response.status, headers=names, content=_start_of(response.iter_stream()))


def _start_of(chunks: Iterable[bytes]) -> bytes:
    """The body, as far as it is wanted and comes; the status has said what matters, so that a broken one is no failure."""
    found = bytearray()
    try:
        for chunk in chunks:
            found += chunk
            if len(found) > LONGEST_ANSWER:
                break
    except BROKEN:
        return bytes(found)
    return bytes(found[:LONGEST_ANSWER])


def _address(url: str) -> httpx.URL | None:
    try:
        address = httpx.URL(url)
    except (httpx.InvalidURL, UnicodeError, ValueError):
        return None
    return address if address.scheme in ("http", "https") and address.host else None


def _proxy_for(url: httpx.URL) -> httpx.Proxy | None:
    """The proxy that the environment names for `url`; never one to this machine."""
    if url.host in LOOPBACK or proxy_bypass(url.host):
        return None
    proxies = getproxies()
    address = proxies.get(url.scheme) or proxies.get("all")
    if not address:
        return None
    return httpx.Proxy(address if "://" in address else f"http://{address}")


class _Stream(httpcore.NetworkStream):
    """A connection each of whose waits gets what is left of the deadline of the thread that waits."""

    def __init__(self, stream: httpcore.NetworkStream, deadline: Deadline) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        timeout = self._deadline.left(timeout)
        if timeout == 0:
            raise httpcore.ReadTimeout("deadline")
        return self._stream.read(max_bytes, timeout)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        timeout = self._deadline.left(timeout)
        if timeout == 0:
            raise httpcore.WriteTimeout("deadline")
        self._stream.write(buffer, timeout)

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        timeout = self._deadline.left(timeout)
        if timeout == 0:
            raise httpcore.ConnectTimeout("deadline")
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, timeout), self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _Backend(httpcore.NetworkBackend):
    """Opens connections; all addresses of a host share one wait."""

    def __init__(self, deadline: Deadline) -> None:
        self._backend = httpcore.SyncBackend()
        self._deadline = deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError("no such host") from error
        addresses = tuple(dict.fromkeys(str(address[0]) for *_, address in found))
        wait = self._deadline.left(timeout)
        share = None if wait is None else wait / len(addresses)
        failure: httpcore.ConnectError | httpcore.ConnectTimeout = httpcore.ConnectTimeout("deadline")
        for address in addresses if share != 0 else ():
            try:
                stream = self._backend.connect_tcp(address, port, share, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
            else:
                return _Stream(stream, self._deadline)
        raise failure
