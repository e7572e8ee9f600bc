"""Puts together what sends and reads mail: the mailer of the outbox, late asks, the mailbox, links that act. It runs none of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from email.utils import parseaddr

from bot.adapters.smtp import SmtpMail
from bot.compose.common import Common, TakeIn
from bot.compose.post import Post
from bot.delivery.late import LateAsks
from bot.delivery.letters import Letters, page_url
from bot.delivery.mails import Mailer
from bot.intake import Inbound, Outcome
from bot.ports import Clock
from bot.replies import Correspondence, Links
from bot.signed import Signer
from handlers.mailbox import MailboxDoor

LATE = "late"
MAILBOX = "mailbox"


@dataclass(frozen=True, slots=True, kw_only=True)
class MailSide:
    """`late` and `door` are driven by whoever leads; `door` is None where no mailbox is read, `server` where another stands in."""

    mailer: Mailer
    server: SmtpMail | None
    take_in: TakeIn
    late: LateAsks
    links: Links
    door: MailboxDoor | None

    def close(self) -> None:
        if self.server is not None:
            self.server.close()

    @property
    def checks(self) -> dict[str, Callable[[], str]]:
        """What readiness asks of it."""
        return {MAILBOX: self.door.state} if self.door is not None else {}


def _mailer(parts: Common, post: Post, signer: Signer) -> Mailer:
    replies = post.mailbox is not None
    letters = Letters(
        snapshot_of=parts.records.snapshot,
        thread_of=parts.records.permalink,
        signer=signer,
        public_url=parts.settings.public_url,
        replies=replies,
    )
    return Mailer(mail=post.mail, render=letters, signer=signer, sender=post.sender, replies=replies)


def mail_side(parts: Common, post: Post | None, *, written: Callable[[], None]) -> MailSide | None:
    """None where no mail is sent. `written` is told when a mail waits to be sent.

    The side's `take_in` knows first which addresses are broken, before what follows is decided. Raises `ValueError` for mail
    without a key: what it sends could not be told from a forger's.
    """
    if post is None:
        return None
    signer = parts.signer
    if signer is None:
        raise ValueError("mail needs SECRET_KEY")
    people, take_in = parts.people, parts.take_in

    def undelivered(inbounds: Sequence[Inbound]) -> list[Outcome]:
        parts.directory.read_broken(parts.clock())
        return take_in(inbounds)

    def admins() -> list[str]:
        known = people()
        named = [known.person(admin) for admin in parts.policies().admins]
        addresses = [
            person.email if person is not None else admin
            for person, admin in zip(named, parts.policies().admins, strict=True)
        ]
        return [address for address in addresses if address is not None and known.takes_mail(address)]

    late = LateAsks(
        storage=parts.storage,
        take_in=take_in,
        policy_of=lambda job: parts.policies().job(job),
        admins=admins,
        written=written,
    )
    links = Links(
        storage=parts.storage,
        take_in=take_in,
        snapshot_of=parts.records.snapshot,
        policies=parts.policies,
        people=people,
        signer=signer,
    )
    return MailSide(
        mailer=_mailer(parts, post, signer),
        server=post.mail if isinstance(post.mail, SmtpMail) else None,
        take_in=undelivered,
        late=late,
        links=links,
        door=_door(parts, post, signer, take_in=undelivered, written=written),
    )


def _door(
    parts: Common, post: Post, signer: Signer, *, take_in: TakeIn, written: Callable[[], None]
) -> MailboxDoor | None:
    if post.mailbox is None:
        return None
    correspondence = Correspondence(
        storage=parts.storage,
        take_in=take_in,
        snapshot_of=parts.records.snapshot,
        policies=parts.policies,
        people=parts.people,
        signer=signer,
        bot=parseaddr(post.sender)[1],
        authserv_id=post.authserv_id,
        links=parts.settings.public_url is not None,
        written=written,
    )
    return MailboxDoor(
        mailbox=post.mailbox,
        name=post.name,
        take=correspondence.take,
        places=parts.storage,
        leads=parts.leads,
        clock=parts.clock,
    )


def record_url(signer: Signer | None, public_url: str | None, clock: Clock) -> Callable[[str], str | None]:
    """The address of an occurrence's page, which whoever holds it may read for a while."""

    def url_of(occurrence: str) -> str | None:
        if signer is None or public_url is None:
            return None
        record, _, number = occurrence.partition(".")
        return page_url(signer, public_url, record=int(record), number=int(number), now=clock())

    return url_of
