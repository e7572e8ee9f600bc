"""Makes one POST to a scheduler's address: one request, one answer, all of it within one deadline.

It must not repeat a request, follow a redirect, or know what is asked; no text made here shows an address or a header.
"""

import weakref
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpcore
import httpx

from bot.wire.deadline import Deadline, DeadlineBackend
from bot.wire.proxies import proxy_for

LONGEST_ANSWER = 64 * 1024
CONNECTIONS = 32
IDLE = timedelta(seconds=50)
CONNECTING = timedelta(seconds=10)
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
        self._pool = httpcore.ConnectionPool(
            ssl_context=httpx.create_ssl_context() if self._address.scheme == "https" else None,
            proxy=proxy_for(self._address),
            max_connections=CONNECTIONS,
            max_keepalive_connections=CONNECTIONS,
            keepalive_expiry=IDLE.total_seconds(),
            network_backend=DeadlineBackend(self._deadline),
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
