"""Socket Mode: the same clicks, forms and commands, by a connection that is opened again whenever it is gone."""

import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from threading import Event

import pytest

from bot.incidents.model import Status
from tests.world.fixtures import Build
from tests.world.people import LOST_COLUMN
from tests.world.seen import buttons
from tests.world.world import World

PATIENCE = 30.0


@pytest.fixture
def world(build_world: Build) -> Iterator[World]:
    made = build_world(env={"SLACK_APP_TOKEN": "xapp-sandbox", "SLACK_SIGNING_SECRET": ""})
    watches(made)
    made.types("olga", "/job-health")  # what came with the connection has been read: nothing of it is heard later
    yield made
    made.stage.slack.heal()
    made.close()
    eventually(lambda: made.stage.slack.sockets()["open"] == 0)


def watches(world: World) -> None:
    world.service.steps["sockets"](world.now)


def eventually(look: Callable[[], bool]) -> None:
    """The other side is a thread of its own; what it does is soon seen."""
    until = time.monotonic() + PATIENCE
    while not look():
        assert time.monotonic() < until, "not seen in time"
        Event().wait(0.02)


def opened(world: World) -> int:
    return int(world.stage.slack.sockets()["opened"])


def test_a_click_a_form_and_a_command_come_by_the_connection(world: World) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    assert world.clicks("sam", "Rerun", "orders").text != ""
    assert world.clicks("ana", "Acknowledge", "orders").status == 200
    assert "On it: ana" in world.text_of(world.root("orders"))

    world.clicks("ana", "Fixed", "orders")
    told = world.submits("ana", what="mended the view", link="not a link")
    assert "link" in told.errors
    world.submits("ana", what="mended the view", link="")
    assert world.incident("orders").fix is not None
    assert "1 open now" in world.types("olga", "/job-health")
    world.stage.slack.open_home(user="U0ANA")
    assert world.stage.slack.home_of("U0ANA") is not None


def test_there_is_no_door_over_http_without_a_signing_secret(world: World) -> None:
    assert world._http.post("/slack/events", content=b"payload=%7B%7D").status_code == 404


def test_a_request_that_comes_twice_is_done_once(world: World) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.clicks("ana", "Acknowledge", "orders", tamper="repeat")

    assert [row.kind for row in world.timeline("orders")].count("acknowledged") == 1


@pytest.mark.parametrize("act", ["drop", "refresh"])
def test_a_connection_that_is_cut_or_ends_politely_is_followed_by_another(world: World, act: str) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    before = opened(world)
    world.stage.slack.sockets(act)

    def again() -> bool:
        watches(world)
        return opened(world) > before and world.ready().json()["checks"]["sockets"] == "ok"

    eventually(again)
    assert world.clicks("ana", "Acknowledge", "orders").status == 200


def test_a_connection_that_is_open_and_silent_is_left_for_another(world: World) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    before = opened(world)
    world.stage.slack.sockets("silence")
    watches(world)
    assert opened(world) == before

    world.clock.now = world.now.replace(minute=13)
    watches(world)
    assert opened(world) == before + 1
    assert world.clicks("ana", "Acknowledge", "orders").status == 200
    assert world.incident("orders").status is Status.OPEN


@pytest.mark.scenario(30)
def test_an_app_token_that_is_refused_turns_readiness_red_and_is_asked_for_more_and_more_rarely(world: World) -> None:
    world.stage.slack.inject("apps.connections.open", error="invalid_auth", count=None)
    world.stage.slack.sockets("drop")
    eventually(lambda: world.stage.slack.sockets()["open"] == 0)
    before, at = len(world.stage.slack.calls(method="apps.connections.open")), world.now
    for _ in range(600):
        world.clock.now += timedelta(seconds=1)
        if at <= world.now:
            at = world.service.steps["sockets"](world.now) or world.now

    calls = world.stage.slack.calls(method="apps.connections.open")[before:]
    assert 5 <= len(calls) <= 20
    assert "not connected: invalid_auth" in world.ready().json()["checks"]["sockets"]

    world.stage.slack.heal()
    world.clock.now = max(at, world.now) + timedelta(minutes=1)
    watches(world)
    assert world.ready().json()["checks"]["sockets"] == "ok"
    world.fails("orders", log=LOST_COLUMN)
    assert "Acknowledge" in buttons(world.root("orders"))
