"""One HTTP exchange with a server that speaks JSON, within a deadline. It must not ask twice, or know what is asked."""

import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx
import msgspec

from bot.wire.deadline import Deadline
from bot.wire.proxies import proxy_for
from bot.wire.transport import DeadlineTransport

LONGEST_ANSWER = 32 * 1024 * 1024
CONNECTIONS = 8
IDLE = timedelta(seconds=50)
CONNECTING = timedelta(seconds=10)
NOTHING_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)
CANNOT_BE_SENT = (httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.LocalProtocolError, ValueError)

Params = Sequence[tuple[str, str]]


class NotSent(Exception):
    """Nothing of the request arrived; the text says why."""


class NoAnswer(Exception):
    """The request may have arrived; no answer did, or none that ended."""


class Refused(Exception):
    """The server said no, in these words: nothing was done. `retry_after` where it is for the moment only."""

    def __init__(self, status: int, message: str, *, retry_after: timedelta | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after


class Unwell(Exception):
    """It answered that it is not well, or with what is no answer: whether anything was done is not known."""

    def __init__(self, message: str, *, retry_after: timedelta | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The status, the headers and the whole body of an answer."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class JsonWire:
    """Keeps its connections; safe to use from many threads at once. Who lets go of it need not close it."""

    def __init__(self, url: str) -> None:
        self._base = url.rstrip("/")
        self._deadline = Deadline()
        self._client = httpx.Client(transport=self._transport(), follow_redirects=False, trust_env=False)
        self.close = weakref.finalize(self, self._client.close)

    def _transport(self) -> DeadlineTransport | None:
        try:
            address = httpx.URL(self._base)
        except CANNOT_BE_SENT:
            return None
        return DeadlineTransport(
            deadline=self._deadline,
            connections=CONNECTIONS,
            idle=IDLE,
            ssl_context=httpx.create_ssl_context() if address.scheme == "https" else None,
            proxy=proxy_for(address),
        )

    @contextmanager
    def within(self, allowed: timedelta) -> Iterator[None]:
        """All exchanges of this thread in the block together are over after `allowed`."""
        with self._deadline.within(allowed):
            yield

    def exchange(
        self, method: str, path: str, *, params: Params = (), body: Any = None, headers: Mapping[str, str]
    ) -> Answered:
        """Raises `NotSent` or `NoAnswer`. `path` is already quoted; `body` goes as JSON."""
        content = None if body is None else msgspec.json.encode(body)
        sent = {"Accept": "application/json", "User-Agent": "ontrack", **headers}
        if content is not None:
            sent["Content-Type"] = "application/json"
        wait = self._deadline.clamp(CONNECTING.total_seconds())
        if wait == 0:
            raise NotSent("no time was left to ask it")
        waits = httpx.Timeout(None, connect=wait, pool=wait)
        try:
            with self._client.stream(
                method, f"{self._base}{path}", params=list(params), content=content, headers=sent, timeout=waits
            ) as response:
                return Answered(status=response.status_code, headers=response.headers, content=_whole(response))
        except NOTHING_SENT as error:
            raise NotSent("no connection to it came about") from error
        except CANNOT_BE_SENT as error:
            raise NotSent("its url is not an address that can be asked") from error
        except httpx.TimeoutException as error:
            raise NoAnswer("it did not answer in time") from error
        except httpx.HTTPError as error:
            raise NoAnswer("the connection broke before an answer came") from error


def _whole(response: httpx.Response) -> bytes:
    found = bytearray()
    for chunk in response.iter_bytes():
        found += chunk
        if len(found) > LONGEST_ANSWER:
            raise NoAnswer("its answer is longer than is taken")
    return bytes(found)
