"""An IMAP server that answers as a test scripts it: for what real ones do only on a bad day. It tests nothing."""

import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

GREETING = b"* OK ready\r\n"
HANGS = b"hangs"
"""Instead of an answer: nothing, ever."""
HANGS_UP = b"hangs up"
NO = b"NO "


class ImapPeer(socketserver.ThreadingTCPServer):
    """`says`: what is told before the tagged answer of a command (`UID SEARCH`, `NOOP`), or the refusal, or a fault."""

    daemon_threads = False
    allow_reuse_address = True

    def __init__(self, tls: ssl.SSLContext | None, *, from_the_start: bool) -> None:
        super().__init__(("127.0.0.1", 0), _Connection)
        self.tls = tls
        if tls is not None and from_the_start:
            self.socket = tls.wrap_socket(self.socket, server_side=True)
        self.greeting = GREETING
        self.says: dict[str, bytes] = {
            "CAPABILITY": b"* CAPABILITY IMAP4rev1 AUTH=PLAIN IDLE\r\n",
            "EXAMINE": b"* 0 EXISTS\r\n* OK [UIDVALIDITY 7] UIDs valid\r\n",
            "LOGOUT": b"* BYE\r\n",
        }
        self.heard: list[str] = []
        self.before_idling = b""
        self.while_idling = b""
        self.over = threading.Event()

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        return f"imap://ontrack:secret@127.0.0.1:{self.port}"

    def asked(self, command: str) -> list[str]:
        """The commands of that name as they came, without their tags."""
        return [each for each in self.heard if each.startswith(command)]


class _Connection(socketserver.StreamRequestHandler):
    server: ImapPeer
    secured: ssl.SSLSocket | None = None

    def finish(self) -> None:
        with suppress(OSError):
            super().finish()
        if self.secured is not None:
            self.secured.close()

    def handle(self) -> None:
        if self.server.greeting == HANGS:
            self.server.over.wait(30)
            return
        with suppress(ConnectionError):
            self._tell(self.server.greeting)
            while line := self.rfile.readline():
                if not self._answer(line.decode("utf-8", "replace").rstrip("\r\n")):
                    return

    def _answer(self, line: str) -> bool:
        """Whether the connection goes on."""
        tag, _, asked = line.partition(" ")
        self.server.heard.append(asked)
        words = asked.split(" ")
        command = " ".join(words[:2]) if words[0] == "UID" else words[0]
        says = self.server.says.get(command, b"")
        if says == HANGS:
            self.server.over.wait(30)
            return False
        if says == HANGS_UP:
            return False
        if command == "AUTHENTICATE":
            self._tell(b"+ \r\n")
            self.rfile.readline()
        elif command == "IDLE" and not says:
            self._tell(self.server.before_idling + b"+ idling\r\n" + self.server.while_idling)
            self.server.while_idling = b""
            self.rfile.readline()
        if says.startswith(NO):
            self._tell(f"{tag} ".encode() + says)
        else:
            self._tell(says + f"{tag} OK done\r\n".encode())
        if command == "STARTTLS" and self.server.tls is not None:
            secured = self.server.tls.wrap_socket(self.connection, server_side=True)
            self.rfile, self.wfile = secured.makefile("rb"), secured.makefile("wb")
            self.secured = secured
        return command != "LOGOUT"

    def _tell(self, told: bytes) -> None:
        self.wfile.write(told)
        self.wfile.flush()


@contextmanager
def imap_peer(tls: ssl.SSLContext | None = None, *, from_the_start: bool = False) -> Iterator[ImapPeer]:
    """One that runs until the block ends; `tls`: what it answers STARTTLS with, or begins with."""
    with ImapPeer(tls, from_the_start=from_the_start) as peer:
        running = threading.Thread(target=peer.serve_forever, kwargs={"poll_interval": 0.02})
        running.start()
        try:
            yield peer
        finally:
            peer.over.set()
            peer.shutdown()
            running.join()
