"""What a test run starts once: the stand-in workspace on loopback, and a door that leads to the world of the test.

It must not keep anything from one test to the next.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.sandbox.slack.app import build_app
from bot.sandbox.slack.client import Workspace
from bot.sandbox.slack.server import serve
from tests.world.clock import MONDAY_MIDNIGHT, Clock
from tests.world.people import SECRET, seed


@dataclass(slots=True)
class Door:
    """Served all the time; leads to the app of the world that is being played."""

    app: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.app is None:
            raise RuntimeError("no world is being played")
        await self.app({**scope, "root_path": ""}, receive, send)


@dataclass(slots=True, kw_only=True)
class Stage:
    """The stand-in (`slack` speaks to it, `slack_url` is its address) and the address of the product (`url`).

    `began_with`: the number of the last row in the stand-in's journal that is of an earlier test.
    """

    clock: Clock
    door: Door
    url: str
    slack_url: str
    slack: Workspace = field(repr=False)
    began_with: int = 0

    def reset(self) -> None:
        """The workspace as it was at first, and the clock as well."""
        self.clock.now = MONDAY_MIDNIGHT
        self.slack.reset()
        self.began_with = int(self.slack.state()["n"])
        self.door.app = None


@contextmanager
def opened_stage() -> Iterator[Stage]:
    """Serves both until the end of the block."""
    clock, door = Clock(), Door()
    product = serve(Starlette(routes=[Mount("/", app=door)]))
    stand_in = serve(build_app(callback=f"{product.url}/slack/events", signing_secret=SECRET, clock=clock, seed=seed()))
    with Workspace(stand_in.url) as slack:
        yield Stage(clock=clock, door=door, url=product.url, slack_url=stand_in.url, slack=slack)
    stand_in.stop()
    product.stop()
