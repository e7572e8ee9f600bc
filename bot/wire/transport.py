"""An httpx client's transport under a deadline. It must not ask twice, or follow anything by itself."""

import ssl
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta

import httpcore
import httpx

from bot.wire.deadline import Deadline, DeadlineBackend

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
        proxy: httpcore.Proxy | None = None,
    ) -> None:
        self._pool = httpcore.ConnectionPool(
            proxy=proxy,
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
