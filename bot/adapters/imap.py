"""The mailbox that replies come to, over IMAP (port `Mailbox`): what is new in it, and a wait for more.

It must not change anything in the mailbox, judge a mail, or remember a place: that is for whoever reads it.
"""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from imap_tools import AND
from imap_tools.errors import MailboxFetchError
from imap_tools.utils import check_command_status

from bot.adapters.imap_line import Line
from bot.adapters.imap_wire import Account, Patience
from bot.mail import MOST_BYTES
from bot.ports import ArrivedMail, MailboxDown
from bot.wire.resolving import Resolver

OLDEST = timedelta(days=14)
AT_ONCE = 8 * 1024 * 1024
WITHOUT_IDLE = timedelta(seconds=30)
TO_CLOSE = 1.0
ASKED = f"(UID BODY.PEEK[]<0.{MOST_BYTES + 1}>)"
_SIZE = re.compile(rb"\((?=.*\bUID (\d+))(?=.*\bRFC822\.SIZE (\d+))")
_SHORT = re.compile(rb'BODY\[\](?:<\d+>)? (?:NIL|"((?:[^"\\]|\\.)*)")', re.IGNORECASE)


class ImapMailbox:
    """The folder of an account. Mails that came more than `oldest` ago are not there for it.

    After any failure the next `open` connects anew. One thread reads; any thread may close.
    """

    def __init__(
        self,
        url: str,
        *,
        clock: Callable[[], datetime],
        folder: str = "INBOX",
        oldest: timedelta = OLDEST,
        patience: Patience | None = None,
    ) -> None:
        self._account = Account.of(url, folder=folder)
        self._clock = clock
        self._oldest = oldest
        self._patience = patience or Patience()
        self._resolver = Resolver()
        self._using = threading.Lock()
        self._line: Line | None = None
        self._validity = 0

    @property
    def name(self) -> str:
        """Which mailbox it is, without its secret: its place is remembered under this."""
        return self._account.name

    def open(self) -> int:
        """Connect where that is needed, and return the UIDVALIDITY."""
        with self._using:
            if self._line is None:
                self._line = line = Line(self._account, resolver=self._resolver, patience=self._patience)
                try:
                    self._validity = line.begin()
                except MailboxDown:
                    self._hang_up()
                    raise
            return self._validity

    def after(self, uid: int, *, limit: int) -> tuple[ArrivedMail, ...]:
        """The mails above `uid`, the lowest first: `limit` of them at most, fewer where they are large, one at least."""
        with self._lent() as line:
            waiting = self._uids_above(line, uid)
            arrived: tuple[ArrivedMail, ...] = ()
            while waiting and not arrived:
                batch, waiting = waiting[:limit], waiting[limit:]
                arrived = self._fetched(line, batch)
            return arrived

    def wait(self, timeout: timedelta) -> None:
        """Return when something arrived, or after `timeout`; sooner where the server knows no IDLE."""
        with self._lent() as line, line.within(timeout + self._patience.command):
            if line.has_news:
                return
            if line.can_idle:
                line.idle(timeout)
            else:
                line.readable(min(timeout, WITHOUT_IDLE))

    def close(self) -> None:
        """End the connection; a wait in another thread raises `MailboxDown` at once."""
        line = self._line
        if line is not None:
            line.cut()
        if self._using.acquire(timeout=TO_CLOSE):
            try:
                self._hang_up()
            finally:
                self._using.release()

    @contextmanager
    def _lent(self) -> Iterator[Line]:
        """The open line; what fails on it ends it."""
        with self._using:
            if self._line is None:
                raise MailboxDown("the mailbox is not open")
            try:
                yield self._line
            except MailboxDown:
                self._hang_up()
                raise

    def _hang_up(self) -> None:
        if self._line is not None:
            self._line.end()
            self._line = None

    def _uids_above(self, line: Line, uid: int) -> list[int]:
        """`n:*` names the last mail even where its UID is below n (RFC 3501, section 6.4.8)."""
        since = AND(date_gte=(self._clock() - self._oldest).date())
        with line.within(self._patience.command):
            line.forget_news()
            found = line.box.uids(f"UID {uid + 1}:* {since}", charset=None)
            return sorted(each for each in map(int, found) if each > uid)

    def _fetched(self, line: Line, uids: list[int]) -> tuple[ArrivedMail, ...]:
        """Those that are still there, from the first on, until they are many bytes together."""
        with line.within(self._patience.command):
            sizes = _sizes(line, uids)
        arrived: list[ArrivedMail] = []
        total = 0
        for uid in uids:
            total += min(sizes.get(uid, 0), MOST_BYTES)
            if arrived and total > AT_ONCE:
                break
            with line.within(self._patience.command):
                message = _message(line, uid)
            if message is not None:
                arrived.append(ArrivedMail(uid=uid, message=message))
        return tuple(arrived)


def _sizes(line: Line, uids: list[int]) -> dict[int, int]:
    found = (_SIZE.search(each) for each in _fetch(line, uids, "(UID RFC822.SIZE)") if isinstance(each, bytes))
    return {int(each[1]): int(each[2]) for each in found if each is not None}


def _message(line: Line, uid: int) -> bytes | None:
    """The mail, or its beginning; None where it is gone. A server may send an empty one without a literal."""
    told = _fetch(line, [uid], ASKED)
    for each in told:
        if isinstance(each, tuple) and b"BODY[" in each[0].upper():
            return each[1]
    short = next((found for each in told if isinstance(each, bytes) and (found := _SHORT.search(each))), None)
    return None if short is None else re.sub(rb"\\(.)", rb"\1", short[1] or b"")


def _fetch(line: Line, uids: list[int], what: str) -> list[bytes | tuple[bytes, bytes]]:
    """What the server tells; other changes of the folder may be among it."""
    result = line.box.client.uid("FETCH", ",".join(map(str, uids)), what)
    check_command_status(result, MailboxFetchError)
    return [each for each in result[1] if each is not None]
