"""The HTTP edge: every request is counted, read up to its door's cap, admitted, and only then handled in a thread.

It must not parse anything by itself, block the event loop, or ever answer 500.
"""

import logging
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from time import perf_counter

import anyio.to_thread
from anyio import CapacityLimiter
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from bot.store import StorageDown
from handlers.bodies import read_capped, unpacked
from handlers.gate import Gate, Hold
from handlers.health import Health
from handlers.meters import Meters
from handlers.wire import Answer, Call, Door, Refused, nothing_stored

logger = logging.getLogger(__name__)

MIB = 1024 * 1024
HEALTH_THREADS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the edge bears at once: `threads` is sized for the database's pool."""

    requests: int = 256
    body_bytes: int = 256 * MIB
    body_within: timedelta = timedelta(seconds=15)
    threads: int = 16


Lost = Callable[[Refused], Answer]
"""Words the answer to a browser that asks for what is not there."""


def web_app(
    *, doors: Sequence[Door], health: Health, meters: Meters, limits: Limits = Limits(), lost: Lost | None = None
) -> Starlette:
    """The ASGI application with these doors, `/healthz`, `/readyz` and `/metrics`; `lost` answers browsers gone astray."""
    edge = _Edge(meters=meters, limits=limits)
    app = Starlette(
        routes=[
            *(Route(door.path, edge.endpoint(door), methods=list(door.methods)) for door in doors),
            *(
                Route(path, edge.look(answer), methods=["GET"])
                for path, answer in (
                    ("/healthz", health.alive),
                    ("/readyz", health.ready),
                    ("/metrics", partial(health.metrics, meters.registry)),
                )
            ),
        ],
        exception_handlers={HTTPException: partial(_no_such_door, lost)},
    )
    app.router.redirect_slashes = False  # such a redirect would lead to whatever host the caller names
    return app


class _Edge:
    def __init__(self, *, meters: Meters, limits: Limits) -> None:
        self._meters = meters
        self._limits = limits
        self._gate = Gate(requests=limits.requests, body_bytes=limits.body_bytes)
        self._threads = CapacityLimiter(limits.threads)

    def endpoint(self, door: Door) -> Callable[[Request], Awaitable[Response]]:
        async def through(request: Request) -> Response:
            began = perf_counter()
            answer = await self._answer(door, request)
            self._meters.answered(door=door.name, code=answer.status, seconds=perf_counter() - began)
            return _response(answer)

        return through

    def look(self, answer: Callable[[], Answer]) -> Callable[[Request], Awaitable[Response]]:
        threads = CapacityLimiter(HEALTH_THREADS)

        async def looked(_: Request) -> Response:
            return _response(await anyio.to_thread.run_sync(answer, limiter=threads))

        return looked

    async def _answer(self, door: Door, request: Request) -> Answer:
        try:
            with self._gate.enter() as hold:
                self._meters.in_flight(self._gate.in_flight)
                return await self._through(door, request, hold)
        except Refused as refused:
            return self._refusal(door, refused)
        except StorageDown:
            logger.warning("nothing could be stored", extra={"door": door.name})
            return self._refusal(door, nothing_stored())
        except ClientDisconnect:
            return Answer(status=400)
        except Exception:
            error_id = secrets.token_hex(6)
            logger.exception("a request failed unexpectedly", extra={"door": door.name, "error_id": error_id})
            return self._refusal(door, _unexpected(error_id))
        finally:
            self._meters.in_flight(self._gate.in_flight)

    async def _through(self, door: Door, request: Request, hold: Hold) -> Answer:
        body = await read_capped(request, cap=door.cap, within=self._limits.body_within, hold=hold)
        call = _call(request, body)
        door.admit(call)
        return await anyio.to_thread.run_sync(partial(_handled, door, call), limiter=self._threads)

    def _refusal(self, door: Door, refused: Refused) -> Answer:
        self._meters.refused(door=door.name, reason=refused.reason)
        return door.refuse(refused)


def _handled(door: Door, call: Call) -> Answer:
    encoding = call.headers.get("content-encoding", "")
    body = unpacked(call.body, encoding=encoding, cap=door.cap, gzip=door.gzip)
    return door.handle(replace(call, body=body))


def _call(request: Request, body: bytes) -> Call:
    headers: dict[str, str] = {}
    for name, value in request.headers.items():
        headers[name.lower()] = f"{headers[name.lower()]}, {value}" if name.lower() in headers else value
    return Call(
        headers=headers,
        body=body,
        method=request.method,
        path=request.scope["path"],
        params=request.path_params,
        query=request.scope["query_string"].decode("latin-1"),
        peer=request.client.host if request.client else None,
    )


def _unexpected(error_id: str) -> Refused:
    return Refused(
        503,
        reason="unexpected",
        field="request",
        message=f"something went wrong here, logged as {error_id}",
        fix="send it again later; if it goes on, look for that id in the log",
        headers={"Retry-After": "5"},
    )


def _response(answer: Answer) -> Response:
    headers = {"Cache-Control": "no-store", **answer.headers, "Content-Type": answer.content_type}
    return Response(answer.body, status_code=answer.status, headers=headers)


async def _no_such_door(lost: Lost | None, request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    headers = dict(error.headers or {}) if isinstance(error, HTTPException) else {}
    allowed = headers.get("Allow", "another method")
    refused = Refused(
        status,
        reason="no_such_door",
        field="method" if status == 405 else "path",
        message=f"{request.method[:10]} is not taken here" if status == 405 else "there is nothing here",
        fix=f"use {allowed}" if status == 405 else "see the docs",
        headers=headers,
    )
    browses = lost is not None and "text/html" in request.headers.get("accept", "")
    return _response(lost(refused) if browses and lost is not None else refused.answer())
