"""Who asks for a page: by a login that a trusted proxy vouches for, or by the name of a link. It must not show anything.

A header of a login counts only when the connection itself comes from a trusted proxy; else it is as if it were not there.
"""

from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from math import ceil
from urllib.parse import urlsplit

from bot.incidents.people import Person
from handlers.pages.desk import PagesDesk
from handlers.wire import Call, Refused

HOW_TO_GET_IN = (
    'open the record from its message in Slack, by the button "Open record" under More, or from a mail of ontrack'
)
HOW_TO_LOG_IN = "come by the address at which your company's login stands before ontrack (PAGES_USER_HEADER)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Who reads: a person, or (`person` None) whoever holds a link, whose name is `key`."""

    person: Person | None = None
    key: str = ""


def reader_of_record(desk: PagesDesk, call: Call, record: str, key: str | None) -> Reader:
    """Who may read this record. Raises `Refused`, for a record that is there as for one that is not."""
    person = logged_in(desk, call)
    if person is not None:
        return Reader(person=person)
    if key:
        if desk.signer.may_read(key, f"/i/{record}", now=desk.clock()):
            return Reader(key=key)
        count_guess(desk, call)
        raise _refused(403, "link", "this link is not whole, not of this record, or older than 30 days", HOW_TO_GET_IN)
    raise _nobody(desk, call, fix=HOW_TO_GET_IN)


def person_of(desk: PagesDesk, call: Call) -> Person:
    """Who is logged in. Raises `Refused`."""
    person = logged_in(desk, call)
    if person is None:
        raise _nobody(desk, call, fix=HOW_TO_LOG_IN)
    return person


def logged_in(desk: PagesDesk, call: Call) -> Person | None:
    """The person that a trusted proxy vouches for; None when none does, or nobody of ours is meant."""
    login = _login(desk, call)
    return desk.person_of(login) if login else None


def count_guess(desk: PagesDesk, call: Call) -> None:
    """A name that is none of ours was tried. Raises `Refused` with 429 when that happens too often."""
    if (wait := desk.guesses.take(call.peer or "", desk.clock())) is not None:
        raise too_many(wait.total_seconds())


def count_post(desk: PagesDesk, call: Call, who: str) -> None:
    """Something is to be done. Raises `Refused` with 429 when that happens too often; `who`: whose limit it is."""
    key = who if _is_proxy(desk, call.peer) else f"{call.peer} {who}"
    if (wait := desk.posts.take(key, desk.clock())) is not None:
        raise too_many(wait.total_seconds())


def check_origin(desk: PagesDesk, call: Call) -> None:
    """A form of ours is sent from a page of ours. Raises `Refused` where the browser says otherwise.

    `Origin: null` is what a browser sends from a page without referrer, as ours are; then the form's own seal must do.
    """
    site = call.headers.get("sec-fetch-site")
    origin = call.headers.get("origin", "null")
    if site not in (None, "same-origin") or (origin != "null" and not _is_ours(desk, call, origin)):
        raise _refused(
            403, "origin", "this was sent from another page than one of ours", "open the page and decide there"
        )


def too_many(seconds: float) -> Refused:
    return Refused(
        429,
        reason="too_many",
        field="request",
        message="that was more than one caller may ask for in so short a time",
        fix=f"wait {max(1, ceil(seconds))} s and try again",
        headers={"Retry-After": str(max(1, ceil(seconds)))},
    )


def _is_ours(desk: PagesDesk, call: Call, origin: str) -> bool:
    try:
        there = urlsplit(origin)
    except ValueError:
        return False
    ours = {call.headers.get("host", "").lower(), urlsplit(desk.public_url or "").netloc.lower()}
    return there.scheme in ("http", "https") and bool(there.netloc) and there.netloc.lower() in ours


def _login(desk: PagesDesk, call: Call) -> str:
    if desk.user_header is None or not _is_proxy(desk, call.peer):
        return ""
    return call.headers.get(desk.user_header, "").strip()


def _is_proxy(desk: PagesDesk, peer: str | None) -> bool:
    try:
        address = ip_address(peer or "")
    except ValueError:
        return False
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return any(address in network for network in desk.proxies)


def _nobody(desk: PagesDesk, call: Call, *, fix: str) -> Refused:
    if _login(desk, call):
        message = "your login belongs to nobody in the workspace whom ontrack knows, and policies.yaml does not name it"
        return _refused(403, "stranger", message, "ask who runs ontrack to add you, or " + HOW_TO_GET_IN)
    return _refused(401, "nobody", "these pages are for the people of the company only", fix)


def _refused(status: int, reason: str, message: str, fix: str) -> Refused:
    headers = {"WWW-Authenticate": 'Link realm="ontrack"'} if status == 401 else {}
    return Refused(status, reason=reason, field="access", message=message, fix=fix, headers=headers)
