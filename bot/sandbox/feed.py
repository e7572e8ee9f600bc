"""The feed server from which sample jobs fetch their lists over TCP; it drops connections when told to, or now and then.

It knows nothing of ontrack: for the product it is a stranger's server.
"""

import socket
import socketserver
import struct
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

LOOPBACK = "127.0.0.1"
HALF_TAKES = 0.15
ROWS = 400
CLOSE_AT_ONCE = struct.pack("ii", 1, 0)


@dataclass(slots=True)
class Feed:
    """A running feed server. `now_and_then`: of each list so many connections go well before one is dropped by itself."""

    now_and_then: Mapping[str, int] = field(default_factory=dict)
    broken: bool = False
    _to_drop: Counter[str] = field(default_factory=Counter)
    _served: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _server: socketserver.ThreadingTCPServer = field(init=False)

    def __post_init__(self) -> None:
        feed = self

        class Conversation(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                feed.serve(self.connection, self.rfile.readline(200).decode(errors="replace"))

        self._server = Server((LOOPBACK, 0), Conversation)
        threading.Thread(target=self._server.serve_forever, args=(0.1,), name="sandbox-feed", daemon=True).start()

    @property
    def address(self) -> str:
        return f"{LOOPBACK}:{self._server.server_address[1]}"

    def drop(self, wanted: str, times: int = 1) -> None:
        """Drop the next connections that ask for this list, in the midst of it."""
        with self._lock:
            self._to_drop[wanted] += times

    def repair(self) -> None:
        """Drop nothing any more but what is dropped now and then."""
        with self._lock:
            self.broken = False
            self._to_drop.clear()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def serve(self, connection: socket.socket, line: str) -> None:
        """Answer one request: the list and END, or half of it and a reset."""
        wanted = line.removeprefix("GET ").strip()
        lines = [f"day,{wanted}", *(f"2026-11-{day % 28 + 1:02},{day * 7 % 900}.{day % 100:02}" for day in range(ROWS))]
        half = len(lines) // 2
        dropped = self._is_dropped(wanted)
        connection.sendall("".join(f"{each}\n" for each in lines[:half]).encode())
        time.sleep(HALF_TAKES)
        if dropped:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, CLOSE_AT_ONCE)
            connection.close()
            return
        connection.sendall("".join(f"{each}\n" for each in (*lines[half:], "END")).encode())

    def _is_dropped(self, wanted: str) -> bool:
        with self._lock:
            self._served[wanted] += 1
            if self._to_drop[wanted] > 0:
                self._to_drop[wanted] -= 1
                return True
            well = self.now_and_then.get(wanted)
            return self.broken or (well is not None and self._served[wanted] % (well + 1) == 0)


class Server(socketserver.ThreadingTCPServer):
    """Its conversations end with the process, and one that the other side left is no trouble of ours."""

    allow_reuse_address = True
    daemon_threads = True

    def shutdown_request(self, request: socket.socket | tuple[bytes, socket.socket]) -> None:
        if isinstance(request, socket.socket) and request.fileno() >= 0:
            super().shutdown_request(request)

    def handle_error(self, request: object, client_address: object) -> None:
        """A job that was killed leaves its connection; nothing is to be told of it."""
