"""The mailbox behind TLS: no password before it, no certificate that is not trusted, and no word of the server overheard in it."""

import ssl
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from bot.adapters.imap import ImapMailbox
from bot.adapters.imap_line import Line
from bot.adapters.imap_wire import Account, Patience
from bot.ports import MailboxDown
from bot.wire.resolving import Resolver
from tests.adapters.mail_peer import LOCALHOST
from tests.mailservers.imap_peer import ImapPeer, imap_peer

LONG = timedelta(seconds=60)
NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
OFFERED = b"* CAPABILITY IMAP4rev1 AUTH=PLAIN IDLE STARTTLS\r\n"


def of_localhost() -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(LOCALHOST)
    return context


@pytest.fixture
def peer() -> Iterator[ImapPeer]:
    """It offers nothing but what a test has it offer, and answers STARTTLS as localhost."""
    with imap_peer(of_localhost()) as running:
        yield running


@pytest.fixture
def secure_peer() -> Iterator[ImapPeer]:
    with imap_peer(of_localhost(), from_the_start=True) as running:
        yield running


@pytest.fixture
def _trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(LOCALHOST))


def mailbox_at(url: str) -> ImapMailbox:
    return ImapMailbox(url, clock=lambda: NOON)


def elsewhere(peer: ImapPeer) -> Line:
    """To the server as if it stood on another machine."""
    account = Account(host="mail.example.com", port=peer.port, user="u", password="p", folder="INBOX", tls=False)
    return Line(account, resolver=Resolver(look=lambda _host, _port: ("127.0.0.1",)), patience=Patience())


def commands(peer: ImapPeer) -> list[str]:
    return [each.split(" ")[0] for each in peer.heard]


def test_a_password_does_not_travel_in_the_clear(peer: ImapPeer) -> None:
    line = elsewhere(peer)
    with pytest.raises(MailboxDown, match=r"mail\.example\.com offers no STARTTLS"):
        line.begin()
    line.end()

    assert commands(peer) == ["CAPABILITY"]


@pytest.mark.usefixtures("_trusted")
def test_nor_to_a_server_with_the_certificate_of_another(peer: ImapPeer) -> None:
    peer.says["CAPABILITY"] = OFFERED
    line = elsewhere(peer)
    with pytest.raises(MailboxDown, match=r"certificate of mail\.example\.com is not trusted.*SSL_CERT_FILE"):
        line.begin()
    line.end()

    assert commands(peer) == ["CAPABILITY", "STARTTLS"]


def test_on_this_machine_tls_is_taken_where_it_is_offered(peer: ImapPeer) -> None:
    peer.says["CAPABILITY"] = OFFERED
    mailbox = mailbox_at(peer.url)
    mailbox.open()
    mailbox.close()

    assert commands(peer)[:4] == ["CAPABILITY", "STARTTLS", "CAPABILITY", "AUTHENTICATE"]


@pytest.mark.usefixtures("_trusted")
def test_news_in_the_same_record_as_the_go_ahead_is_not_overheard(secure_peer: ImapPeer) -> None:
    secure_peer.while_idling = b"* OK still here\r\n* 1 EXISTS\r\n"
    mailbox = mailbox_at(f"imaps://ontrack:secret@localhost:{secure_peer.port}")
    mailbox.open()
    mailbox.after(0, limit=10)
    began = time.monotonic()
    mailbox.wait(LONG)
    mailbox.close()

    assert time.monotonic() - began < 10


def test_a_certificate_that_nobody_vouches_for_is_refused(secure_peer: ImapPeer) -> None:
    mailbox = mailbox_at(f"imaps://ontrack:secret@localhost:{secure_peer.port}")
    with pytest.raises(MailboxDown, match=r"certificate of localhost is not trusted \(self-signed certificate\)"):
        mailbox.open()

    assert secure_peer.heard == []


def test_a_port_without_tls_is_told_from_one_with_it(peer: ImapPeer) -> None:
    mailbox = mailbox_at(peer.url.replace("imap://", "imaps://"))
    with pytest.raises(MailboxDown, match="imap:// is for a port that begins without TLS"):
        mailbox.open()
