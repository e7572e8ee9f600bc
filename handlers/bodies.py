"""Reads a body's bytes, bounded in size and time, and unpacks gzip under the same bound. It must not parse them."""

import zlib
from datetime import timedelta

import anyio
from starlette.requests import Request

from handlers.gate import Hold
from handlers.wire import Refused, too_large

GZIP_WINDOW = 31


async def read_capped(request: Request, *, cap: int, within: timedelta, hold: Hold) -> bytes:
    """The raw body; raises `Refused` as soon as it is too large or too slow."""
    declared = request.headers.get("content-length")
    if declared is not None:
        if not (declared.isascii() and declared.isdigit()):
            raise _bad_length()
        if len(declared) > 12 or int(declared) > cap:
            raise too_large(cap)
    chunks: list[bytes] = []
    size = 0
    try:
        with anyio.fail_after(within.total_seconds()):
            async for chunk in request.stream():
                size += len(chunk)
                if size > cap:
                    raise too_large(cap)
                hold.add(len(chunk))
                chunks.append(chunk)
    except TimeoutError:
        raise _too_slow(within) from None
    return b"".join(chunks)


def unpacked(body: bytes, *, encoding: str, cap: int, gzip: bool) -> bytes:
    """The body without its content encoding; raises `Refused` when it is broken or grows beyond `cap`."""
    named = encoding.strip().lower()
    if named in ("", "identity"):
        return body
    if not gzip or named not in ("gzip", "x-gzip"):
        raise Refused(
            415,
            reason="encoding",
            field="Content-Encoding",
            message=f"{named[:40]} is not taken here",
            fix="send the body as it is, or with gzip" if gzip else "send the body as it is",
        )
    return _gunzipped(body, cap)


def _gunzipped(body: bytes, cap: int) -> bytes:
    parts: list[bytes] = []
    left = cap + 1
    while body:
        member = zlib.decompressobj(GZIP_WINDOW)
        try:
            part = member.decompress(body, left)
        except zlib.error as error:
            raise _broken_gzip("the body is not gzip") from error
        left -= len(part)
        if left <= 0:
            raise too_large(cap)
        if not member.eof:
            raise _broken_gzip("the gzip body is cut short")
        parts.append(part)
        body = member.unused_data
    return b"".join(parts)


def _broken_gzip(message: str) -> Refused:
    return Refused(400, reason="gzip", field="body", message=message, fix="pack the body again with gzip")


def _bad_length() -> Refused:
    return Refused(
        400, reason="length", field="Content-Length", message="expected a number", fix="send the body's length in bytes"
    )


def _too_slow(within: timedelta) -> Refused:
    return Refused(
        408,
        reason="slow",
        field="body",
        message=f"the body did not arrive within {within.total_seconds():g} s",
        fix="send it again on a new connection",
        headers={"Connection": "close"},
    )
