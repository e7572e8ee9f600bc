"""Mail over SMTP: what arrives, what each refusal means, what may have arrived, and that a send is over in time."""

import ssl
import time
from base64 import b64encode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from bot.adapters.smtp import AT_ONCE, DOWN_FOR, SmtpMail
from bot.adapters.smtp_errors import said_of
from bot.delivery.refusals import RecipientRefused
from bot.ports import MailMessage, SendFailed
from tests.adapters.conftest import NOW
from tests.adapters.mail_peer import CUT, DRIPS, LOCALHOST, SILENT, MailPeer, mail_peer
from tests.mailservers.smtp_server import SmtpServer, smtp_server

ANY_INTERFACE = "0.0.0.0"
SENDER = "ontrack <ontrack@example.com>"
OWN = "ontrack+7-abcdefghijabcdefghij@example.com"
MESSAGE = MailMessage(
    key="5.1/1/0/email/0",
    message_id=f"<{OWN}>",
    to="ana@example.org",
    subject="[ontrack] finance.daily_revenue: größer",
    text="Zeile\n.dot\n" + "x" * 500,
    html="<p>Zeile</p>",
    references=("<record-5@example.com>",),
    reply_to=OWN,
)


@contextmanager
def sending(url: str, **fields: Any) -> Iterator[SmtpMail]:
    mail = SmtpMail(**{"url": url, "sender": SENDER, "clock": lambda: NOW, **fields})
    try:
        yield mail
    finally:
        mail.close()


@contextmanager
def to_peer(
    peer: MailPeer, *, user: str = "", scheme: str = "smtp", host: str = "127.0.0.1", **fields: Any
) -> Iterator[SmtpMail]:
    with mail_peer(peer), sending(f"{scheme}://{user}{host}:{peer.port}", **fields) as mail:
        yield mail


def failed(mail: SmtpMail, message: MailMessage = MESSAGE) -> SendFailed:
    with pytest.raises(SendFailed) as caught:
        mail.send(message)
    return caught.value


@pytest.fixture
def server() -> Iterator[SmtpServer]:
    with smtp_server() as running:
        yield running


def test_a_real_server_takes_a_mail_whole(server: SmtpServer) -> None:
    with sending(server.url) as mail:
        mail.send(MESSAGE)

    (sent,) = server.taken
    assert (sent.sender, sent.to) == (OWN, ("ana@example.org",))
    assert sent.header("Message-ID") == MESSAGE.message_id
    assert sent.header("References") == "<record-5@example.com>"
    assert sent.header("Reply-To") == OWN
    assert sent.header("Subject") == MESSAGE.subject
    assert sent.header("From") == SENDER
    assert sent.header("Date") == "Mon, 30 Nov 2026 03:12:00 +0000"
    assert sent.header("Auto-Submitted") == "auto-generated"
    assert sent.part("plain").replace("\r\n", "\n").rstrip("\n") == MESSAGE.text
    assert sent.part("html").strip() == MESSAGE.html
    assert max(map(len, sent.content.split(b"\r\n"))) <= 998


def test_a_connection_is_kept_and_used_again() -> None:
    peer = MailPeer()
    with to_peer(peer) as mail:
        for _ in range(3):
            mail.send(MESSAGE)

    assert (peer.connections, len(peer.commands("DATA"))) == (1, 3)


def test_one_that_the_server_closed_meanwhile_is_replaced_once() -> None:
    peer = MailPeer()
    with to_peer(peer) as mail:
        mail.send(MESSAGE)
        peer.script["MAIL"] = [CUT]
        mail.send(MESSAGE)
        peer.script["MAIL"] = ["421 4.4.2 idle for too long"]
        mail.send(MESSAGE)

    assert (peer.connections, peer.heard.count(".")) == (3, 0)
    assert len(peer.commands("DATA")) == 3


@pytest.mark.parametrize("answer", [CUT, SILENT])
def test_a_text_without_an_answer_is_uncertain_and_not_sent_again(answer: str) -> None:
    peer = MailPeer(script={".": [answer]})
    with to_peer(peer, send_within=timedelta(seconds=0.4)) as mail:
        found = failed(mail)

    assert found.uncertain
    assert not found.permanent
    assert len(peer.commands("DATA")) == 1


def test_a_real_server_that_hangs_up_in_the_middle_leaves_it_uncertain(server: SmtpServer) -> None:
    server.will("DATA", "hangs up")
    with sending(server.url) as mail:
        assert failed(mail).uncertain


@pytest.mark.parametrize(
    ("answer", "code", "permanent", "refused"),
    [
        ("550 5.1.1 no such user", "5.1.1", True, True),
        ("550 5.4.1 Recipient address rejected: Access denied", "5.4.1", True, True),
        ("550 mailbox unavailable", "smtp_550", True, True),
        ("550 5.7.1 we do not relay", "5.7.1", True, False),
        ("550 relay not permitted", "smtp_550", True, False),
        ("554 no", "smtp_554", True, False),
        ("450 4.2.1 try later", "4.2.1", False, False),
        ("451 greylisted", "smtp_451", False, False),
    ],
)
def test_what_a_refused_recipient_means(answer: str, code: str, permanent: bool, refused: bool) -> None:
    peer = MailPeer(script={"RCPT": [answer]})
    with to_peer(peer) as mail:
        found = failed(mail)
        mail.send(MESSAGE)

    assert (found.code, found.permanent, found.uncertain) == (code, permanent, False)
    assert isinstance(found, RecipientRefused) is refused
    assert answer.split(" ", 1)[1] in said_of(found)


def test_a_text_that_is_refused_says_nothing_of_the_address(server: SmtpServer) -> None:
    server.will("DATA", "554 5.7.1 looks like spam", "452 4.3.1 disk full")
    with sending(server.url) as mail:
        for_good, for_now = failed(mail), failed(mail)

    assert (for_good.code, for_good.permanent, isinstance(for_good, RecipientRefused)) == ("5.7.1", True, False)
    assert (for_now.code, for_now.permanent, for_now.uncertain) == ("4.3.1", False, False)


def test_a_server_that_takes_no_address_of_the_mail_takes_ours_from_then_on() -> None:
    peer = MailPeer(script={"MAIL": ["553 5.7.1 not owned by user"]})
    with to_peer(peer) as mail:
        mail.send(MESSAGE)
        mail.send(MESSAGE)

    assert [line.split(" ")[1] for line in peer.commands("MAIL")] == [
        f"FROM:<{OWN}>",
        "FROM:<ontrack@example.com>",
        "FROM:<ontrack@example.com>",
    ]


def test_one_that_says_so_only_after_the_text_is_given_it_under_our_name() -> None:
    peer = MailPeer(script={".": ["554 5.2.252 SendAsDenied; not allowed to send as"]})
    with to_peer(peer) as mail:
        mail.send(MESSAGE)

    assert len(peer.commands("DATA")) == 2


def test_a_sender_that_is_refused_is_no_fault_of_the_address() -> None:
    peer = MailPeer(script={"MAIL": ["550 5.7.1 who are you"] * 2})
    with to_peer(peer) as mail:
        found = failed(mail)

    assert (found.code, found.permanent) == ("5.7.1", False)
    assert found.retry_after == timedelta(minutes=1)


def test_user_and_password_are_told_and_decoded() -> None:
    peer = MailPeer(features=("AUTH LOGIN PLAIN", "SIZE 1000000"))
    with to_peer(peer, user="ana%40example.com:p%C3%A4ss%20w@") as mail:
        mail.send(MESSAGE)

    expected = b64encode("\0ana@example.com\0päss w".encode()).decode()
    assert peer.commands("AUTH") == [f"AUTH PLAIN {expected}"]
    assert " SIZE=" in peer.commands("MAIL")[0]


def test_a_refused_login_is_tried_again_later_and_its_words_are_known() -> None:
    peer = MailPeer(features=("AUTH PLAIN",), script={"AUTH": ["535 5.7.8 bad credentials for s3cret"]})
    with to_peer(peer, user="ana:s3cret@") as mail:
        found = failed(mail)

    assert (found.code, found.permanent, found.retry_after) == ("5.7.8", False, timedelta(minutes=1))
    assert "s3cret" not in said_of(found)
    assert peer.commands("MAIL") == []


def test_no_login_where_none_is_offered() -> None:
    with to_peer(MailPeer(), user="ana:secret@") as mail:
        assert failed(mail).code == "smtp_offers_no_login"


def test_tls_from_the_start_is_checked() -> None:
    trusting = ssl.create_default_context(cafile=str(LOCALHOST))
    peer = MailPeer(tls_from_the_start=True, features=("AUTH PLAIN",))
    with to_peer(peer, scheme="smtps", host="localhost", user="ana:secret@", context=trusting) as mail:
        mail.send(MESSAGE)
        assert mail.check() == "TLSv1.3"
    with to_peer(MailPeer(tls_from_the_start=True), scheme="smtps", host="localhost") as mail:
        found = failed(mail)

    assert len(peer.commands("DATA")) == 1
    assert (found.code, found.permanent) == ("smtp_certificate_not_trusted", False)
    assert "self" in said_of(found)


def test_starttls_is_taken_where_it_is_offered_and_begins_anew() -> None:
    peer = MailPeer(features=("STARTTLS", "AUTH PLAIN"))
    with to_peer(peer, user="ana:secret@") as mail:
        assert mail.check() == "TLSv1.3"
        mail.send(MESSAGE)

    assert [line.split(" ")[0] for line in peer.heard[:4]] == ["EHLO", "STARTTLS", "EHLO", "AUTH"]


def test_over_a_network_nothing_goes_in_the_clear() -> None:
    peer = MailPeer(features=("AUTH PLAIN",))
    with to_peer(peer, user="ana:secret@", host=ANY_INTERFACE) as mail:
        found = failed(mail)

    assert found.code == "smtp_offers_no_tls"
    assert [line.split(" ")[0] for line in peer.heard if line != "QUIT"] == ["EHLO"]


@pytest.mark.parametrize("script", [{"EHLO": [DRIPS]}, {"RCPT": [SILENT]}, {".": [DRIPS]}])
def test_a_send_is_over_in_time_whatever_the_server_does(script: dict[str, list[str]]) -> None:
    began = time.monotonic()
    with to_peer(MailPeer(script=script), send_within=timedelta(seconds=0.4)) as mail:
        found = failed(mail)
        took = time.monotonic() - began

    assert found.code == "smtp_no_answer_in_time"
    assert found.uncertain is ("." in script)
    assert 0.3 < took < 5


def test_a_silent_greeting_is_not_waited_for_without_end() -> None:
    with to_peer(MailPeer(greeting=SILENT), send_within=timedelta(seconds=0.3)) as mail:
        found = failed(mail)

    assert (found.code, found.uncertain) == ("smtp_no_answer_in_time", False)


@pytest.mark.parametrize("greeting", ["554 5.3.2 not today", "421 4.3.2 too many"])
def test_a_server_that_wants_nobody_is_asked_again_later(greeting: str) -> None:
    with to_peer(MailPeer(greeting=greeting)) as mail:
        found = failed(mail)

    assert (found.permanent, found.uncertain) == (False, False)


def test_a_server_that_is_not_there_is_no_fault_of_the_mail() -> None:
    peer = MailPeer()
    peer.server.close()
    with sending("smtp://127.0.0.1:9") as mail:
        found = failed(mail)

    assert (found.code, found.permanent, found.uncertain) == ("smtp_unreachable", False, False)


def test_a_server_that_was_not_there_is_left_alone_for_a_while() -> None:
    now = [NOW]
    peer = MailPeer(greeting=SILENT)
    with to_peer(peer, send_within=timedelta(seconds=0.3), clock=lambda: now[0]) as mail:
        failed(mail)
        began = time.monotonic()
        found = failed(mail)
        took = time.monotonic() - began
        now[0] += DOWN_FOR
        failed(mail)

    assert (found.code, found.retry_after) == ("smtp_unreachable", DOWN_FOR)
    assert took < 0.2
    assert peer.connections == 2


def test_few_threads_wait_for_one_server() -> None:
    peer = MailPeer(script={"RCPT": [SILENT] * 9})
    with to_peer(peer, send_within=timedelta(seconds=4)) as mail, ThreadPoolExecutor(9) as threads:
        codes = [each.result().code for each in [threads.submit(failed, mail) for _ in range(9)]]

    assert sorted(codes) == ["smtp_busy"] * 5 + ["smtp_no_answer_in_time"] * 4
    assert peer.connections == AT_ONCE


def test_answers_that_are_none_are_no_yes() -> None:
    for script, uncertain in (({"RCPT": ["hello"]}, False), ({".": ["hello"]}, True)):
        with to_peer(MailPeer(script={word: list(said) for word, said in script.items()})) as mail:
            found = failed(mail)

        assert (found.permanent, found.uncertain) == (False, uncertain)


def test_a_check_sends_nothing() -> None:
    peer = MailPeer()
    with to_peer(peer) as mail:
        assert mail.check() is None
        assert mail.check() is None

    assert peer.commands("MAIL") == []
    assert (peer.connections, len(peer.commands("NOOP"))) == (1, 1)
