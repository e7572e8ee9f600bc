"""A stand-in workspace on loopback with a clock that stands still, and an app that takes its callbacks."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from slack_sdk import WebClient
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.sandbox.slack.app import build_app
from bot.sandbox.slack.client import Workspace
from bot.sandbox.slack.server import Server, serve

SECRET = "shared-with-the-app"
TOKEN = "xoxb-sandbox"


@dataclass(slots=True)
class Clock:
    now: datetime = datetime(2026, 11, 30, 6, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, wait: timedelta) -> None:
        self.now += wait


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One request as the app got it."""

    headers: dict[str, str]
    body: bytes


def accepting(received: Received) -> Response:
    return Response()


@dataclass(slots=True)
class App:
    """Takes what the workspace sends, and answers what the test says."""

    received: list[Received] = field(default_factory=list)
    answer: Callable[[Received], Response] = accepting

    async def on_events(self, request: Request) -> Response:
        got = Received(headers=dict(request.headers), body=await request.body())
        self.received.append(got)
        return self.answer(got)


@dataclass(slots=True)
class Sandbox:
    """Everything a test speaks to."""

    server: Server
    people: Workspace
    web: WebClient
    app: App
    clock: Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def callback_door() -> Iterator[tuple[App, str]]:
    """One app for all tests of the sandbox: starting a server is most of what they cost."""
    told = App()
    server = serve(Starlette(routes=[Route("/slack/events", told.on_events, methods=["POST"])]))
    yield told, f"{server.url}/slack/events"
    server.stop()


@pytest.fixture
def app(callback_door: tuple[App, str]) -> tuple[App, str]:
    told, _ = callback_door
    told.received, told.answer = [], accepting
    return callback_door


@pytest.fixture
def sandbox(app: tuple[App, str], clock: Clock, tmp_path: Path) -> Iterator[Sandbox]:
    told, address = app
    server = serve(build_app(callback=address, signing_secret=SECRET, clock=clock, journal=tmp_path / "journal.jsonl"))
    web = WebClient(token=TOKEN, base_url=f"{server.url}/api/", retry_handlers=[], timeout=5)
    with Workspace(server.url) as people:
        yield Sandbox(server=server, people=people, web=web, app=told, clock=clock)
    server.stop()
