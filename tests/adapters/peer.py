"""An HTTP server on loopback that answers as a test scripts it, faults included; it knows nothing of Slack's rules."""

import json
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A request as it came, whole."""

    path: str
    headers: Mapping[str, str]
    content: bytes
    connection: int

    @property
    def json(self) -> Any:
        return json.loads(self.content)

    @property
    def form(self) -> dict[str, str]:
        return dict(parse_qsl(self.content.decode(), keep_blank_values=True))


class Handler(BaseHTTPRequestHandler):
    """One connection; `script` decides each answer."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: "Peer"

    def setup(self) -> None:
        super().setup()
        self.number = self.server.count_connection()

    def handle(self) -> None:
        if self.number in self.server.closed_unread:
            return
        super().handle()

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        received = Received(path=self.path, headers=dict(self.headers.items()), content=content, connection=self.number)
        self.received = received
        self.server.received.append(received)
        script = self.server.scripts[self.path]
        (script.popleft() if script else said({"ok": True}))(self)

    def log_message(self, *_: object) -> None:
        """Keeps the test's output clean."""


Reaction = Callable[[Handler], None]


class Peer(ThreadingHTTPServer):
    """`scripts` holds the coming answers of each path; without one the answer is `{"ok": true}`."""

    daemon_threads = False
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.received: list[Received] = []
        self.connections = 0
        self.closed_unread: set[int] = set()
        self.scripts: defaultdict[str, deque[Reaction]] = defaultdict(deque)
        self.over = threading.Event()
        self._counting = threading.Lock()
        self._closed = threading.Semaphore(0)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/api/"

    def count_connection(self) -> int:
        with self._counting:
            self.connections += 1
            return self.connections

    def shutdown_request(self, request: Any) -> None:
        super().shutdown_request(request)
        self._closed.release()

    def wait_for_a_closed_connection(self) -> None:
        assert self._closed.acquire(timeout=10)

    def will(self, method: str, *reactions: Reaction) -> None:
        """React in this way to the next calls of `method`."""
        self.scripts[f"/api/{method}"].extend(reactions)

    def calls(self, method: str) -> list[Received]:
        return [received for received in self.received if received.path == f"/api/{method}"]


def said(body: Mapping[str, Any] | bytes, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Reaction:
    """A whole answer: JSON, or bytes as they are."""

    def react(handler: Handler) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        handler.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **(headers or {})}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(content)

    return react


def said_back(handler: Handler) -> None:
    """The key of the posted message as its timestamp, so that no two answers are alike."""
    said({"ok": True, "ts": handler.received.json["metadata"]["event_payload"]["key"]})(handler)


def never_answered(handler: Handler) -> None:
    """Takes the request and is silent until the test is over."""
    handler.server.over.wait(30)
    handler.close_connection = True


def hung_up(handler: Handler) -> None:
    """Takes the request and closes the connection."""
    handler.close_connection = True


def left_after(reaction: Reaction) -> Reaction:
    """Answers, and closes the connection without having said that it would."""

    def react(handler: Handler) -> None:
        reaction(handler)
        handler.close_connection = True

    return react


def cut_off(handler: Handler) -> None:
    """Answers half of what it announced, then closes the connection."""
    handler.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"ok": true')
    handler.close_connection = True


@dataclass(slots=True)
class Trickle:
    """Answers a byte every few milliseconds, so that no single wait is ever long."""

    pause: float = 0.01
    sent: int = field(default=0)

    def __call__(self, handler: Handler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        handler.close_connection = True
        while not handler.server.over.wait(self.pause):
            try:
                handler.wfile.write(b" ")
            except OSError:
                return
            self.sent += 1
