"""A send is over in time, whatever the network does meanwhile."""

import socket
import time
from collections.abc import Iterator
from datetime import timedelta
from threading import Event

import httpcore
import pytest

from bot.adapters.slack import SlackChat
from bot.ports import ChatFile, ChatMessage, SendFailed
from bot.wire.deadline import Deadline, DeadlineBackend
from bot.wire.resolving import Resolver, addresses_of
from bot.wire.transport import AS_HTTPX
from tests.adapters.conftest import NOW
from tests.adapters.peer import Peer, Trickle, never_answered, said

MESSAGE = ChatMessage(key="k", text="t", blocks=())
LOG = ChatFile(name="k.txt", title="Log", text="x")


class Watch:
    """A monotonic clock that a test moves."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def test_a_wait_gets_what_is_left_and_no_more() -> None:
    watch = Watch()
    deadline = Deadline(monotonic=watch)
    with deadline.within(timedelta(seconds=30)):
        at_first = deadline.clamp(20.0)
        watch.seconds += 25
        near_the_end = deadline.clamp(20.0)
        unlimited = deadline.clamp(None)
        watch.seconds += 10
        after_it = deadline.clamp(20.0)

    assert (at_first, near_the_end, unlimited, after_it) == (20.0, 5.0, 5.0, 0.0)


def test_the_nearer_of_two_deadlines_holds_and_the_outer_one_comes_back() -> None:
    deadline = Deadline(monotonic=Watch())
    with deadline.within(timedelta(seconds=10)):
        with deadline.within(timedelta(seconds=30)):
            inside_a_longer = deadline.clamp(None)
        with deadline.within(timedelta(seconds=3)):
            inside_a_shorter = deadline.clamp(None)
        back = deadline.clamp(None)
    outside = deadline.clamp(None)

    assert (inside_a_longer, inside_a_shorter, back, outside) == (10.0, 3.0, 10.0, None)


def test_a_trickling_answer_is_cut_at_the_deadline(peer: Peer, short: SlackChat) -> None:
    trickle = Trickle()
    peer.will("chat.postMessage", trickle)
    begun = time.monotonic()
    with pytest.raises(SendFailed) as failed:
        short.post(channel="C1", message=MESSAGE)

    assert (failed.value.code, failed.value.uncertain) == ("timeout", True)
    assert trickle.sent > 3
    assert time.monotonic() - begun < 2


def test_the_steps_of_an_upload_share_one_deadline(peer: Peer, short: SlackChat) -> None:
    place = {"ok": True, "upload_url": f"{peer.url}put", "file_id": "F1"}
    peer.will("files.getUploadURLExternal", said(place))
    peer.will("put", never_answered)
    with pytest.raises(SendFailed) as failed:
        short.upload(channel="C1", thread_ts="1.0", file=LOG)

    assert (failed.value.code, failed.value.uncertain) == ("timeout", False)
    assert peer.calls("files.completeUploadExternal") == []


def test_a_send_without_any_time_left_is_not_begun(peer: Peer) -> None:
    chat = SlackChat(token="xoxb-test", base_url=peer.url, clock=lambda: NOW, send_within=timedelta(0))
    with pytest.raises(SendFailed) as failed:
        chat.post(channel="C1", message=MESSAGE)
    chat.close()

    assert (failed.value.code, failed.value.permanent, failed.value.uncertain) == ("deadline", False, False)
    assert peer.connections == 0


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port whose queue is full, so that connecting to it hangs."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        waiting = []
        for _ in range(3):
            waiter = socket.socket()
            waiter.setblocking(False)
            waiter.connect_ex(listener.getsockname())
            waiting.append(waiter)
        yield listener.getsockname()[1]
        for waiter in waiting:
            waiter.close()


def test_connecting_to_many_silent_addresses_takes_one_timeout_together(silent_port: int) -> None:
    backend = DeadlineBackend(Deadline(), look=lambda *_: ("127.0.0.1", "127.1", "127.0.1"))
    begun = time.monotonic()
    with pytest.raises(httpcore.ConnectTimeout):
        backend.connect_tcp("slack.test", silent_port, timeout=0.2)

    assert 0.15 < time.monotonic() - begun < 0.4


def test_an_address_that_refuses_leaves_the_next_one_to_try(peer: Peer) -> None:
    backend = DeadlineBackend(Deadline(), look=lambda *_: ("127.0.0.2", "127.0.0.1"))

    backend.connect_tcp("slack.test", peer.server_port, timeout=5.0).close()


def test_a_silent_address_leaves_time_for_the_next_one(silent_port: int) -> None:
    backend = DeadlineBackend(Deadline(), look=lambda *_: ("127.0.0.1", "127.0.0.2"))
    with socket.create_server(("127.0.0.2", silent_port)):
        backend.connect_tcp("slack.test", silent_port, timeout=0.4).close()


def test_a_name_that_leads_nowhere_is_a_failure_to_connect() -> None:
    with pytest.raises(httpcore.ConnectError):
        addresses_of("x" * 64, 443)


def test_every_failure_of_the_connection_has_its_word_in_httpx() -> None:
    kinds = [kind for kind in vars(httpcore).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    leaves = {kind for kind in kinds if not any(other is not kind and issubclass(other, kind) for other in kinds)}

    assert leaves - {httpcore.ConnectionNotAvailable} == set(AS_HTTPX)


class SlowNames:
    """A resolver of the system that does not answer until it is let; counts who asked."""

    def __init__(self) -> None:
        self.answers = Event()
        self.asked: list[str] = []

    def __call__(self, host: str, port: int) -> tuple[str, ...]:
        self.asked.append(host)
        self.answers.wait(10)
        return ("127.0.0.1",)


def test_a_look_up_that_hangs_is_not_waited_for_longer_than_the_connection_may_take(peer: Peer) -> None:
    names = SlowNames()
    backend = DeadlineBackend(Deadline(), look=names)
    begun = time.monotonic()
    with pytest.raises(httpcore.ConnectTimeout):
        backend.connect_tcp("slack.test", peer.server_port, timeout=0.2)
    took = time.monotonic() - begun
    names.answers.set()

    assert 0.15 < took < 1
    backend.connect_tcp("slack.test", peer.server_port, timeout=5.0).close()


def test_a_look_up_that_hangs_is_inside_the_deadline_of_the_send(peer: Peer) -> None:
    names = SlowNames()
    deadline = Deadline()
    backend = DeadlineBackend(deadline, look=names)
    begun = time.monotonic()
    with deadline.within(timedelta(seconds=0.2)), pytest.raises(httpcore.ConnectTimeout):
        backend.connect_tcp("slack.test", peer.server_port, timeout=5.0)
    names.answers.set()

    assert time.monotonic() - begun < 1


def test_all_who_want_a_host_whose_look_up_hangs_wait_for_one_thread() -> None:
    names = SlowNames()
    resolver = Resolver(names)
    for _ in range(20):
        with pytest.raises(httpcore.ConnectTimeout):
            resolver.addresses("slack.test", 443, within=0.01)
    names.answers.set()

    assert names.asked == ["slack.test"]
    assert resolver.addresses("slack.test", 443, within=5) == ("127.0.0.1",)


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_an_address_is_not_looked_up(address: str) -> None:
    names = SlowNames()

    assert Resolver(names).addresses(address, 443, within=0) == (address,)
    assert names.asked == []
