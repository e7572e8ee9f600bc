"""The answers of the page door: HTML under a strict policy, redirects within the site, refusals as pages."""

from collections.abc import Callable, Mapping
from http import HTTPStatus

from bot.render.pages import NoticePage, notice_html
from handlers.pages.desk import PagesDesk
from handlers.wire import Answer, Refused

HTML = "text/html; charset=utf-8"
POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Robots-Tag": "noindex, nofollow",
}
_TITLES = {
    400: "That is not a request that this page knows",
    401: "Please come in by a link or a login",
    403: "You may not see this page",
    404: "There is nothing here",
    405: "That cannot be done here",
    413: "That was too much at once",
    429: "Too many requests",
    503: "Nothing was done: ontrack cannot answer just now",
}


def page(desk: PagesDesk, html: str, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """The page, never to be kept by a browser or a proxy."""
    return Answer(
        status=status, body=html.encode(), content_type=HTML, headers={**safe_headers(desk), **(headers or {})}
    )


def safe_headers(desk: PagesDesk) -> dict[str, str]:
    hsts = {"Strict-Transport-Security": "max-age=31536000"} if desk.secure else {}
    return _HEADERS | hsts


def see_other(desk: PagesDesk, path: str) -> Answer:
    """Go on there by GET; `path` is one of our own."""
    location = f"{desk.base}{path}"
    return Answer(status=303, content_type=HTML, headers={**safe_headers(desk), "Location": location})


def notice(desk: PagesDesk, said: NoticePage, *, status: int = 200) -> Answer:
    return page(desk, notice_html(said, desk.frame()), status=status)


def refusing(desk: PagesDesk) -> Callable[[Refused], Answer]:
    """Words a refusal as a page."""

    def refuse(refused: Refused) -> Answer:
        title = _TITLES.get(refused.status) or HTTPStatus(refused.status).phrase
        lines = (_sentence(refused.message), _sentence(refused.fix))
        said = NoticePage(title=title, lines=lines)
        return page(desk, notice_html(said, desk.frame()), status=refused.status, headers=refused.headers)

    return refuse


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}".rstrip(".") + "."
