"""The mailbox against a real IMAP server: what is new comes once and in order, stays unread, and survives every restart."""

import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.adapters import imap
from bot.adapters.imap import ImapMailbox
from bot.ports import ArrivedMail, MailboxDown
from tests.mailservers.imap_server import PASSWORD, USER, ImapServer, imap_server

LONG = timedelta(seconds=60)
FIRST = b"Subject: first\r\n\r\nack\r\n"
SECOND = b"Subject: second\r\n\r\napprove\r\n"


def now() -> datetime:
    return datetime.now(UTC)


def subjects(arrived: tuple[ArrivedMail, ...]) -> list[bytes]:
    return [mail.message.split(b"\n")[0].rstrip() for mail in arrived]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ImapServer]:
    with imap_server(tmp_path / "mail") as running:
        yield running


@pytest.fixture
def mailbox(server: ImapServer) -> Iterator[ImapMailbox]:
    made = ImapMailbox(server.url, clock=now)
    yield made
    made.close()


def test_what_is_new_comes_in_order_and_stays_as_it_was(server: ImapServer, mailbox: ImapMailbox) -> None:
    mailbox.open()

    assert mailbox.after(0, limit=10) == ()

    uids = [server.put(FIRST), server.put(SECOND)]
    arrived = mailbox.after(0, limit=10)

    assert [mail.uid for mail in arrived] == uids
    assert subjects(arrived) == [b"Subject: first", b"Subject: second"]
    assert [mail.uid for mail in mailbox.after(0, limit=1)] == uids[:1]
    assert [mail.uid for mail in mailbox.after(uids[0], limit=1)] == uids[1:]
    assert mailbox.after(uids[1], limit=10) == ()
    assert "Seen" not in server.flags(uids[0])


def test_a_wait_ends_when_a_mail_comes(server: ImapServer, mailbox: ImapMailbox) -> None:
    mailbox.open()
    mailbox.after(0, limit=10)
    began = time.monotonic()
    delivered = threading.Thread(target=server.put, args=(FIRST,))
    delivered.start()
    mailbox.wait(LONG)
    delivered.join()

    assert time.monotonic() - began < LONG.total_seconds() / 2
    assert subjects(mailbox.after(0, limit=10)) == [b"Subject: first"]


def test_a_mail_that_came_before_the_wait_ends_it_at_once(server: ImapServer, mailbox: ImapMailbox) -> None:
    mailbox.open()
    mailbox.after(0, limit=10)
    server.put(FIRST)
    began = time.monotonic()
    mailbox.wait(LONG)

    assert time.monotonic() - began < LONG.total_seconds() / 2
    assert subjects(mailbox.after(0, limit=10)) == [b"Subject: first"]


def test_a_wait_for_nothing_takes_its_time_and_no_more(server: ImapServer, mailbox: ImapMailbox) -> None:
    mailbox.open()
    mailbox.after(server.put(FIRST), limit=10)
    began = time.monotonic()
    mailbox.wait(timedelta(seconds=0.3))

    assert 0.3 <= time.monotonic() - began < 5


@pytest.mark.parametrize("mails", [0, 1])
def test_closing_it_ends_a_wait_in_another_thread(server: ImapServer, mailbox: ImapMailbox, mails: int) -> None:
    for _ in range(mails):
        server.put(FIRST)
    mailbox.open()
    mailbox.after(mails, limit=10)
    closer = threading.Timer(0.2, mailbox.close)
    closer.start()
    began = time.monotonic()
    with pytest.raises(MailboxDown, match="closed by us"):
        mailbox.wait(LONG)
    closer.join()

    assert time.monotonic() - began < 5
    with pytest.raises(MailboxDown, match="not open"):
        mailbox.after(0, limit=10)
    assert mailbox.open()


def test_it_reads_on_where_it_was_after_the_server_was_killed(server: ImapServer, mailbox: ImapMailbox) -> None:
    validity, first = mailbox.open(), server.put(FIRST)
    mailbox.after(0, limit=10)
    server.kill()

    with pytest.raises(MailboxDown, match="was lost"):
        mailbox.after(first, limit=10)
    with pytest.raises(MailboxDown, match="cannot connect"):
        mailbox.open()

    server.start()
    server.put(SECOND)

    assert mailbox.open() == validity
    assert subjects(mailbox.after(first, limit=10)) == [b"Subject: second"]


def test_a_server_that_dies_ends_the_wait(server: ImapServer, mailbox: ImapMailbox) -> None:
    mailbox.open()
    killer = threading.Timer(0.2, server.kill)
    killer.start()
    with pytest.raises(MailboxDown, match="was lost"):
        mailbox.wait(LONG)
    killer.join()


def test_uids_that_are_given_anew_show_in_another_validity(server: ImapServer, mailbox: ImapMailbox) -> None:
    validity = mailbox.open()
    server.put(FIRST)
    server.kill()
    server.forget()
    server.start()
    server.put(SECOND)
    with pytest.raises(MailboxDown):
        mailbox.after(1, limit=10)

    assert mailbox.open() != validity
    assert subjects(mailbox.after(0, limit=10)) == [b"Subject: second"]


def test_of_a_large_mail_comes_its_beginning(
    server: ImapServer, mailbox: ImapMailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imap, "ASKED", "(UID BODY.PEEK[]<0.1001>)")
    monkeypatch.setattr(imap, "AT_ONCE", 5_000)
    mailbox.open()
    uids = [server.put(FIRST + b"x" * size) for size in (3_000, 10_000, 10)]
    batches = [mailbox.after(uid, limit=10) for uid in (0, *uids[:2])]

    assert [[(mail.uid, len(mail.message)) for mail in batch][:1] for batch in batches] == [
        [(uids[0], 1001)],
        [(uids[1], 1001)],
        [(uids[2], len(server_form(FIRST)) + 10)],
    ]
    assert [len(batch) for batch in batches] == [1, 1, 1]


def server_form(message: bytes) -> bytes:
    """This server keeps lines as its system does."""
    return message.replace(b"\r\n", b"\n")


def test_a_mail_that_was_taken_away_is_passed(server: ImapServer, mailbox: ImapMailbox) -> None:
    uids = [server.put(FIRST), server.put(FIRST), server.put(SECOND)]
    mailbox.open()
    server.delete(uids[1])

    assert [mail.uid for mail in mailbox.after(0, limit=2)] == [uids[0], uids[2]]


def test_mails_of_long_ago_are_not_there(server: ImapServer) -> None:
    long_ago = now() - timedelta(days=20)
    server.put(FIRST, at=long_ago)
    server.put(SECOND, at=now())
    mailbox = ImapMailbox(server.url, clock=now)
    mailbox.open()
    arrived = mailbox.after(0, limit=10)
    mailbox.close()

    assert subjects(arrived) == [b"Subject: second"]


def test_a_wrong_password_is_told_without_showing_any(server: ImapServer) -> None:
    mailbox = ImapMailbox(server.url.replace("ontrack", "somebody"), clock=now)

    with pytest.raises(MailboxDown, match=r"refuses the login of somebody@example\.com .* IMAP_URL") as refused:
        mailbox.open()
    assert PASSWORD not in str(refused.value)


def test_a_folder_that_is_not_there_is_named(server: ImapServer) -> None:
    mailbox = ImapMailbox(f"{server.url}/Answers%20to%20us", clock=now)

    assert mailbox.name == f"{USER}@127.0.0.1/Answers to us"
    with pytest.raises(MailboxDown, match="the folder Answers to us cannot be opened"):
        mailbox.open()
