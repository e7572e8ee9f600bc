"""What a mail looks like: subject, plain text and HTML from one letter, so that both say the same. Pure; it must not send."""

from bot.render.mail.answers import answer_mail
from bot.render.mail.commands import offered
from bot.render.mail.incident import incident_mail
from bot.render.mail.model import Answer, Confirm, Fault, MailKind, MailLinks, RenderedMail, content_of
from bot.render.mail.notices import notice_mail

__all__ = [
    "Answer",
    "Confirm",
    "Fault",
    "MailKind",
    "MailLinks",
    "RenderedMail",
    "answer_mail",
    "content_of",
    "incident_mail",
    "notice_mail",
    "offered",
]
