"""A stand-in for `POST /api/v1/events` on loopback: keeps what it was sent and answers as it is told."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import SimpleQueue
from typing import Any

TOKEN = "token-of-the-crontab"


@dataclass(slots=True)
class Receiver:
    """`status` and `reject` say how it answers; `hangs` keeps every caller waiting until it is set."""

    url: str = ""
    events: list[dict[str, Any]] = field(default_factory=list)
    told: SimpleQueue[str] = field(default_factory=SimpleQueue)
    tokens: set[str] = field(default_factory=set)
    status: int = 200
    reject: frozenset[str] = frozenset()
    answer: bytes | None = None
    hangs: threading.Event | None = None

    @property
    def kinds(self) -> list[str]:
        return [event["type"].removeprefix("io.ontrack.") for event in self.events]

    @property
    def last(self) -> dict[str, Any]:
        data: dict[str, Any] = self.events[-1]["data"]
        return data

    def takes(self, body: bytes) -> tuple[int, bytes]:
        if self.hangs is not None:
            self.hangs.wait(30)
        if self.status != 200:
            return self.status, b"{}"
        if self.answer is not None:
            return 200, self.answer
        results = []
        for event in json.loads(body):
            rejected = event["type"] in self.reject
            results.append({"id": event["id"], "result": "rejected" if rejected else "accepted", "reason": "no"})
            if not rejected:
                self.events.append(event)
                self.told.put(event["type"].removeprefix("io.ontrack."))
        return (422 if all(one["result"] == "rejected" for one in results) else 200), json.dumps(
            {"results": results}
        ).encode()


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            receiver.tokens.add(self.headers["Authorization"])
            status, body = receiver.takes(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    receiver.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield receiver
    finally:
        if receiver.hangs is not None:
            receiver.hangs.set()
        server.shutdown()
        server.server_close()
