"""A connection to an IMAP server (RFC 3501) with its folder open, by imap-tools; every wait on it has its end.

It must not write to the mailbox, show a password in any text, or send one in the clear over a network.
"""

import imaplib
import re
import select
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta

from imap_tools import BaseMailBox
from imap_tools.errors import ImapToolsError, UnexpectedCommandStatusError

from bot.adapters.imap_wire import Account, Patience, Wire, worded
from bot.ports import MailboxDown
from bot.wire.resolving import Resolver

LONGEST_IDLE = timedelta(minutes=29)
SAID_AT_MOST = 200


class Line:
    """After the first failure it is of no use. One thread uses it, any thread may `cut` it."""

    def __init__(self, account: Account, *, resolver: Resolver, patience: Patience) -> None:
        self._account = account
        self._patience = patience
        self._wire = Wire(account, resolver=resolver, patience=patience)
        self._box: BaseMailBox | None = None
        self._is_late = False
        self.can_idle = False
        self.cut = self._wire.cut

    @property
    def box(self) -> BaseMailBox:
        if self._box is None:
            raise MailboxDown("the mailbox is not open")
        return self._box

    def begin(self) -> int:
        """Connect, log in, open the folder to read only; the UIDVALIDITY of the folder."""
        account = self._account
        if not account.user or not account.password:
            raise MailboxDown("IMAP_URL names no user or no password: write imaps://user:password@host")
        with self.within(self._patience.command):
            client = _Client(self._wire, account.host)
            self._box = _Box(client)
            if not account.tls:
                self._secure(client)
            self._log_in(client)
            self.can_idle = b"IDLE" in (client.capability()[1][-1] or b"").upper().split()
            self._open_folder(self._box)
            validity = client.response("UIDVALIDITY")[1][0]
            client.untagged_responses.clear()
            if validity is not None and int(validity):
                return int(validity)
        raise MailboxDown(
            f"{account.host} gives the folder {account.folder} no UIDVALIDITY: no place in it can be kept"
        )

    @contextmanager
    def within(self, allowed: timedelta) -> Iterator[None]:
        """All of this is over after `allowed`, however the server drips; raises `MailboxDown` and nothing else."""
        overdue = threading.Timer(allowed.total_seconds(), self._be_late)
        overdue.daemon = True
        overdue.start()
        try:
            yield
        except UnexpectedCommandStatusError as refused:
            said = self._masked(_said(refused.command_result))
            raise MailboxDown(f"{self._account.host} refuses to go on ({said}); it is asked anew") from refused
        except (imaplib.IMAP4.error, ImapToolsError, OSError, EOFError, ValueError, KeyError) as failed:
            raise MailboxDown(self._why(failed)) from failed
        finally:
            overdue.cancel()

    def readable(self, within: timedelta) -> bool:
        """Whether something came, or the end of the connection, within that time."""
        if self._buffered():
            return True
        poller = select.poll()
        poller.register(self.box.client.sock.fileno(), select.POLLIN)
        return bool(poller.poll(max(within.total_seconds(), 0) * 1000))

    def idle(self, within: timedelta) -> None:
        """Wait for mail by IDLE (RFC 2177), for that time at most; a server that offers it and refuses is not asked again."""
        client = self.box.client
        tag = client._command("IDLE")
        while client._get_response() is not None:
            if client.tagged_commands[tag]:
                self.can_idle = False
                return
        until = time.monotonic() + min(within, LONGEST_IDLE).total_seconds()
        while not self.has_news and (left := until - time.monotonic()) > 0:
            if self.readable(timedelta(seconds=left)):
                client._get_response()
        client.send(b"DONE\r\n")
        self.box.consume_until_tagged_response(tag)

    @property
    def has_news(self) -> bool:
        """Whether the server spoke of more mails since `forget_news`."""
        return "EXISTS" in self.box.client.untagged_responses

    def forget_news(self) -> None:
        """Ask for a sign of life, and take what was told until now as seen."""
        self.box.client.noop()
        self.box.client.untagged_responses.clear()

    def end(self) -> None:
        """Give back what it holds; only where no other thread uses it."""
        self.cut()
        if self._box is not None:
            with suppress(OSError):
                self._box.client.shutdown()
        self._wire.end()

    def _be_late(self) -> None:
        self._is_late = True
        self.cut()

    def _secure(self, client: "_Client") -> None:
        account = self._account
        if "STARTTLS" not in client.capabilities:
            if account.is_near:
                return
            raise MailboxDown(
                f"{account.host} offers no STARTTLS, and a password does not travel in the clear: use imaps://"
            )
        context = ssl.create_default_context()
        if account.is_near:
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        try:
            client.starttls(context)
        except ssl.SSLCertVerificationError as untrusted:
            raise account.untrusted(untrusted) from untrusted
        self._wire.keep(client.sock)

    def _log_in(self, client: "_Client") -> None:
        account = self._account
        try:
            if "AUTH=PLAIN" in client.capabilities:
                secret = b"\0".join((b"", account.user.encode(), account.password.encode()))
                client.authenticate("PLAIN", lambda _: secret)
            elif "LOGINDISABLED" in client.capabilities:
                raise MailboxDown(f"{account.host} takes no login by password: see what it offers instead")
            else:
                self.box.login(account.user, account.password, initial_folder=None)
        except imaplib.IMAP4.abort:
            raise
        except (imaplib.IMAP4.error, UnexpectedCommandStatusError, UnicodeError) as refused:
            raise MailboxDown(
                f"{account.host} refuses the login of {account.user} ({self._refusal(refused)}): see user and password"
                " in IMAP_URL; some providers want a password made for the app"
            ) from None

    def _open_folder(self, box: BaseMailBox) -> None:
        folder = self._account.folder
        try:
            box.folder.set(folder, readonly=True)
        except UnexpectedCommandStatusError as refused:
            raise MailboxDown(
                f"the folder {folder} cannot be opened ({self._refusal(refused)}): name another behind the host in IMAP_URL"
            ) from refused

    def _buffered(self) -> bool:
        """Whether bytes came already that no poll of the socket shows: in the reader's buffer, or below it in TLS's."""
        client = self.box.client
        client.sock.settimeout(0)
        try:
            return bool(client.file.peek(1))  # type: ignore[union-attr]
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return False
        finally:
            client.sock.settimeout(self._patience.silence.total_seconds())

    def _why(self, failed: Exception) -> str:
        host = self._account.host
        if self._is_late or isinstance(failed, TimeoutError):
            hint = " (a port that begins with TLS is written imaps://)" if self._box is None else ""
            return f"{host} does not answer in time{hint}; the connection is made anew"
        if self._wire.is_cut:
            return "the connection was closed by us"
        return f"the connection to {host} was lost ({self._masked(worded(failed))}); it is made anew"

    def _refusal(self, refused: Exception) -> str:
        if isinstance(refused, UnexpectedCommandStatusError):
            return self._masked(_said(refused.command_result))
        return self._masked(worded(refused))

    def _masked(self, text: str) -> str:
        """The server's words without the password, should it repeat that."""
        return text.replace(self._account.password, "***")[:SAID_AT_MOST]


class _Client(imaplib.IMAP4):
    """The library's client on a connection of ours."""

    def __init__(self, wire: Wire, host: str) -> None:
        self._wire = wire
        super().__init__(host)

    def _create_socket(self, timeout: float | None) -> socket.socket:
        return self._wire.dial()


class _Box(BaseMailBox):
    def __init__(self, client: _Client) -> None:
        self._given = client
        super().__init__()

    def _get_mailbox_client(self) -> imaplib.IMAP4:
        return self._given


def _said(result: tuple[object, ...]) -> str:
    """The text of a refusal as the server worded it."""
    data = result[1] if len(result) > 1 else ""
    first = data[0] if isinstance(data, list) and data else data
    text = first.decode("utf-8", "replace") if isinstance(first, bytes) else str(first)
    return re.sub(r"\s+", " ", text).strip() or "without a word"
