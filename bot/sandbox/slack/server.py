"""Serves an ASGI app on loopback from a thread of this process; it must not know which app."""

import socket
import threading
from dataclasses import dataclass
from datetime import timedelta

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LOOPBACK = "127.0.0.1"
STARTING = timedelta(seconds=10)
STOPPING = timedelta(seconds=10)


class DroppableProtocol(HttpToolsProtocol):
    """Lets an app cut the connection without an answer, by `scope["state"]["abort"]()`."""

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["state"]["abort"] = self.transport.abort


@dataclass(slots=True)
class Server:
    """A running server; `stop` returns when its thread has ended."""

    url: str
    _server: uvicorn.Server
    _thread: threading.Thread

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(STOPPING.total_seconds())


def config_of(app: Starlette) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=DroppableProtocol,
        log_level="warning",
        access_log=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=1,
    )


def serve(app: Starlette, port: int = 0) -> Server:
    """Serve the app until `stop`; port 0 takes a free one. Returns when it answers."""
    listening = socket.create_server((LOOPBACK, port), backlog=512)
    url = f"http://{LOOPBACK}:{listening.getsockname()[1]}"
    if (workspace := getattr(app.state, "workspace", None)) is not None:
        workspace.url = url
    ready = threading.Event()
    server = AnnouncingServer(config_of(app), ready)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, name="sandbox-slack", daemon=True)
    thread.start()
    if not ready.wait(STARTING.total_seconds()):
        raise RuntimeError(f"the stand-in did not start on {url}")
    return Server(url, server, thread)


class AnnouncingServer(uvicorn.Server):
    """Says when it has begun to listen."""

    def __init__(self, config: uvicorn.Config, ready: threading.Event) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready.set()
