"""A fake Maestro over HTTP on loopback; what it answers is not known here."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import yaml

from tests.maestro.fake.answering import MONDAY, Answering
from tests.maestro.fake.faults import Asked, Fault, error_body
from tests.maestro.fake.records import Clock, Json, No

__all__ = ["MONDAY", "Maestro", "a_maestro"]


class Maestro(Answering):
    """Serves what it answers until it is closed."""

    def __init__(self, clock: Clock | None = None) -> None:
        super().__init__(clock)
        self.released = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def a_maestro(clock: Clock | None = None) -> Iterator[Maestro]:
    """One for a test, closed afterwards."""
    maestro = Maestro(clock)
    try:
        yield maestro
    finally:
        maestro.close()


def _handler(maestro: Maestro) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1
        disable_nagle_algorithm = True

        def log_message(self, format: str, *args: Any) -> None:
            return

        def date_time_string(self, timestamp: float | None = None) -> str:
            return format_datetime(maestro.now, usegmt=True)

        def do_GET(self) -> None:
            _serve(maestro, self)

        do_POST = do_PUT = do_DELETE = do_GET

    return Handler


def _serve(maestro: Maestro, handler: BaseHTTPRequestHandler) -> None:
    size = int(handler.headers.get("Content-Length") or 0)
    raw = handler.rfile.read(size)
    split = urlsplit(handler.path)
    kind = (handler.headers.get("Content-Type") or "").split(";")[0]
    asked = Asked(
        method=handler.command,
        path=split.path,
        query=dict(parse_qsl(split.query, keep_blank_values=True)),
        body={},
        user=handler.headers.get("user"),
        headers={name.lower(): value for name, value in handler.headers.items()},
    )
    try:
        asked.body = _read(asked, kind, raw)
    except No as no:
        _say(handler, no.status, error_body(no.status, no.message), {})
        return
    _answer(maestro, handler, asked, maestro.heard(asked))


def _read(asked: Asked, kind: str, raw: bytes) -> Json:
    """Bodies are JSON; only the YAML endpoints take YAML."""
    if asked.method != "POST" and not raw:
        return {}
    wanted = "application/yaml" if asked.path.endswith("/yaml") else "application/json"
    if kind != wanted:
        raise No(415, f"Content-Type '{kind}' is not supported")
    try:
        body = yaml.safe_load(raw) if wanted.endswith("yaml") else json.loads(raw)
    except (yaml.YAMLError, ValueError) as wrong:
        raise No(400, f"JSON parse error: {wrong}") from wrong
    if not isinstance(body, dict):
        raise No(400, "JSON parse error: Cannot deserialize value")
    return body


def _answer(maestro: Maestro, handler: BaseHTTPRequestHandler, asked: Asked, fault: Fault | None) -> None:
    kind = fault.kind if fault else ""
    if kind == "hang":
        maestro.released.wait()
    if kind in ("drop", "hang"):
        handler.close_connection = True
        return
    if fault and isinstance(kind, int):
        _say(handler, kind, error_body(kind, f"fault {kind}"), fault.headers)
        return
    status, answer = maestro.answered(asked)
    if kind == "hang_after":
        maestro.released.wait()
    if kind in ("lose", "hang_after"):
        handler.close_connection = True
        return
    if kind == "late":
        status, answer = 500, error_body(500, "BACKEND_ERROR - the connection to the database was lost")
    _say(handler, status, "<html>not what you think" if kind == "garbage" else answer, {})


def _say(handler: BaseHTTPRequestHandler, status: int, answer: Any, headers: dict[str, str]) -> None:
    text = answer if isinstance(answer, str) else json.dumps(answer)
    handler.send_response(status)
    kind = "text/html" if isinstance(answer, str) else "application/json"
    for name, value in {"Content-Type": kind, "Content-Length": str(len(text.encode())), **headers}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(text.encode())
