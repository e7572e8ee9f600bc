"""A Slack that only takes: answers every call at once and notes when each post came. A process of its own."""

import json
import sys
import time

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

SEEN: list[tuple[str, str, float]] = []
CALLS: dict[str, list[float]] = {}
ASKS: list[float] = []
MEMBER = {"id": "U0001", "name": "ana", "profile": {"real_name": "Ana"}}


async def call(request: Request) -> Response:
    """Any Web API method."""
    at = time.monotonic()
    body = await request.body()
    method = request.path_params["method"]
    CALLS.setdefault(method, []).append(at)
    if method == "chat.postMessage" and (b"<!subteam^" in body or b'"usergroup"' in body):
        ASKS.append(at)
    if method == "chat.postMessage":
        said = json.loads(body)
        SEEN.append((said["channel"], "root" if "thread_ts" not in said else "reply", at))
    ts = f"{len(SEEN)}.{int(at * 1e6) % 1_000_000:06}"
    identity = {"user_id": "UBOT", "bot_id": "BBOT", "team_id": "T1", "team": "bench", "url": "http://127.0.0.1/"}
    file = {"upload_url": str(request.url_for("call", method="upload")), "file_id": f"F{len(SEEN)}"}
    return JSONResponse(
        {
            "ok": True,
            "ts": ts,
            "channel": "C",
            "users": ["U0001"],
            "user": MEMBER,
            **identity,
            **file,
            "files": [{"id": file["file_id"]}],
        }
    )


async def seen(request: Request) -> Response:
    """When each post came, on the clock that all processes of this machine share; asking empties it."""
    del request
    rows = list(SEEN)
    SEEN.clear()
    return JSONResponse(rows)


async def counts(request: Request) -> Response:
    """How often each method was called, and when posts and updates came; an ask is a post that calls a group."""
    del request
    posts, updates = CALLS.get("chat.postMessage", []), CALLS.get("chat.update", [])
    calls = {method: len(instants) for method, instants in CALLS.items()}
    first = posts[0] if posts else 0.0
    return JSONResponse({"calls": calls, "first_post_at": first, "posts": posts, "updates": updates, "asks": len(ASKS)})


app = Starlette(
    routes=[Route("/api/{method}", call, methods=["GET", "POST"]), Route("/seen", seen), Route("/counts", counts)]
)

if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error", access_log=False)
