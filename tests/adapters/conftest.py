"""The peer on loopback and the adapter that speaks to it."""

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from bot.adapters.slack import SlackChat
from tests.adapters.peer import Peer

NOW = datetime(2026, 11, 30, 3, 12, tzinfo=UTC)
TOKEN = "xoxb-test"


@pytest.fixture
def peer() -> Iterator[Peer]:
    server = Peer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.over.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def chat(peer: Peer) -> Iterator[SlackChat]:
    adapter = SlackChat(token=TOKEN, base_url=peer.url, clock=lambda: NOW)
    yield adapter
    adapter.close()


@pytest.fixture
def hasty(peer: Peer) -> Iterator[SlackChat]:
    """Waits for no answer longer than a moment, by its client's own timeouts."""
    with httpx.Client(timeout=httpx.Timeout(5.0, read=0.15), trust_env=False) as client:
        yield SlackChat(token=TOKEN, base_url=peer.url, clock=lambda: NOW, client=client)


@pytest.fixture
def short(peer: Peer) -> Iterator[SlackChat]:
    """Has a fifth of a second for a whole send."""
    adapter = SlackChat(token=TOKEN, base_url=peer.url, clock=lambda: NOW, send_within=timedelta(seconds=0.2))
    yield adapter
    adapter.close()
