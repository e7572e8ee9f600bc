"""The part of the storage port that knows mail: which were sent, which were read, which addresses are broken. No SQL."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from bot.store.rows import EffectRow


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMail:
    """A mail to be sent that no decision wrote: an answer to somebody's mail, a digest, a word of ontrack itself.

    `content` has its `kind`, and is JSON-able and final. `occurrence` (record and number): what it is about, if anything.
    """

    key: str
    address: str
    content: Mapping[str, Any]
    due_at: datetime
    occurrence: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LateAsk:
    """An ask that is not in its thread yet; `code` is the chat's last word on what its thread waits for, if it said one."""

    row: EffectRow
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenAddress:
    """An address that a mail system gave up on; `status` is its enhanced code (RFC 3463), or the error's own name."""

    address: str
    status: str
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MailboxPlace:
    """How far a mailbox was read: all UIDs up to `uid` are done under this UIDVALIDITY."""

    validity: int
    uid: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadMail:
    """A mail that was done with. `key` names it by its Message-ID (by its bytes where it has none).

    `sender` is proven or empty; `reason` why it did what it did; `told`: about this occurrence (`<record>.<number>`, or
    empty) its sender was given an explanation.
    """

    key: str
    at: datetime
    sender: str = ""
    occurrence: str = ""
    reason: str = ""
    told: bool = False


class MailStore(Protocol):
    """Every method is a transaction of its own. Raises `StorageDown`. Addresses are told apart without their case."""

    def put_mail(self, mail: NewMail, *, now: datetime) -> bool:
        """Write it to the outbox, to be claimed; False: one with this key is there already, whatever became of it.

        Its row has `address` in its content. An occurrence that is not there is left out.
        """

    def sent_mail(self, *, id: int) -> EffectRow | None:
        """The outbox row of kind `email` with this id."""

    def late_asks(self, *, before: datetime, limit: int) -> tuple[LateAsk, ...]:
        """Asks (of a storm too) and approvals for a thread that were written before then and are not sent, and of which
        nothing was made known yet (`mark_late`), the oldest first."""

    def mark_late(self, *, id: int, now: datetime) -> bool:
        """Remember that it was made known that the row is late; False: it was before, or it was sent meanwhile."""

    def said_of_waiting(self, *, codes: Collection[str]) -> frozenset[str]:
        """Which of these codes the chat said last of a message or root that is still to be sent to it."""

    def mail_done(self, *, key: str) -> bool: ...

    def explained(self, *, sender: str, occurrence: str) -> bool:
        """Whether this sender was given the explanation about this occurrence."""

    def mails_to(self, *, address: str, since: datetime) -> int:
        """How many answers (mails that `put_mail` or `done_with` wrote) went to this address since then."""

    def done_with(
        self,
        mail: ReadMail,
        *,
        place: MailboxPlace,
        mailbox: str,
        answers: Sequence[NewMail] = (),
        broken: Sequence[BrokenAddress] = (),
        now: datetime,
    ) -> bool:
        """Remember the mail, write its answers, mark addresses and move the mailbox's place on, all or nothing.

        False: a mail with this key was done before; then only the place moves. It never moves back, and not at all where
        `begin_at` has set another validity meanwhile.
        """

    def place_in(self, *, mailbox: str) -> MailboxPlace | None: ...

    def begin_at(self, place: MailboxPlace, *, mailbox: str) -> None:
        """Read the mailbox from there: it is new, or its UIDs are."""

    def break_address(self, address: BrokenAddress) -> None:
        """Mark it, or mark it again: no mail goes there until the mark is too old or taken away."""

    def broken_addresses(self, *, now: datetime, lasts: timedelta) -> tuple[BrokenAddress, ...]:
        """Those marked within `lasts`: an older mark is not believed any more."""

    def mend_address(self, *, address: str) -> bool:
        """Take the mark away; False: there was none."""
