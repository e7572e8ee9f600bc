"""A mail of ours, answered by each kind of mail program and carried by both servers, is read as what its writer said."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from bot.adapters.imap import ImapMailbox
from bot.adapters.smtp import SmtpMail
from bot.mail import CommandWord, Door, Known, TokenFact, TokenState, Verdict, read_reply
from bot.ports import MailMessage
from bot.signed import Signer
from tests.mailservers.delivering import AUTHSERV_ID, Layout, Post, bounce_of
from tests.mailservers.smtp_server import Sent

ANA = "ana@example.com"
BOT = "ontrack@example.com"
SIGNER = Signer("k" * 32)
MAIL = 4711
BODY = """shop/revenue failed: the connection was reset by the server.

Reply with one of these lines:

ack
fixed https://git.example.com/pull/418
"""


def now() -> datetime:
    return datetime.now(UTC)


def a_mail() -> MailMessage:
    ours = f"ontrack+{SIGNER.mail(MAIL)}@example.com"
    return MailMessage(
        key="mail:4711",
        message_id=f"<{ours}>",
        to=ANA,
        subject="[ontrack] shop/revenue: connection reset",
        text=BODY,
        html=f"<html><body><pre>{BODY}</pre></body></html>",
        references=("<record-12@example.com>",),
        reply_to=ours,
    )


@pytest.fixture
def sent(post: Post) -> Iterator[Sent]:
    """The mail as it reached Ana."""
    mail = SmtpMail(url=post.smtp.url, sender=f"ontrack <{BOT}>", clock=now)
    mail.send(a_mail())
    yield post.smtp.mail_to(ANA)
    mail.close()


def read_back(post: Post) -> list[Verdict]:
    """What every mail in the mailbox says."""
    mailbox = ImapMailbox(post.imap.url, clock=now)
    mailbox.open()
    arrived = mailbox.after(0, limit=10)
    mailbox.close()
    door = Door(bot=BOT, authserv_id=AUTHSERV_ID, owners=frozenset({ANA}))
    known = Known(token=fact)
    return [read_reply(mail.message, door=door, known=known, now=now()) for mail in arrived]


def fact(token: str) -> TokenFact:
    if SIGNER.read_mail(token) != MAIL:
        return TokenFact(state=TokenState.UNKNOWN)
    return TokenFact(state=TokenState.LIVE, person=ANA, occurrence="12.1")


@pytest.mark.parametrize("layout", list(Layout))
def test_an_answer_says_what_its_first_own_line_says(post: Post, sent: Sent, layout: Layout) -> None:
    post.answers(sent, "fixed https://git.example.com/pull/7", layout=layout)
    (verdict,) = read_back(post)

    assert (verdict.acts, verdict.command) == (True, CommandWord.FIXED), verdict.reason
    assert verdict.argument == "https://git.example.com/pull/7"
    assert (verdict.sender, verdict.occurrence) == (ANA, "12.1")


@pytest.mark.parametrize("layout", list(Layout))
def test_an_answer_of_nobody_proven_does_nothing(post: Post, sent: Sent, layout: Layout) -> None:
    post.answers(sent, "ack", layout=layout, proven=False)
    (verdict,) = read_back(post)

    assert not verdict.acts
    assert "not proven" in verdict.reason


def test_a_bounce_names_the_mail_and_the_address(post: Post, sent: Sent) -> None:
    post.imap.put(bounce_of(sent, status="5.1.1", at=now()))
    (verdict,) = read_back(post)

    assert not verdict.acts
    assert [(bounce.recipient, bounce.status) for bounce in verdict.bounces] == [(ANA, "5.1.1")]
    assert [SIGNER.read_mail(bounce.token or "") for bounce in verdict.bounces] == [MAIL]


def test_the_mail_goes_out_as_programs_expect_it(sent: Sent) -> None:
    assert sent.header("Auto-Submitted") == "auto-generated"
    assert sent.header("Message-ID") == a_mail().message_id
    assert sent.header("References") == "<record-12@example.com>"
    assert "fixed https://git.example.com/pull/418" in sent.part("plain")
    assert "connection was reset" in sent.part("html")
