"""The mail that a service is given: a server that sends, a mailbox that is read. Both from the environment, or handed over."""

from dataclasses import dataclass

from bot.adapters.imap import ImapMailbox
from bot.adapters.smtp import SmtpMail
from bot.ports import Clock, Mail, Mailbox
from bot.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """`sender` is our address as From has it; `mailbox` None where no replies are read, `name` is the mailbox's own.

    `authserv_id`: whose word on senders is believed.
    """

    mail: Mail
    sender: str
    mailbox: Mailbox | None = None
    name: str = "mailbox"
    authserv_id: str | None = None


def post_of(settings: Settings, clock: Clock) -> Post | None:
    """The mail that the environment sets up; None where it sets up none."""
    if settings.smtp_url is None or settings.mail_from is None:
        return None
    mail = SmtpMail(url=settings.smtp_url, sender=settings.mail_from, clock=clock)
    if settings.imap_url is None:
        return Post(mail=mail, sender=settings.mail_from)
    mailbox = ImapMailbox(settings.imap_url, clock=clock)
    return Post(
        mail=mail,
        sender=settings.mail_from,
        mailbox=mailbox,
        name=mailbox.name,
        authserv_id=settings.mail_authserv_id,
    )
