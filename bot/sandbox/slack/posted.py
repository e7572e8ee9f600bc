"""Takes what the page and the clients post to a stand-in: a JSON object of one shape. It carries nothing out by itself."""

from collections.abc import Callable

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from bot.sandbox.slack.rules import Check, Surface, Walk
from bot.sandbox.slack.webapi import body_of
from bot.sandbox.slack.wire import Json, Refusal, refused

Act = Callable[[Json], Json]


def posted(act: Act, shape: Check) -> Callable[[Request], object]:
    """An endpoint that takes a JSON object of this shape; what a browser could send across origins is refused."""

    async def endpoint(request: Request) -> Response:
        if request.headers.get("content-type", "").partition(";")[0] != "application/json":
            return JSONResponse({"ok": False, "error": "invalid_post_type"}, status_code=415)
        try:
            wish = msgspec.json.decode(await body_of(request) or b"{}")
            walk = Walk(surface=Surface.MESSAGE)
            shape(wish, walk, "")
            if walk.problems:
                raise refused("invalid_arguments", walk.problems)
            return JSONResponse(await run_in_threadpool(act, wish))
        except msgspec.DecodeError:
            return JSONResponse({"ok": False, "error": "invalid_json"}, status_code=400)
        except Refusal as refusal:
            return JSONResponse(refusal.body(), status_code=400)

    return endpoint
