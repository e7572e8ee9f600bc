"""What is acknowledged over Socket Mode: what was taken in, and nothing that Slack should tell the person or send again."""

import gc
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from bot.sandbox.slack.sockets import Sockets
from bot.store import StorageDown
from handlers.meters import Meters
from handlers.slack.payloads import Payload, malformed
from handlers.slack.socket_mode import SocketDoor
from handlers.wire import Answer, json_answer
from tests.handlers.doubles import Clock
from tests.handlers.slack_side import click

EVENT = {
    "type": "event_callback",
    "team_id": "T1",
    "event": {"type": "app_home_opened", "user": "U0ANA", "tab": "home"},
}
TOKEN = "xapp-sandbox"

Told = Callable[[Payload], Answer]


def taken(_: Payload) -> Answer:
    return Answer(content_type="text/plain")


def errors(_: Payload) -> Answer:
    return json_answer({"response_action": "errors", "errors": {"what": "is missing"}})


def refused(_: Payload) -> Answer:
    raise malformed("actions", "expected one")


def down(_: Payload) -> Answer:
    raise StorageDown


def broken(_: Payload) -> Answer:
    raise ZeroDivisionError


@pytest.fixture
def sockets() -> Iterator[Sockets]:
    made = Sockets(patience=timedelta(seconds=0.5))
    yield made
    made.close()


def connected(sockets: Sockets, clock: Clock, meters: Meters, dispatch: Told) -> SocketDoor:
    door = SocketDoor(
        open_url=lambda: str(sockets.connections_open(TOKEN)["url"]), dispatch=dispatch, clock=clock, meters=meters
    )
    door.step(clock())
    return door


@pytest.mark.parametrize(
    ("kind", "payload", "dispatch", "answer"),
    [
        ("interactive", click("ack"), taken, {}),
        ("interactive", click("ack"), errors, {"response_action": "errors", "errors": {"what": "is missing"}}),
        ("interactive", click("ack"), refused, None),
        ("interactive", click("ack"), down, None),
        ("interactive", click("ack"), broken, None),
        ("interactive", {"type": "block_actions"}, taken, None),
        ("events_api", EVENT, taken, {}),
        ("events_api", EVENT, refused, {}),
        ("events_api", EVENT, down, None),
        ("slash_commands", {"command": "/job-health", "user_id": "U0ANA"}, taken, {}),
        ("surprises", {}, taken, None),
    ],
)
def test_only_what_needs_nothing_more_is_acknowledged(
    sockets: Sockets,
    clock: Clock,
    meters: Meters,
    kind: str,
    payload: dict[str, Any],
    dispatch: Told,
    answer: dict[str, Any] | None,
) -> None:
    door = connected(sockets, clock, meters, dispatch)

    assert door.trouble == ""
    assert sockets.deliver(kind, payload)[0] == answer
    door.close()


def test_requests_and_refusals_are_counted_as_those_over_http(sockets: Sockets, clock: Clock) -> None:
    registry = CollectorRegistry()
    door = connected(sockets, clock, Meters(registry), refused)
    sockets.deliver("interactive", click("ack"))
    door.close()

    figures = generate_latest(registry).decode()
    assert 'ontrack_refusals_total{door="slack",reason="malformed"} 1.0' in figures
    assert 'ontrack_requests_total{code="400",door="slack"} 1.0' in figures


def test_a_large_form_comes_whole(sockets: Sockets, clock: Clock, meters: Meters) -> None:
    seen: list[Payload] = []

    def remember(payload: Payload) -> Answer:
        seen.append(payload)
        return Answer(content_type="text/plain")

    door = connected(sockets, clock, meters, remember)
    for size in (10, 200, 70_000):
        assert sockets.deliver("interactive", click("ack", value="x" * size))[0] == {}
    door.close()

    assert [len(each.actions[0].value) for each in seen] == [10, 200, 70_000]  # type: ignore[union-attr, index, arg-type]


@pytest.mark.filterwarnings("ignore:.*unclosed.*:ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_address_is_good_for_one_connection(sockets: Sockets, clock: Clock, meters: Meters) -> None:
    url = sockets.connections_open(TOKEN)["url"]
    first, second = (
        SocketDoor(open_url=lambda: str(url), dispatch=taken, clock=clock, meters=meters) for _ in range(2)
    )
    first.step(clock())
    second.step(clock())
    gc.collect()  # the library leaves the refused connection to the collector

    assert (first.trouble, second.trouble) == ("", "not connected: the connection was refused")
    first.close()
    second.close()
