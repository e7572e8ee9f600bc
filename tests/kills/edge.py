"""A trap at the outer edge of a stand-in: the call that it is set for kills the process that made it, at an exact moment.

It must not know what the stand-in does with a call, nor anything of the product but its pid.
"""

import asyncio
import os
import signal
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LATER = 2.0
LONGEST_WAIT = 60.0


class Moment(StrEnum):
    """When the caller dies: the call has arrived and is lost, or is taken only later, as if it had been under way; it was
    taken, and the answer is lost; it was answered."""

    ARRIVED = "arrived"
    ARRIVED_AND_TAKEN_LATER = "arrived_and_taken_later"
    TAKEN = "taken"
    ANSWERED = "answered"


@dataclass(slots=True, kw_only=True)
class Trap:
    """The first call with `path` in its path, all of `contains` and nothing of `lacks` in its body kills `pid`."""

    pid: int
    path: str
    moment: Moment
    contains: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()

    def is_for(self, path: str, body: bytes) -> bool:
        return (
            self.path in path
            and all(each.encode() in body for each in self.contains)
            and not any(each.encode() in body for each in self.lacks)
        )


@dataclass(slots=True)
class Edge:
    """The middleware. A trap springs once; `POST /edge/trap` sets it, `GET /edge/sprung` answers when it has sprung."""

    app: ASGIApp
    trap: Trap | None = None
    sprung: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif scope["path"] == "/edge/trap":
            self.trap = msgspec.convert(await Request(scope, receive).json(), Trap | None)
            self.sprung.clear()
            await JSONResponse({"ok": True})(scope, receive, send)
        elif scope["path"] == "/edge/sprung":
            await JSONResponse({"sprung": await self._wait(scope)})(scope, receive, send)
        elif self.trap is None:
            await self.app(scope, receive, send)
        else:
            await self._perhaps(scope, receive, send)

    async def _wait(self, scope: Scope) -> bool:
        seconds = min(float(Request(scope).query_params["within"]), LONGEST_WAIT)
        try:
            await asyncio.wait_for(self.sprung.wait(), seconds)
        except TimeoutError:
            return False
        return True

    async def _perhaps(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await _body(receive)
        if body is None:
            scope["state"]["abort"]()
            return
        trap = self.trap
        if trap is None or not trap.is_for(scope["path"], body):
            await self.app(scope, _Again(body, receive), send)
            return
        self.trap = None
        match trap.moment:
            case Moment.ANSWERED:
                await self.app(scope, _Again(body, receive), send)
                self._spring(trap)
            case Moment.TAKEN:
                await self.app(scope, _Again(body, receive), _Killer(lambda: self._spring(trap)))
                scope["state"]["abort"]()
            case Moment.ARRIVED:
                self._spring(trap)
                scope["state"]["abort"]()
            case Moment.ARRIVED_AND_TAKEN_LATER:
                self._spring(trap)
                await asyncio.sleep(LATER)
                await self.app(scope, _Again(body, receive), _Killer(lambda: None))
                scope["state"]["abort"]()

    def _spring(self, trap: Trap) -> None:
        os.kill(trap.pid, signal.SIGKILL)
        self.sprung.set()


@dataclass(slots=True)
class _Again:
    """Gives a body that was read to the app; afterwards what comes from the caller."""

    body: bytes
    receive: Receive
    given: bool = False

    async def __call__(self) -> Message:
        if self.given:
            return await self.receive()
        self.given = True
        return {"type": "http.request", "body": self.body, "more_body": False}


@dataclass(slots=True)
class _Killer:
    """Takes the answer in place of the caller, who dies of its first word."""

    spring: Any
    begun: bool = False

    async def __call__(self, message: Message) -> None:
        if not self.begun:
            self.begun = True
            self.spring()


async def _body(receive: Receive) -> bytes | None:
    """The whole body; None when the caller went away in the middle of it."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if not message.get("more_body"):
            return bytes(body)
