"""Reads replies that come by mail: from the bytes of a message to a verdict. It opens no mailbox, sends and stores nothing."""

from bot.mail.addresses import one_mailbox
from bot.mail.bounces import Bounce, BounceKind
from bot.mail.commands import Command, CommandWord, NoCommand, command_of
from bot.mail.model import Answer, Door, Known, TokenFact, TokenState, Verdict
from bot.mail.reader import MOST_BYTES, read_reply
from bot.mail.tokens import mailbox_of

__all__ = [
    "MOST_BYTES",
    "Answer",
    "Bounce",
    "BounceKind",
    "Command",
    "CommandWord",
    "Door",
    "Known",
    "NoCommand",
    "TokenFact",
    "TokenState",
    "Verdict",
    "command_of",
    "mailbox_of",
    "one_mailbox",
    "read_reply",
]
