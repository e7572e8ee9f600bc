"""The mail server that sends for us (port `Mail`): a few kept connections, one deadline for a whole send.

It must not send again what may have been taken: that is for whoever knows what became of the first.
"""

import ssl
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from email.utils import parseaddr

from bot.adapters.smtp_errors import LOST, TOO_LATE
from bot.adapters.smtp_letter import Letter, letter
from bot.adapters.smtp_line import Line
from bot.adapters.smtp_wire import UNREACHABLE, Account
from bot.ports import Clock, MailMessage, SendFailed
from bot.wire.deadline import Deadline
from bot.wire.resolving import Resolver

SEND_WITHIN = timedelta(seconds=30)
CONNECT_WITHIN = timedelta(seconds=10)
TURN_WITHIN = timedelta(seconds=2)
AT_ONCE = 4
IDLE = timedelta(seconds=30)
DOWN_FOR = timedelta(seconds=15)
"""A server that was not there is left alone for so long: threads that wait for it would be missing elsewhere."""
NOT_THERE = frozenset({LOST, TOO_LATE, UNREACHABLE})
BUSY = "smtp_busy"


class SmtpMail:
    """Implements `bot.ports.Mail`. Safe to use from many threads at once.

    `sender` is MAIL_FROM. A connection is kept for `IDLE`; one that the server closed meanwhile is replaced once, before
    the text of the mail. `context` decides which certificates are trusted.
    """

    def __init__(
        self,
        *,
        url: str,
        sender: str,
        clock: Clock,
        send_within: timedelta = SEND_WITHIN,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self._account = Account.of(url)
        self._sender = sender
        self._clock = clock
        self._send_within = send_within
        self._context = context or ssl.create_default_context()
        self._deadline = Deadline()
        self._resolver = Resolver()
        self._turns = threading.BoundedSemaphore(AT_ONCE)
        self._lock = threading.Lock()
        self._kept: deque[tuple[Line, datetime]] = deque()
        self._as_ourselves_only = False
        self._down_until: datetime | None = None

    @property
    def server(self) -> str:
        """Which server it is, without the secret."""
        return f"{self._account.host}:{self._account.port}"

    @property
    def user(self) -> str:
        """As whom we log in; empty where we do not."""
        return self._account.user

    def send(self, message: MailMessage) -> None:
        """Hand it over within 30 s. Raises `SendFailed`: `uncertain` once the text was under way without an answer."""
        made = letter(message, sender=self._sender, at=self._clock())
        with self._in_turn():
            kept = self._take()
            if kept is not None:
                try:
                    self._carry(kept, made)
                except SendFailed as failed:
                    if failed.uncertain or failed.code != LOST:
                        raise
                else:
                    return
            self._carry(self._connect(), made)

    def check(self) -> str | None:
        """Connect and log in, or see that a kept connection lives; sends nothing. The version of TLS, None in the clear.

        Raises `SendFailed`.
        """
        with self._in_turn():
            line = self._take()
            if line is not None:
                try:
                    line.check()
                except SendFailed:
                    line.end()
                    line = None
            if line is None:
                line = self._connect()
            self._keep(line)
            return line.protocol

    def close(self) -> None:
        """End the connections that are kept."""
        with self._lock:
            kept, self._kept = self._kept, deque()
        for line, _ in kept:
            line.end()

    def _carry(self, line: Line, made: Letter) -> None:
        senders = made.senders[-1:] if self._as_ourselves_only else made.senders
        try:
            taken = line.carry(made, senders=senders)
        except SendFailed:
            line.end()
            raise
        if taken != senders[0]:
            self._as_ourselves_only = True
        self._keep(line)

    def _connect(self) -> Line:
        now = self._clock()
        if self._down_until is not None and now < self._down_until:
            raise SendFailed(UNREACHABLE, retry_after=self._down_until - now)
        try:
            with self._deadline.within(CONNECT_WITHIN):
                return Line(
                    self._account,
                    name=parseaddr(self._sender)[1].rpartition("@")[2],
                    deadline=self._deadline,
                    resolver=self._resolver,
                    context=self._context,
                )
        except SendFailed as failed:
            if failed.code in NOT_THERE:
                self._down_until = now + DOWN_FOR
            raise

    def _take(self) -> Line | None:
        """The connection that was used last, unless that is too long ago; those that are older are ended."""
        now = self._clock()
        old: list[Line] = []
        with self._lock:
            while self._kept and now - self._kept[0][1] > IDLE:
                old.append(self._kept.popleft()[0])
            found = self._kept.pop()[0] if self._kept else None
        for line in old:
            line.end()
        return found

    def _keep(self, line: Line) -> None:
        with self._lock:
            self._kept.append((line, self._clock()))

    @contextmanager
    def _in_turn(self) -> Iterator[None]:
        """So many connections and no more, all of it within the deadline."""
        with self._deadline.within(self._send_within):
            if not self._turns.acquire(timeout=self._deadline.clamp(TURN_WITHIN.total_seconds())):
                raise SendFailed(BUSY)
            try:
                yield
            finally:
                self._turns.release()
