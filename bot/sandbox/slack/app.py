"""Puts the stand-in together as one ASGI app; it must hold no behaviour of its own."""

import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from bot.sandbox.slack.acts import People
from bot.sandbox.slack.callbacks import Callbacks
from bot.sandbox.slack.control import Control
from bot.sandbox.slack.faults import Faults
from bot.sandbox.slack.journal import Journal
from bot.sandbox.slack.webapi import WebApi
from bot.sandbox.slack.wire import Json
from bot.sandbox.slack.workspace import Workspace, plain_seed

PAGE = Path(__file__).with_name("page")
POLICY = "default-src 'self'; img-src 'self' data: https:; connect-src *; frame-ancestors 'none'"


def build_app(
    *,
    callback: str,
    signing_secret: str,
    clock: Callable[[], datetime],
    seed: Json | None = None,
    journal: Path | None = None,
    beside: Sequence[BaseRoute] = (),
) -> Starlette:
    """The workspace as an app; `callback` is where the product takes Slack's requests.

    `beside`: addresses of other stand-ins that the page draws.
    """
    kept = Journal(journal)
    workspace = Workspace(seed=seed or plain_seed(), clock=clock, journal=kept)
    callbacks = Callbacks(url=callback, secret=signing_secret, clock=clock)
    faults = Faults()
    control = Control(workspace, People(workspace=workspace, callbacks=callbacks), faults, callbacks.sockets)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        callbacks.client.close()
        callbacks.sockets.close()
        kept.close()

    routes = [
        *WebApi(workspace, faults, callbacks.sockets).routes(),
        *control.routes(),
        *beside,
        Route("/", on_page),
        Route("/archives/{channel}/{message}", on_page),
        Mount("/page", StaticFiles(directory=PAGE)),
    ]
    app = Starlette(routes=routes, lifespan=lifespan)
    app.state.workspace = workspace
    return app


async def on_page(request: Request) -> Response:
    return FileResponse(PAGE / "index.html", headers={"content-security-policy": POLICY})
