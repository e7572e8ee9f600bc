"""Serves a web app over real HTTP on the loopback, in a thread, as long as a test needs it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.types import Receive, Scope, Send


@dataclass(frozen=True)
class Served:
    """A web app on a port, and a client that speaks to it."""

    port: int
    client: httpx.Client


class Host:
    """One server for many tests; each puts its own app behind it."""

    def __init__(self, port: int, serving: "Behind") -> None:
        self.port = port
        self._serving = serving

    @contextmanager
    def serve(self, app: Starlette) -> Iterator[Served]:
        self._serving.app = app
        with httpx.Client(base_url=f"http://127.0.0.1:{self.port}", timeout=10, trust_env=False) as client:
            yield Served(port=self.port, client=client)


class Behind:
    """Passes every request to the app that is served now."""

    def __init__(self) -> None:
        self.app: Starlette | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.app is None:
            raise RuntimeError("no app is served yet")
        await self.app(scope, receive, send)


@contextmanager
def hosting() -> Iterator[Host]:
    started, behind = threading.Event(), Behind()
    config = uvicorn.Config(behind, host="127.0.0.1", port=0, log_level="critical", lifespan="off")
    server = _Server(config, started)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    if not started.wait(10):
        raise RuntimeError("the server did not start")
    try:
        yield Host(server.servers[0].sockets[0].getsockname()[1], behind)
    finally:
        server.should_exit = True
        thread.join(10)


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, started: threading.Event) -> None:
        super().__init__(config)
        self._is_up = started

    async def startup(self, sockets: list[object] | None = None) -> None:  # type: ignore[override]
        await super().startup()
        self._is_up.set()
