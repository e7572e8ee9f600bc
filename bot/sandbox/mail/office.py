"""The stand-in mail system as a whole: takes ontrack's mails, keeps them for their people, and brings replies back.

It is a stranger's mail server to the product: it knows no record, no token and no policy.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import make_msgid

from bot.ports import MailMessage, SendFailed
from bot.sandbox.mail.boxes import Boxes, Letter
from bot.sandbox.mail.inbox import SandboxMailbox
from bot.sandbox.mail.reading import opened
from bot.sandbox.mail.written import Person, Reply, mail_bytes, reply_bytes

ADDRESS = "ontrack@sandbox.example"
SENDER = f"ontrack <{ADDRESS}>"
AUTHSERV_ID = "mx.sandbox.example"
NO_SUCH_MAILBOX = "5.1.1"


class NotSent(Exception):
    """A person's mail that the system does not take; the text says why."""


@dataclass(slots=True)
class SandboxMail:
    """The port `Mail`: the server that sends for ontrack."""

    boxes: Boxes
    clock: Callable[[], datetime]

    def send(self, message: MailMessage) -> None:
        """Lay the mail into its mailbox; an address that nobody has is refused as a mail server does."""
        at = self.clock()
        try:
            self.boxes.lay(mail_bytes(message, sender=SENDER, at=at), box=message.to, at=at)
        except KeyError as unknown:
            raise SendFailed(NO_SUCH_MAILBOX, permanent=True) from unknown


@dataclass(slots=True, kw_only=True)
class PostOffice:
    """`people`: who writes mail, names by address; `lists`: addresses that several people read, and nobody writes from."""

    people: Mapping[str, str]
    lists: tuple[str, ...] = ()
    clock: Callable[[], datetime]
    boxes: Boxes = field(init=False)
    mail: SandboxMail = field(init=False)
    mailbox: SandboxMailbox = field(init=False)

    def __post_init__(self) -> None:
        self.boxes = Boxes.of((*self.people, *self.lists))
        self.mail = SandboxMail(self.boxes, self.clock)
        self.mailbox = SandboxMailbox(validity=int(self.clock().timestamp()))

    def reply(self, mail_id: int, text: str, *, as_address: str, quoting: bool = True, forged: bool = False) -> Letter:
        """Answer a mail as somebody; `forged`: his name is only written there, and the receiving server says so.

        The answer lies in ontrack's inbox, and beside the mail that it answers. Raises `NotSent`.
        """
        letter = self.boxes.letter(mail_id)
        if letter is None or letter.answers is not None:
            raise NotSent("there is no such mail to answer")
        if as_address not in self.people:
            raise NotSent(f"nobody writes mail as {as_address}")
        if not text.strip():
            raise NotSent("the answer is empty")
        author = Person(name=self.people[as_address], address=as_address)
        at = self.clock()
        reply = Reply(
            text=text,
            author=author,
            message_id=make_msgid(domain=author.domain),
            at=at,
            quoting=quoting,
            proven=not forged,
        )
        message = reply_bytes(reply, to=opened(letter.message), sent_at=letter.at, authserv_id=AUTHSERV_ID)
        sent = self.boxes.lay(message, box=letter.box, at=at, answers=letter.id, proven=not forged)
        self.mailbox.deliver(message)
        return sent
