"""Mail servers on loopback that do what real ones seldom do when they are asked to: scripts of answers. They test nothing."""

import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

LOCALHOST = Path(__file__).with_name("localhost.pem")
"""A certificate made out to `localhost` by itself, and its key; good for nothing else."""
CUT = "cut"
SILENT = "silent"
DRIPS = "drips"
USUAL: Mapping[str, str] = {
    "EHLO": "250 mx.example.com",
    "MAIL": "250 2.1.0 OK",
    "RCPT": "250 2.1.5 OK",
    "DATA": "354 go on",
    ".": "250 2.0.0 taken",
    "RSET": "250 OK",
    "NOOP": "250 OK",
    "QUIT": "221 bye",
    "AUTH": "235 2.7.0 welcome",
    "STARTTLS": "220 go on",
}


@dataclass(slots=True)
class MailPeer:
    """`script` answers a command otherwise than usual, once for each answer that it lists; `heard` are all lines."""

    greeting: str = "220 mx.example.com"
    features: tuple[str, ...] = ()
    script: dict[str, list[str]] = field(default_factory=dict)
    heard: list[str] = field(default_factory=list)
    connections: int = 0
    tls_from_the_start: bool = False
    over: threading.Event = field(default_factory=threading.Event)
    server: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))
    port: int = field(init=False)

    def __post_init__(self) -> None:
        self.port = int(self.server.getsockname()[1])

    def commands(self, word: str) -> list[str]:
        return [line for line in self.heard if line.upper().startswith(word)]

    def run(self) -> None:
        while True:
            try:
                sock, _ = self.server.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock: socket.socket) -> None:
        with suppress(OSError), ExitStack() as open_ones:
            open_ones.enter_context(sock)
            if self.tls_from_the_start:
                sock = open_ones.enter_context(_context().wrap_socket(sock, server_side=True))
            self._talk(sock, open_ones)

    def _talk(self, sock: socket.socket, open_ones: ExitStack) -> None:
        if not self._say(sock, self.greeting):
            return
        lines = sock.makefile("rb")
        while line := lines.readline():
            word, _, rest = line.decode("utf-8", "replace").rstrip("\r\n").partition(" ")
            word = word.upper()
            self.heard.append(f"{word} {rest}".strip())
            if not self._answers(sock, word):
                return
            if word == "DATA":
                while (text := lines.readline()) and text != b".\r\n":
                    self.heard.append(text.decode().rstrip("\r\n"))
                if not self._answers(sock, "."):
                    return
            if word == "STARTTLS":
                sock = open_ones.enter_context(_context().wrap_socket(sock, server_side=True))
                lines = sock.makefile("rb")

    def _answers(self, sock: socket.socket, word: str) -> bool:
        waiting = self.script.get(word, [])
        answer = waiting.pop(0) if waiting else USUAL.get(word, "500 5.5.2 what?")
        if word == "EHLO" and self.features and answer == USUAL["EHLO"]:
            answer = "\r\n".join(
                [*(f"250-{one}" for one in ("mx.example.com", *self.features[:-1])), f"250 {self.features[-1]}"]
            )
        return self._say(sock, answer)

    def _say(self, sock: socket.socket, answer: str) -> bool:
        if answer == CUT:
            sock.shutdown(socket.SHUT_RDWR)
            return False
        if answer == SILENT:
            self.over.wait(30)
            return False
        if answer == DRIPS:
            while not self.over.wait(0.02):
                sock.sendall(b"2")
            return False
        sock.sendall(f"{answer}\r\n".encode())
        return True


@contextmanager
def mail_peer(peer: MailPeer) -> Iterator[MailPeer]:
    """It runs until the block ends."""
    thread = threading.Thread(target=peer.run, daemon=True)
    thread.start()
    try:
        yield peer
    finally:
        peer.over.set()
        peer.server.shutdown(socket.SHUT_RDWR)
        peer.server.close()
        thread.join()


def _context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(LOCALHOST)
    return context
