"""The mailbox against servers on a bad day: every fault ends in time and in words that name the fix, never the password."""

import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from bot.adapters.imap import ImapMailbox
from bot.adapters.imap_wire import Account, Patience
from bot.ports import ArrivedMail, MailboxDown
from tests.mailservers.imap_peer import HANGS, HANGS_UP, ImapPeer, imap_peer

SHORT = timedelta(seconds=0.3)
LONG = timedelta(seconds=60)
NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.fixture
def peer() -> Iterator[ImapPeer]:
    with imap_peer() as running:
        yield running


@pytest.fixture
def mailbox(peer: ImapPeer) -> Iterator[ImapMailbox]:
    made = mailbox_at(peer.url)
    yield made
    made.close()


def mailbox_at(url: str, patience: Patience | None = None) -> ImapMailbox:
    quick = Patience(connecting=SHORT, silence=SHORT, command=LONG)
    return ImapMailbox(url, clock=lambda: NOON, patience=patience or quick)


def test_a_server_that_never_greets_is_given_up(peer: ImapPeer, mailbox: ImapMailbox) -> None:
    peer.greeting = HANGS
    with pytest.raises(MailboxDown, match=r"127\.0\.0\.1 does not answer in time .* imaps://"):
        mailbox.open()


@pytest.mark.parametrize("command", ["CAPABILITY", "AUTHENTICATE", "EXAMINE"])
def test_a_server_that_hangs_in_the_middle_is_given_up(peer: ImapPeer, mailbox: ImapMailbox, command: str) -> None:
    peer.says[command] = HANGS
    with pytest.raises(MailboxDown, match="does not answer in time"):
        mailbox.open()


@pytest.mark.parametrize("command", ["NOOP", "UID SEARCH", "UID FETCH"])
def test_a_connection_that_died_silently_is_left(peer: ImapPeer, mailbox: ImapMailbox, command: str) -> None:
    peer.says |= {"UID SEARCH": b"* SEARCH 5\r\n", command: HANGS}
    mailbox.open()
    with pytest.raises(MailboxDown, match="does not answer in time"):
        mailbox.after(0, limit=10)
    peer.says |= {"NOOP": b"", "UID SEARCH": b"* SEARCH\r\n", "UID FETCH": b""}

    assert mailbox.open() == 7
    assert mailbox.after(0, limit=10) == ()


def test_a_command_has_its_end_however_long_the_next_byte_may_take(peer: ImapPeer) -> None:
    peer.says["NOOP"] = HANGS
    mailbox = mailbox_at(peer.url, Patience(connecting=LONG, silence=LONG, command=SHORT))
    mailbox.open()
    began = time.monotonic()
    with pytest.raises(MailboxDown, match="does not answer in time"):
        mailbox.after(0, limit=10)

    assert time.monotonic() - began < 10


def test_closing_ends_a_dial_that_hangs(peer: ImapPeer) -> None:
    peer.greeting = HANGS
    mailbox = mailbox_at(peer.url, Patience(connecting=LONG, silence=LONG, command=LONG))
    closer = threading.Timer(0.2, mailbox.close)
    closer.start()
    began = time.monotonic()
    with pytest.raises(MailboxDown, match="closed by us"):
        mailbox.open()
    closer.join()

    assert time.monotonic() - began < 10


def test_a_mail_that_is_spoken_of_before_idling_begins_is_not_overheard(peer: ImapPeer, mailbox: ImapMailbox) -> None:
    peer.before_idling = b"* 1 EXISTS\r\n"
    mailbox.open()
    mailbox.after(0, limit=10)
    began = time.monotonic()
    mailbox.wait(LONG)

    assert time.monotonic() - began < 10


def test_news_in_the_same_packet_as_the_go_ahead_is_not_overheard(peer: ImapPeer, mailbox: ImapMailbox) -> None:
    peer.while_idling = b"* OK still here\r\n* 1 EXISTS\r\n"
    mailbox.open()
    mailbox.after(0, limit=10)
    began = time.monotonic()
    mailbox.wait(LONG)

    assert time.monotonic() - began < 10


def test_a_mail_that_is_spoken_of_during_a_search_ends_the_next_wait(peer: ImapPeer, mailbox: ImapMailbox) -> None:
    peer.says["UID SEARCH"] = b"* SEARCH\r\n* 1 EXISTS\r\n"
    mailbox.open()
    mailbox.after(0, limit=10)
    mailbox.wait(LONG)

    assert peer.asked("IDLE") == []


def test_what_is_said_while_idling_of_other_things_ends_no_wait(peer: ImapPeer, mailbox: ImapMailbox) -> None:
    peer.while_idling = b"* OK still here\r\n* 3 FETCH (FLAGS (\\Seen))\r\n"
    mailbox.open()
    mailbox.after(0, limit=10)
    began = time.monotonic()
    mailbox.wait(SHORT)

    assert time.monotonic() - began >= SHORT.total_seconds()


def test_a_goodbye_while_idling_ends_the_wait(peer: ImapPeer, mailbox: ImapMailbox) -> None:
    peer.says["NOOP"] = b""
    mailbox.open()
    mailbox.after(0, limit=10)
    peer.says["IDLE"] = HANGS_UP
    with pytest.raises(MailboxDown, match="was lost"):
        mailbox.wait(LONG)


def test_a_server_without_idle_is_asked_again_soon(peer: ImapPeer, mailbox: ImapMailbox) -> None:
    peer.says["CAPABILITY"] = b"* CAPABILITY IMAP4rev1 AUTH=PLAIN\r\n"
    mailbox.open()
    mailbox.after(0, limit=10)
    began = time.monotonic()
    mailbox.wait(SHORT)

    assert time.monotonic() - began >= SHORT.total_seconds()
    assert peer.asked("IDLE") == []


def test_a_server_that_offers_idle_and_refuses_it_is_read_without(peer: ImapPeer, mailbox: ImapMailbox) -> None:
    peer.says["IDLE"] = b"NO not today\r\n"
    mailbox.open()
    mailbox.after(0, limit=10)
    mailbox.wait(LONG)
    peer.says["UID SEARCH"] = b"* SEARCH\r\n"
    mailbox.after(0, limit=10)
    began = time.monotonic()
    mailbox.wait(SHORT)

    assert time.monotonic() - began >= SHORT.total_seconds()
    assert len(peer.asked("IDLE")) == 1


def test_the_last_mail_is_not_new_though_every_search_names_it(peer: ImapPeer, mailbox: ImapMailbox) -> None:
    peer.says["UID SEARCH"] = b"* SEARCH 9\r\n"
    mailbox.open()

    assert mailbox.after(9, limit=10) == ()
    assert peer.asked("UID FETCH") == []


@pytest.mark.parametrize(
    ("told", "read"),
    [
        (b"* 3 FETCH (FLAGS (\\Seen))\r\n* 1 FETCH (UID 9 BODY[]<0> {3}\r\nack)\r\n", b"ack"),
        (b"* 1 FETCH (BODY[]<0> {3}\r\nack UID 9)\r\n", b"ack"),
        (b'* 1 FETCH (UID 9 BODY[]<0> "a \\"b\\"")\r\n', b'a "b"'),
        (b'* 1 FETCH (UID 9 BODY[] "")\r\n', b""),
        (b"* 1 FETCH (UID 9 BODY[]<0> NIL)\r\n", b""),
    ],
)
def test_a_mail_is_read_in_every_form_that_servers_tell_it(
    peer: ImapPeer, mailbox: ImapMailbox, told: bytes, read: bytes
) -> None:
    peer.says |= {"UID SEARCH": b"* SEARCH 9\r\n", "UID FETCH": told}
    mailbox.open()

    assert mailbox.after(0, limit=10) == (ArrivedMail(uid=9, message=read),)


def test_a_folder_that_gives_no_validity_is_refused(peer: ImapPeer, mailbox: ImapMailbox) -> None:
    peer.says["EXAMINE"] = b"* 0 EXISTS\r\n"
    with pytest.raises(MailboxDown, match="no UIDVALIDITY"):
        mailbox.open()


def test_the_folder_is_opened_to_read_only(peer: ImapPeer, mailbox: ImapMailbox) -> None:
    mailbox.open()

    assert peer.asked("SELECT") == []
    assert peer.asked("EXAMINE") == ['EXAMINE "INBOX"']


def test_a_server_that_repeats_the_password_does_not_get_it_into_the_log(peer: ImapPeer, mailbox: ImapMailbox) -> None:
    peer.says["AUTHENTICATE"] = b"NO [AUTHENTICATIONFAILED] secret is wrong\r\n"
    with pytest.raises(MailboxDown, match=r"refuses the login of ontrack .*\*\*\* is wrong") as refused:
        mailbox.open()

    assert "secret" not in str(refused.value)


def test_a_server_that_takes_no_password_is_named(peer: ImapPeer, mailbox: ImapMailbox) -> None:
    peer.says["CAPABILITY"] = b"* CAPABILITY IMAP4rev1 LOGINDISABLED AUTH=XOAUTH2\r\n"
    with pytest.raises(MailboxDown, match="takes no login by password"):
        mailbox.open()


def test_a_refusal_in_the_middle_is_told_in_the_servers_words(peer: ImapPeer, mailbox: ImapMailbox) -> None:
    peer.says["UID SEARCH"] = b"NO [UNAVAILABLE] back in a minute\r\n"
    mailbox.open()
    with pytest.raises(MailboxDown, match="back in a minute"):
        mailbox.after(0, limit=10)


@pytest.mark.parametrize("url", ["imap://127.0.0.1", "imap://ontrack@127.0.0.1"])
def test_a_url_without_a_login_is_told_how(url: str) -> None:
    with pytest.raises(MailboxDown, match="imaps://user:password@host"):
        mailbox_at(url).open()


def test_a_host_that_does_not_exist_is_named() -> None:
    with pytest.raises(MailboxDown, match=r"nowhere\.invalid has no address"):
        mailbox_at("imap://u:p@nowhere.invalid", Patience()).open()


def test_the_account_shows_no_password() -> None:
    account = Account.of("imaps://ontrack%40example.com:p%40ss@mail.example.com/Team%2FAnswers", folder="INBOX")

    assert account.name == "ontrack@example.com@mail.example.com/Team/Answers"
    assert account.port == 993
    assert account.password == "p@ss"
    assert "p@ss" not in repr(account)
