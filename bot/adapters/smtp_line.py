"""One connection to a mail server (RFC 5321): greeting, TLS, login, and mails one after the other.

It must not send a password in the clear over a network, or a mail a second time.
"""

import smtplib
import ssl
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from bot.adapters.smtp_errors import CLOSING, UNTIL_REPAIRED, Step, in_words, is_about_the_sender, lost, refusal
from bot.adapters.smtp_letter import Letter
from bot.adapters.smtp_wire import Account, Wire, dial
from bot.ports import SendFailed
from bot.wire.deadline import Deadline
from bot.wire.resolving import Resolver

NO_TLS = "smtp_offers_no_tls"
NO_LOGIN = "smtp_offers_no_login"


class Line:
    """Made connected and logged in, or not at all. One thread uses it; after a failure it is of no use.

    `name` is ours in the greeting. Every method raises `SendFailed` and nothing else.
    """

    def __init__(
        self, account: Account, *, name: str, deadline: Deadline, resolver: Resolver, context: ssl.SSLContext
    ) -> None:
        self._account = account
        self._context = context
        self._wire = dial(account, deadline=deadline, resolver=resolver)
        self._client = _Client(name)
        self._under_way = False
        try:
            with self._told():
                self._begin()
        except SendFailed:
            self._client.close()
            self._wire.close()
            raise

    @property
    def protocol(self) -> str | None:
        """The version of TLS; None in the clear."""
        return self._wire.protocol()

    def carry(self, letter: Letter, *, senders: tuple[str, ...]) -> str:
        """Hand the mail over as from the first of these that the server takes; returns that one.

        An answer to the text that does not come is uncertain.
        """
        with self._told():
            for sender, is_last in [(sender, sender == senders[-1]) for sender in senders]:
                step, code, said = self._handed(letter, sender)
                if code // 100 == 2:
                    return sender
                if is_last or not is_about_the_sender(step, code, said):
                    raise _refused(step, code, said)
                self._client.docmd("RSET")
        raise SendFailed("no_sender", permanent=True)

    def check(self) -> None:
        """See that the connection is alive."""
        with self._told():
            self._ask(Step.GREETING, "NOOP")

    def end(self) -> None:
        """Take leave without waiting for the answer."""
        with suppress(OSError, smtplib.SMTPException):
            self._client.putcmd("QUIT")
        self._client.close()

    def _begin(self) -> None:
        if self._account.tls:
            self._wire = self._wire.secure(self._context, self._account.host)
        self._client.take(self._wire)
        code, said = self._client.getreply()
        if code // 100 != 2:
            raise _refused(Step.GREETING, code, said)
        self._greet()
        if not self._account.tls:
            self._secure()
        if self._account.user:
            self._log_in()

    def _greet(self) -> None:
        code, said = self._client.ehlo()
        if code // 100 != 2:
            code, said = self._client.helo()
        if code // 100 != 2:
            raise _refused(Step.GREETING, code, said)

    def _secure(self) -> None:
        """TLS where it is offered; over a network there is no going on without it."""
        if not self._client.has_extn("starttls"):
            if not self._account.is_near:
                raise SendFailed(NO_TLS, retry_after=UNTIL_REPAIRED)
            return
        self._ask(Step.TLS, "STARTTLS")
        context = _trusting() if self._account.is_near else self._context
        self._wire = self._wire.secure(context, self._account.host)
        self._client.take(self._wire)
        self._greet()

    def _log_in(self) -> None:
        account, client = self._account, self._client
        offered = client.esmtp_features.get("auth", "").upper().split()
        if not client.has_extn("auth"):
            raise SendFailed(NO_LOGIN, retry_after=UNTIL_REPAIRED)
        if "PLAIN" in offered:
            secret = b64encode(f"\0{account.user}\0{account.password}".encode()).decode()
            code, said = client.docmd(f"AUTH PLAIN {secret}")
            if code // 100 != 2:
                raise _refused(Step.LOGIN, code, self._masked(said))
            return
        try:
            client.login(account.user, account.password)
        except smtplib.SMTPAuthenticationError as refused:
            raise _refused(Step.LOGIN, refused.smtp_code, self._masked(refused.smtp_error)) from None
        except (smtplib.SMTPNotSupportedError, UnicodeError):
            raise SendFailed(NO_LOGIN, retry_after=UNTIL_REPAIRED) from None

    def _masked(self, said: bytes | str) -> bytes:
        """The server's words without the password, should it repeat that."""
        words, password = said.encode() if isinstance(said, str) else said, self._account.password.encode()
        return words.replace(password, b"***") if password else words

    def _handed(self, letter: Letter, sender: str) -> tuple[Step, int, bytes]:
        """The last step that was taken, and the answer to it."""
        client = self._client
        size = f" SIZE={len(letter.text)}" if client.has_extn("size") else ""
        commands = (
            (Step.SENDER, f"MAIL FROM:{smtplib.quoteaddr(sender)}{size}", 2),
            (Step.RECIPIENT, f"RCPT TO:{smtplib.quoteaddr(letter.to)}", 2),
            (Step.TEXT, "DATA", 3),
        )
        for step, command, wants in commands:
            code, said = client.docmd(command)
            if code // 100 != wants:
                return step, code, said
        self._under_way = True
        client.send(_stuffed(letter.text))
        code, said = client.getreply()
        if not 200 <= code < 600:
            raise smtplib.SMTPServerDisconnected("an answer that is none")
        self._under_way = False
        return Step.TEXT, code, said

    def _ask(self, step: Step, command: str) -> None:
        code, said = self._client.docmd(command)
        if code // 100 != 2:
            raise _refused(step, code, said)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Whatever goes wrong on the way is told as what delivery knows."""
        try:
            yield
        except (OSError, smtplib.SMTPException, ValueError) as failed:
            raise lost(failed, under_way=self._under_way, late=self._wire.is_late) from failed


class _Client(smtplib.SMTP):
    """The library's client on a connection of ours."""

    def __init__(self, name: str) -> None:
        super().__init__(local_hostname=name)

    def take(self, wire: Wire) -> None:
        """Go on with this connection; what was said before it counts for nothing (RFC 3207, section 4.2)."""
        self.sock = wire  # type: ignore[assignment]
        self.file = None
        self.ehlo_resp = self.helo_resp = None
        self.esmtp_features = {}
        self.does_esmtp = False


def _refused(step: Step, code: int, said: bytes) -> SendFailed:
    if code == CLOSING:
        return lost(ConnectionAbortedError(in_words(said)), under_way=False, late=False)
    return refusal(step, code, said)


def _stuffed(text: bytes) -> bytes:
    """The text with its leading dots doubled and its end (RFC 5321, section 4.5.2)."""
    lines = text if text.endswith(b"\r\n") else text + b"\r\n"
    return (b"." + lines if lines.startswith(b".") else lines).replace(b"\r\n.", b"\r\n..") + b".\r\n"


def _trusting() -> ssl.SSLContext:
    """For a server on this machine, whose certificate is seldom made out to the name by which it is called here."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context
