"""The socket to an IMAP server: whose mailbox it is, how it is dialled, and how it is ended from elsewhere.

It must not wait without end, show a password in any text, or let a certificate pass that is not trusted.
"""

import socket
import ssl
import time
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from urllib.parse import unquote, urlsplit

import httpcore

from bot.ports import MailboxDown
from bot.wire.near import is_near
from bot.wire.resolving import Resolver

PLAIN_PORT, TLS_PORT = 143, 993


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What an IMAP URL says (RFC 5092, without its search and message parts)."""

    host: str
    port: int
    user: str
    password: str = field(repr=False)
    folder: str
    tls: bool

    @classmethod
    def of(cls, url: str, *, folder: str) -> "Account":
        """Read it; `folder` where the URL names none. The URL was checked with the settings."""
        parts = urlsplit(url)
        tls = parts.scheme == "imaps"
        return cls(
            host=parts.hostname or "",
            port=parts.port or (TLS_PORT if tls else PLAIN_PORT),
            user=unquote(parts.username or ""),
            password=unquote(parts.password or ""),
            folder=unquote(parts.path.strip("/")) or folder,
            tls=tls,
        )

    @property
    def name(self) -> str:
        """The mailbox without its secret; the same for the same mailbox."""
        return f"{self.user}@{self.host}/{self.folder}"

    @property
    def is_near(self) -> bool:
        """On this machine, where a password may go in the clear."""
        return is_near(self.host)

    def untrusted(self, failed: ssl.SSLCertVerificationError) -> MailboxDown:
        return MailboxDown(
            f"the certificate of {self.host} is not trusted ({failed.verify_message}): use the name that it is made out"
            " to in IMAP_URL, or have SSL_CERT_FILE name your own authority's certificate"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long to connect, to wait for the next bytes of an answer, and for one whole command."""

    connecting: timedelta = timedelta(seconds=10)
    silence: timedelta = timedelta(seconds=20)
    command: timedelta = timedelta(minutes=5)


class Wire:
    """One thread dials and uses it, any thread may `cut` it; once cut it stays so."""

    def __init__(self, account: Account, *, resolver: Resolver, patience: Patience) -> None:
        self._account = account
        self._resolver = resolver
        self._patience = patience
        self._sock: socket.socket | None = None
        self.is_cut = False

    def dial(self) -> socket.socket:
        """A connected socket, with TLS on it where the URL asks for that from the start."""
        account, until = self._account, time.monotonic() + self._patience.connecting.total_seconds()
        failed: Exception = TimeoutError("no answer in time")
        for found in self._addresses(until):
            left = until - time.monotonic()
            if left <= 0:
                break
            try:
                return self._connected(found, left)
            except ssl.SSLCertVerificationError as untrusted:
                raise account.untrusted(untrusted) from untrusted
            except OSError as error:
                failed = error
        hint = "imap:// is for a port that begins without TLS, imaps:// for one that begins with it"
        address = f"{account.host}:{account.port}"
        raise MailboxDown(f"cannot connect to {address} ({worded(failed)}): see IMAP_URL; {hint}") from failed

    def keep(self, sock: socket.socket) -> None:
        """This is the connection now."""
        self._sock = sock
        if self.is_cut:
            raise ConnectionAbortedError("closed")

    def cut(self) -> None:
        """End every wait on it."""
        self.is_cut = True
        sock = self._sock
        if sock is not None:
            with suppress(OSError):
                socket.socket.shutdown(sock, socket.SHUT_RDWR)  # an SSLSocket's own would break a read under way

    def end(self) -> None:
        """Cut it and give the socket back; only where no other thread uses it."""
        self.cut()
        if self._sock is not None:
            self._sock.close()

    def _addresses(self, until: float) -> tuple[str, ...]:
        host = self._account.host
        try:
            return self._resolver.addresses(host, self._account.port, within=until - time.monotonic())
        except (httpcore.ConnectError, httpcore.ConnectTimeout) as unknown:
            raise MailboxDown(f"{host} has no address ({unknown}): see the host in IMAP_URL") from unknown

    def _connected(self, address: str, left: float) -> socket.socket:
        plain = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
        try:
            plain.settimeout(left)
            self.keep(plain)
            plain.connect((address, self._account.port))
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            sock = self._with_tls(plain, left) if self._account.tls else plain
        except OSError:
            plain.close()
            raise
        sock.settimeout(self._patience.silence.total_seconds())
        return sock

    def _with_tls(self, plain: socket.socket, left: float) -> ssl.SSLSocket:
        host = self._account.host
        sock = ssl.create_default_context().wrap_socket(plain, server_hostname=host, do_handshake_on_connect=False)
        try:
            sock.settimeout(left)
            self.keep(sock)
            sock.do_handshake()
        except OSError:
            sock.close()
            raise
        return sock


def worded(failed: Exception) -> str:
    """What went wrong, in the system's words."""
    text = failed.strerror if isinstance(failed, OSError) and failed.strerror else str(failed)
    return text or type(failed).__name__
