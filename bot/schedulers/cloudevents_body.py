"""Takes the body of a CloudEvents request apart into single events, still undecoded; it knows content types and no more.

It must not look into an event: what is wrong inside one is that event's own trouble.
"""

import re

import msgspec
from msgspec import Raw

SINGLE = "application/cloudevents+json"
BATCH = "application/cloudevents-batch+json"
PLAIN = "application/json"
TOO_DEEP = "nested too deeply"
MOST_EVENTS = 20_000

_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
_ESCAPE = re.compile(
    rb"\\(?:(u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{},]', re.DOTALL)


class Unreadable(Exception):
    """The body is not JSON in UTF-8; the message says where."""


class UnknownContent(Exception):
    """The body is of a content type that this door does not take."""


class NotEvents(Exception):
    """The body is JSON, but neither an event nor a list of events."""


def events_of(body: bytes, content_type: str) -> list[bytes | Raw]:
    """The JSON text of each event of `body`, in its order."""
    media = _media_type(content_type)
    try:
        body.decode("utf-8")
        body = _mended(body)
        first = body.lstrip(b" \t\r\n")[:1]
        if first == b"[" and media != SINGLE:
            return _items(body)
        if first == b"{" and media != BATCH:
            return [_whole(body)]
        msgspec.json.decode(body, type=Raw)
    except UnicodeDecodeError as error:
        raise Unreadable(f"not UTF-8 at byte {error.start}") from error
    except msgspec.DecodeError as error:
        raise Unreadable(str(error)) from error
    except RecursionError as error:
        raise NotEvents(TOO_DEEP) from error
    raise NotEvents(f"expected {'a list of events' if media == BATCH else 'an event'} for this content type")


def _media_type(content_type: str) -> str:
    media, *parameters = (part.strip().lower() for part in content_type.split(";"))
    if media not in (SINGLE, BATCH, PLAIN):
        raise UnknownContent(media[:100] or "no content type")
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "charset" and value.strip(' "') not in ("utf-8", "utf8"):
            raise UnknownContent(f"charset {value[:40]}")
    return media


def _whole(body: bytes) -> bytes | Raw:
    try:
        return msgspec.json.decode(body, type=Raw)
    except RecursionError:
        return body


def _mended(body: bytes) -> bytes:
    """The body without halves of characters, as a trace of undecodable bytes holds them: no JSON reader takes those."""
    if _HALF.search(body) is None:
        return body
    return _ESCAPE.sub(lambda found: rb"\ufffd" if found[2] else found[0], body)


def _items(body: bytes) -> list[bytes | Raw]:
    items: list[bytes | Raw]
    try:
        items = [*msgspec.json.decode(body, type=list[Raw])]
    except RecursionError:
        items = [*_cut_apart(body)]
    if len(items) > MOST_EVENTS:
        raise NotEvents(f"expected at most {MOST_EVENTS} events at once, got {len(items)}")
    return items


def _cut_apart(body: bytes) -> list[bytes]:
    """The items of a list in which one is nested so deeply that the decoder gives up on the whole."""
    items: list[bytes] = []
    depth = start = 0
    for token in _TOKEN.finditer(body):
        sign = token[0]
        if sign in (b"[", b"{"):
            depth += 1
            start = token.end() if depth == 1 else start
        elif sign in (b"]", b"}"):
            depth -= 1
        if depth == 0 or (sign == b"," and depth == 1):
            items.append(body[start : token.start()].strip())
            start = token.end()
        if depth == 0:
            break
    if depth != 0 or body[start:].strip():
        raise Unreadable("the list of events is not closed where it should be")
    return items
