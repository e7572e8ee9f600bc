"""The socket to a mail server: whose server it is, how it is dialled, how every wait on it ends by the deadline.

It must not show a password in any text, or let a certificate pass that is not trusted.
"""

import io
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

import httpcore

from bot.adapters.smtp_errors import TOO_LATE, UNTIL_REPAIRED, worded
from bot.ports import SendFailed
from bot.wire.deadline import Deadline
from bot.wire.near import is_near
from bot.wire.resolving import Resolver

RELAY_PORT, SUBMISSION_PORT, TLS_PORT = 25, 587, 465
UNREACHABLE = "smtp_unreachable"
UNTRUSTED = "smtp_certificate_not_trusted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What SMTP_URL says: `smtp://` begins in the clear, `smtps://` with TLS; without a port, that of its kind of server."""

    host: str
    port: int
    user: str
    password: str = field(repr=False)
    tls: bool

    @classmethod
    def of(cls, url: str) -> "Account":
        """Read it. The URL was checked with the settings."""
        parts = urlsplit(url)
        tls = parts.scheme == "smtps"
        return cls(
            host=parts.hostname or "",
            port=parts.port or (TLS_PORT if tls else SUBMISSION_PORT if parts.username else RELAY_PORT),
            user=unquote(parts.username or ""),
            password=unquote(parts.password or ""),
            tls=tls,
        )

    @property
    def is_near(self) -> bool:
        """On this machine, where a password may go in the clear."""
        return is_near(self.host)


class Wire:
    """What `smtplib` needs of a socket; each wait gets what is left of the deadline of the thread that makes it."""

    def __init__(self, sock: socket.socket, deadline: Deadline) -> None:
        self._sock = sock
        self._deadline = deadline
        self.is_late = False

    def sendall(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            with self._in_time():
                left = left[self._sock.send(left) :]

    def recv_into(self, buffer: Any) -> int:
        with self._in_time():
            return self._sock.recv_into(buffer)

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Received(self))

    def secure(self, context: ssl.SSLContext, host: str) -> "Wire":
        """The same connection with TLS on it. Raises `SendFailed` where the certificate is not trusted."""
        with self._in_time():
            try:
                return Wire(context.wrap_socket(self._sock, server_hostname=host), self._deadline)
            except ssl.SSLCertVerificationError as untrusted:
                failed = SendFailed(UNTRUSTED, retry_after=UNTIL_REPAIRED)
                failed.add_note(f"said: {untrusted.verify_message}")
                raise failed from untrusted

    def protocol(self) -> str | None:
        """The version of TLS; None in the clear."""
        return self._sock.version() if isinstance(self._sock, ssl.SSLSocket) else None

    def close(self) -> None:
        self._sock.close()

    @contextmanager
    def _in_time(self) -> Iterator[None]:
        wait = self._deadline.clamp(None)
        if wait == 0:
            self.is_late = True
            raise TimeoutError(TOO_LATE)
        self._sock.settimeout(wait)
        try:
            yield
        except TimeoutError:
            self.is_late = True
            raise


class _Received(io.RawIOBase):
    """Reads what comes, for `io.BufferedReader`."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._wire.recv_into(buffer)


def dial(account: Account, *, deadline: Deadline, resolver: Resolver) -> Wire:
    """A connected socket to any of the host's addresses. Raises `SendFailed`."""
    failed: Exception = TimeoutError("no answer in time")
    try:
        addresses = resolver.addresses(account.host, account.port, within=deadline.clamp(None))
    except (httpcore.ConnectError, httpcore.ConnectTimeout) as unknown:
        addresses, failed = (), unknown
    for number, address in enumerate(addresses, start=1):
        left = deadline.clamp(None)
        if left == 0:
            break
        share = left if left is None or number == len(addresses) else left / 2
        try:
            return Wire(socket.create_connection((address, account.port), timeout=share), deadline)
        except OSError as error:
            failed = error
    unreachable = SendFailed(UNREACHABLE)
    unreachable.add_note(f"said: {worded(failed)}")
    raise unreachable from failed
