"""A real IMAP server (pymap, with its mails on disk) in a process of its own. It tests nothing."""

import imaplib
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import quote

from pysasl.hashing import BuiltinHash

from tests.kills.town import free_port

HOST = "127.0.0.1"
USER, PASSWORD = "ontrack@example.com", 'p@ss/word: \\ü%"'
START_WITHIN = timedelta(seconds=30)


class ImapServer:
    """Its mails outlive a `kill` and a new `start`, their UIDs as well; `forget` has them numbered anew."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        place.mkdir()
        (place / "pymap-etc-passwd").write_text(f"{USER}:x::::box:\r\n")
        secret = BuiltinHash(rounds=1000).hash(PASSWORD)
        (place / "pymap-etc-shadow").write_text(f"{USER}:{secret}:::::::\r\n")
        (place / "pymap-etc-group").write_text("")

    @property
    def url(self) -> str:
        return f"imap://{quote(USER, safe='')}:{quote(PASSWORD, safe='')}@{HOST}:{self.port}"

    def start(self) -> None:
        """Serve, and return when it greets."""
        command = ["from pymap.main import main; main()", "--host", HOST, "--port", str(self.port)]
        self._process = subprocess.Popen(
            [sys.executable, "-c", *command, "--no-tls", "maildir", str(self.place)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until = time.monotonic() + START_WITHIN.total_seconds()
        while time.monotonic() < until and self._process.poll() is None:
            try:
                with socket.create_connection((HOST, self.port), timeout=5) as greeted:
                    if greeted.recv(4) == b"* OK":
                        return
            except ConnectionRefusedError:
                self._process_ends(within=0.02)
        raise AssertionError(f"the IMAP server did not start (exit code {self._process.poll()})")

    def kill(self) -> None:
        """End it at once, in the middle of whatever."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def forget(self) -> None:
        """Have the folder begin again: the mails stay away, and UIDs are given under another UIDVALIDITY."""
        shutil.rmtree(self.place / "box", ignore_errors=True)

    def put(self, message: bytes, *, at: datetime | None = None) -> int:
        """Deliver a mail into the inbox; its UID."""
        with self.client() as client:
            when = None if at is None else imaplib.Time2Internaldate(at)
            kind, said = client.append("INBOX", None, when, message)

            assert kind == "OK", said
            return int(said[0].decode().rpartition(" ")[0].rpartition("]")[0].rpartition(" ")[2])

    def flags(self, uid: int) -> str:
        """The flags of a mail, as a client would show it."""
        with self.client() as client:
            client.select("INBOX", readonly=True)
            return str(client.uid("FETCH", str(uid), "(FLAGS)")[1][0])

    def delete(self, uid: int) -> None:
        with self.client() as client:
            client.select("INBOX")
            client.uid("STORE", str(uid), "+FLAGS", r"(\Deleted)")
            client.expunge()

    @contextmanager
    def client(self) -> Iterator[imaplib.IMAP4]:
        """A mail program of somebody else."""
        client = imaplib.IMAP4(HOST, self.port, timeout=20)
        with closing(client.sock):
            client.authenticate("PLAIN", lambda _: f"\0{USER}\0{PASSWORD}".encode())
            yield client
            client.logout()

    def _process_ends(self, *, within: float) -> None:
        assert self._process is not None
        try:
            self._process.wait(within)
        except subprocess.TimeoutExpired:
            return


@contextmanager
def imap_server(place: Path) -> Iterator[ImapServer]:
    """One that runs until the block ends."""
    server = ImapServer(place)
    server.start()
    try:
        yield server
    finally:
        server.kill()
