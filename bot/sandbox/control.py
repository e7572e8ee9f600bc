"""Lets the workspace's page act on the sample jobs' world: one address for each sample action. It holds no behaviour."""

import logging
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.sandbox.world import SampleAction

log = logging.getLogger(__name__)
OUR_HOSTS = ("127.0.0.1", "localhost")


def control_app(actions: Sequence[SampleAction]) -> Starlette:
    """An app that performs an action when it is posted to; a page from elsewhere is refused."""
    return Starlette(routes=[Route(path_of(one), _endpoint(one.act), methods=["POST"]) for one in actions])


def path_of(action: SampleAction) -> str:
    return f"/actions/{action.name}"


def _endpoint(act: Callable[[], None]) -> Callable[[Request], object]:
    async def on_action(request: Request) -> Response:
        origin = request.headers.get("origin")
        if origin is not None and urlsplit(origin).hostname not in OUR_HOSTS:
            return JSONResponse({"ok": False, "error": "only the sandbox's own page may act here"}, status_code=403)
        try:
            await run_in_threadpool(act)
        except OSError as failed:
            log.warning("sample action failed", extra={"error": str(failed)})
            return JSONResponse({"ok": False, "error": str(failed)}, status_code=500)
        return JSONResponse({"ok": True})

    return on_action
