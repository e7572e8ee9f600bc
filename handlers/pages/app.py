"""The routes of the page door. It must not do anything but route."""

from collections.abc import Callable
from functools import partial

from bot.render.pages import ICON, STYLE, STYLE_HASH
from handlers.pages.answers import refusing, safe_headers
from handlers.pages.deciding import on_decision
from handlers.pages.desk import PagesDesk
from handlers.pages.health import on_csv, on_health, on_json, on_picture
from handlers.pages.links import on_link
from handlers.pages.reading import on_home, on_job, on_record, on_records, on_team
from handlers.pages.requests import query_of
from handlers.wire import Answer, Call, Door, Refused

NAME = "pages"
CAP = 64 * 1024
READ, WRITE = ("GET",), ("POST",)

Listener = Callable[[PagesDesk, Call], Answer]

_ROUTES: tuple[tuple[str, tuple[str, ...], Listener], ...] = (
    ("/", READ, on_home),
    ("/records", READ, on_records),
    ("/jobs/{scheduler}/{job:path}", READ, on_job),
    ("/teams/{team}", READ, on_team),
    ("/job-health", READ, on_health),
    ("/job-health.csv", READ, on_csv),
    ("/job-health.json", READ, on_json),
    ("/job-health.png", READ, on_picture),
    ("/i/{name}", READ, on_record),
    ("/i/{name}/{word}", WRITE, on_decision),
    ("/d/{name}/{word}", (*READ, *WRITE), on_link),
)


def pages_doors(desk: PagesDesk) -> tuple[Door, ...]:
    """The doors for browsers."""
    refuse = refusing(desk)
    doors = [
        Door(
            name=NAME,
            path=path,
            cap=CAP,
            admit=_anybody,
            handle=partial(listener, desk),
            methods=methods,
            refuse=refuse,
        )
        for path, methods, listener in _ROUTES
    ]
    return (*doors, _asset(desk, "ontrack.css", STYLE, "text/css"), _asset(desk, "ontrack.svg", ICON, "image/svg+xml"))


def lost_page(desk: PagesDesk) -> Callable[[Refused], Answer]:
    """What a browser is told that asks for what is not there."""
    return refusing(desk)


def _asset(desk: PagesDesk, name: str, body: bytes, kind: str) -> Door:
    """A file that stands beside the pages; under its hash it never changes."""

    def handle(call: Call) -> Answer:
        known = query_of(call).get("v") == STYLE_HASH
        keep = "public, max-age=31536000, immutable" if known else "no-cache"
        headers = {**safe_headers(desk), "Cache-Control": keep, "ETag": f'"{STYLE_HASH}"'}
        unchanged = call.headers.get("if-none-match") == headers["ETag"]
        return Answer(
            status=304 if unchanged else 200,
            body=b"" if unchanged else body,
            content_type=f"{kind}; charset=utf-8",
            headers=headers,
        )

    return Door(
        name=NAME,
        path=f"/assets/{name}",
        cap=0,
        admit=_anybody,
        handle=handle,
        methods=READ,
        refuse=refusing(desk),
    )


def _anybody(call: Call) -> None:
    """Who may see what is decided page by page."""
