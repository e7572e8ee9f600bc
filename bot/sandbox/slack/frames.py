"""The frames of a WebSocket (RFC 6455) as a server reads and writes them; it must not know what is said in them."""

import base64
import hashlib
import struct
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

MAGIC = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
LARGEST = 1024 * 1024
SHORT, MIDDLE = 126, 127

Read = Callable[[int], bytes]
"""Reads so many bytes, fewer only at the end."""


class Opcode(IntEnum):
    TEXT = 1
    CLOSE = 8
    PING = 9
    PONG = 10


class Broken(Exception):
    """The other side went away, or does not speak the protocol."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    opcode: int
    body: bytes


def accepted(key: str) -> bytes:
    """The answer to a client's handshake."""
    sign = base64.b64encode(hashlib.sha1((key + MAGIC).encode()).digest()).decode()
    lines = (
        "HTTP/1.1 101 Switching Protocols",
        "Upgrade: websocket",
        "Connection: Upgrade",
        f"Sec-WebSocket-Accept: {sign}",
    )
    return "\r\n".join((*lines, "", "")).encode()


def written(opcode: Opcode, body: bytes) -> bytes:
    """A whole message in one frame; a server does not mask."""
    first = 0x80 | opcode
    if len(body) < SHORT:
        return struct.pack("!BB", first, len(body)) + body
    if len(body) < 1 << 16:
        return struct.pack("!BBH", first, SHORT, len(body)) + body
    return struct.pack("!BBQ", first, MIDDLE, len(body)) + body


def read_from(read: Read) -> Frame:
    """The next frame of a client; raises `Broken`."""
    first, second = _exactly(read, 2)
    masked, length = bool(second & 0x80), second & 0x7F
    if length == SHORT:
        (length,) = struct.unpack("!H", _exactly(read, 2))
    elif length == MIDDLE:
        (length,) = struct.unpack("!Q", _exactly(read, 8))
    if not masked or not first & 0x80 or length > LARGEST:
        raise Broken("a client's frame is masked, whole and not too large")
    mask = _exactly(read, 4)
    body = bytes(byte ^ mask[index % 4] for index, byte in enumerate(_exactly(read, length)))
    return Frame(opcode=first & 0x0F, body=body)


def _exactly(read: Read, count: int) -> bytes:
    found = read(count)
    if len(found) < count:
        raise Broken("the other side went away")
    return found
