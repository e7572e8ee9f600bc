"""The mail that a service is given: a server that sends, a mailbox that is read. Both from the environment, or handed over."""

from dataclasses import dataclass

from bot.ports import Mail, Mailbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """`sender` is our address, `mailbox` None where no replies are read; `authserv_id`: whose word on senders is believed."""

    mail: Mail
    sender: str
    mailbox: Mailbox | None = None
    authserv_id: str | None = None
