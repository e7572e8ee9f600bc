"""Socket Mode as an app sees it: tickets, WebSockets, envelopes and their acknowledgements; it must build no payload."""

import contextlib
import secrets
import socket
import socketserver
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from queue import Empty, SimpleQueue

import msgspec

from bot.sandbox.slack import frames
from bot.sandbox.slack.frames import Broken, Opcode
from bot.sandbox.slack.wire import Json, Refusal

LOOPBACK = "127.0.0.1"
PATIENCE = timedelta(seconds=3)
LONGEST_HEAD = 64


@dataclass(slots=True)
class Connection:
    """One app's WebSocket; `silent`: it is open, and nothing comes or goes any more."""

    raw: socket.socket
    silent: bool = False
    acks: dict[str, SimpleQueue[Json]] = field(default_factory=dict)
    sending: threading.Lock = field(default_factory=threading.Lock)

    def send(self, opcode: Opcode, body: bytes) -> None:
        if not self.silent:
            with self.sending, contextlib.suppress(OSError):
                self.raw.sendall(frames.written(opcode, body))

    def say(self, message: Json) -> None:
        self.send(Opcode.TEXT, msgspec.json.encode(message))

    def cut(self) -> None:
        with contextlib.suppress(OSError):
            self.raw.shutdown(socket.SHUT_RDWR)


@dataclass(slots=True)
class Sockets:
    """Listens once the first connection was asked for; `token` is the app-level one."""

    token: str = "xapp-sandbox"
    patience: timedelta = PATIENCE
    open: list[Connection] = field(default_factory=list)
    opened: int = 0
    _tickets: set[str] = field(default_factory=set)
    _server: socketserver.ThreadingTCPServer | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def connections_open(self, token: str | None) -> Json:
        """apps.connections.open: an address with a ticket, good for one use."""
        if token != self.token:
            raise Refusal("invalid_auth" if token else "not_authed")
        ticket = secrets.token_hex(8)
        with self._lock:
            self._tickets.add(ticket)
            port = self._listening()
        return {"ok": True, "url": f"ws://{LOOPBACK}:{port}/link/?ticket={ticket}&app_id=A0APP"}

    def deliver(self, kind: str, payload: Json, *, retry: int = 0) -> tuple[Json | None, int]:
        """Send an envelope on the newest connection; the payload of its acknowledgement (None: none came) and the ms waited."""
        connection, began = self.open[-1], time.monotonic()
        envelope = secrets.token_hex(16)
        answers: SimpleQueue[Json] = SimpleQueue()
        connection.acks[envelope] = answers
        again = {"retry_attempt": retry, "retry_reason": "timeout"} if retry else {}
        connection.say(
            {"type": kind, "envelope_id": envelope, "payload": payload, "accepts_response_payload": True, **again}
        )
        try:
            answer = answers.get(timeout=self.patience.total_seconds())
        except Empty:
            return None, int((time.monotonic() - began) * 1000)
        return answer.get("payload") or {}, int((time.monotonic() - began) * 1000)

    def disturb(self, wish: Json) -> Json:
        """`drop`: cut all connections; `silence`: leave them open and dead; `refresh`: ask the app for a new one, politely."""
        for connection in tuple(self.open):
            match wish["act"]:
                case "drop":
                    connection.cut()
                case "silence":
                    connection.silent = True
                case "refresh":
                    connection.say({"type": "disconnect", "reason": "refresh_requested"})
        return {"ok": True, "open": len(self.open), "opened": self.opened}

    def close(self) -> None:
        for connection in tuple(self.open):
            connection.cut()
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()

    def enters(self, ticket: str) -> bool:
        with self._lock:
            known = ticket in self._tickets
            self._tickets.discard(ticket)
        return known

    def _listening(self) -> int:
        if self._server is None:
            self._server = _Server((LOOPBACK, 0), handler_of(self))
            threading.Thread(target=self._server.serve_forever, name="sandbox-sockets", daemon=True).start()
        return int(self._server.server_address[1])


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False


def handler_of(sockets: Sockets) -> Callable[..., socketserver.BaseRequestHandler]:
    class Handler(socketserver.StreamRequestHandler):
        """One connection, from its handshake to its end."""

        def handle(self) -> None:
            head = _head(self.rfile.readline)
            ticket = head.get("", "").partition("ticket=")[2].partition("&")[0].partition(" ")[0]
            if not sockets.enters(ticket) or "sec-websocket-key" not in head:
                self.wfile.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
                return
            connection = Connection(self.connection)
            with connection.sending:
                sockets.open.append(connection)
                sockets.opened += 1
                self.wfile.write(frames.accepted(head["sec-websocket-key"]))
            connection.say({"type": "hello", "num_connections": 1, "connection_info": {"app_id": "A0APP"}})
            try:
                self._listen(connection)
            except (Broken, OSError):
                connection.cut()
            finally:
                sockets.open.remove(connection)

        def _listen(self, connection: Connection) -> None:
            while (frame := frames.read_from(self.rfile.read)).opcode != Opcode.CLOSE:
                if frame.opcode == Opcode.PING:
                    connection.send(Opcode.PONG, frame.body)
                elif frame.opcode == Opcode.TEXT and not connection.silent:
                    answer = msgspec.json.decode(frame.body)
                    waiting = connection.acks.pop(answer.get("envelope_id", ""), None)
                    if waiting is not None:
                        waiting.put(answer)

    return Handler


def _head(line: Callable[[], bytes]) -> dict[str, str]:
    """The request line under "", and the headers by their names in lower case."""
    found = {"": line().decode("latin-1").strip()}
    for _ in range(LONGEST_HEAD):
        name, colon, value = line().decode("latin-1").partition(":")
        if not colon:
            break
        found[name.strip().lower()] = value.strip()
    return found
