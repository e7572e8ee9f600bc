"""A scheduler in a process of its own: asked by signed requests, it answers by events; what it took survives its death.

It trusts nothing of a request, takes each key once, and writes down what it took before it answers. A test tells it, by
`POST /control`, what becomes of its runs and what is to go wrong.
"""

import argparse
import asyncio
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.sandbox.slack.journal import Journal
from bot.sandbox.slack.server import LOOPBACK, config_of
from tests.standins.scheduler_checks import Bad, checked
from tests.standins.scheduler_runs import Runs

Json = dict[str, Any]
FOR_EVER = 3600.0
FAULTS = frozenset({"refuse", "fail", "drop", "drop_after", "hang", "delay"})


@dataclass(slots=True)
class Fault:
    """What goes wrong with the next `times` requests (None: with all) of that action (None: of any).

    `refuse` answers `status` and `message` and takes nothing, `fail` the same after it was taken; `drop` cuts the
    connection before it is taken, `drop_after` and `hang` after; `delay` takes and answers after `ms`.
    """

    what: str
    action: str | None = None
    times: int | None = 1
    status: int = 403
    message: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    ms: int = 0

    def __post_init__(self) -> None:
        if self.what not in FAULTS:
            raise ValueError(f"no such fault: {self.what}")


@dataclass(slots=True)
class Scheduler:
    """Its memory is its journal: a row `taken` for each key, `again` for each repetition, `refused` for what was not right."""

    journal: Journal
    secret: str
    runs: Runs
    clock: Callable[[], datetime]
    faults: list[Fault] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        for row in self.journal.rows:
            if row["what"] == "control":
                self.runs.control(row["wish"])
        taken = [row["request"] for row in self.journal.rows if row["what"] == "taken"]
        self.keys = {request["key"] for request in taken}
        for request in taken:
            self.runs.take(request)

    def fault_for(self, action: str) -> Fault | None:
        """The first fault that was ordered for this action, used up by one."""
        with self.lock:
            for fault in self.faults:
                if fault.action in (None, action):
                    if fault.times is not None:
                        fault.times -= 1
                        self.faults = [each for each in self.faults if each.times != 0]
                    return fault
        return None

    def understood(self, headers: dict[str, str], body: bytes) -> Json:
        """The request; raises `Bad` when it is not exactly as agreed."""
        try:
            return checked(headers, body, secret=self.secret, now=self.clock())
        except Bad as bad:
            with self.lock:
                self._note({"what": "refused", "status": bad.status, "why": str(bad)})
            raise

    def take(self, request: Json) -> Response:
        with self.lock:
            known = request["key"] in self.keys
            self._note({"what": "again" if known else "taken", "request": request})
            self.keys.add(request["key"])
        if known:
            return said(409, "taken before under this key")
        self.runs.take(request)
        return said(202, "taken")

    def refuse(self, request: Json, fault: Fault) -> Response:
        with self.lock:
            self._note({"what": "refused", "status": fault.status, "why": fault.message, "request": request})
        return said(fault.status, fault.message, fault.headers)

    def control(self, wish: Json) -> None:
        """Faults are of this life; what becomes of runs is remembered."""
        with self.lock:
            if "faults" in wish:
                self.faults = [Fault(**each) for each in wish["faults"]]
            self._note({"what": "control", "wish": {name: wish[name] for name in wish if name != "faults"}})
        self.runs.control(wish)

    def _note(self, row: Json) -> None:
        self.journal.append({"n": self.journal.last + 1, "at": self.clock().isoformat(), **row})


def said(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse({"message": message}, status_code=status, headers=headers)


@dataclass(slots=True)
class Doors:
    """The address that is asked, and those by which a test looks in."""

    scheduler: Scheduler

    async def on_request(self, request: Request) -> Response:
        headers, body = dict(request.headers), await request.body()
        try:
            wanted = await run_in_threadpool(self.scheduler.understood, headers, body)
        except Bad as bad:
            return said(bad.status, str(bad))
        fault = self.scheduler.fault_for(wanted["action"])
        if fault is None:
            return await run_in_threadpool(self.scheduler.take, wanted)
        return await self._wrong(request, wanted, fault)

    async def _wrong(self, request: Request, wanted: Json, fault: Fault) -> Response:
        if fault.what == "refuse":
            return await run_in_threadpool(self.scheduler.refuse, wanted, fault)
        if fault.what == "drop":
            return cut(request)
        answer = await run_in_threadpool(self.scheduler.take, wanted)
        match fault.what:
            case "fail":
                return said(fault.status, fault.message, fault.headers)
            case "drop_after":
                return cut(request)
            case "hang":
                await asyncio.sleep(FOR_EVER)
            case "delay":
                await asyncio.sleep(fault.ms / 1000)
        return answer

    async def on_control(self, request: Request) -> Response:
        self.scheduler.control(msgspec.json.decode(await request.body()))
        return JSONResponse({"ok": True})

    async def on_journal(self, request: Request) -> Response:
        with self.scheduler.lock:
            return JSONResponse(
                {"rows": list(self.scheduler.journal.rows), "reports": list(self.scheduler.runs.reports)}
            )

    async def on_idle(self, request: Request) -> Response:
        """Answers when no run has anything left to report (or says that it still has)."""
        idle = await run_in_threadpool(self.scheduler.runs.wait_idle)
        return JSONResponse({"idle": idle})


def cut(request: Request) -> Response:
    """No answer: the connection is gone."""
    request.scope["state"]["abort"]()
    return Response()


def app_of(scheduler: Scheduler) -> Starlette:
    doors = Doors(scheduler)
    return Starlette(
        routes=[
            Route("/ontrack", doors.on_request, methods=["POST"]),
            Route("/control", doors.on_control, methods=["POST"]),
            Route("/journal", doors.on_journal, methods=["GET"]),
            Route("/idle", doors.on_idle, methods=["GET"]),
        ]
    )


def real_clock() -> datetime:
    return datetime.now(UTC)


def main() -> None:
    options = _options()
    runs = Runs(events=options.events, token=options.token, clock=real_clock)
    scheduler = Scheduler(journal=Journal(options.journal), secret=options.secret, runs=runs, clock=real_clock)
    listening = socket.create_server((LOOPBACK, options.port), backlog=512)
    print(f"scheduler on http://{LOOPBACK}:{listening.getsockname()[1]}", flush=True)
    uvicorn.Server(config_of(app_of(scheduler))).run(sockets=[listening])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.standins.scheduler", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one and prints it")
    parser.add_argument("--journal", type=Path, help="file of what was taken; read again at start")
    parser.add_argument("--events", required=True, help="where runs are reported: http://.../api/v1/events")
    parser.add_argument("--token", required=True, help="the source token to report with")
    parser.add_argument("--secret", required=True, help="shared with whoever asks")
    return parser.parse_args()


if __name__ == "__main__":
    main()
