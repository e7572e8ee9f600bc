"""What passes between the HTTP edge and a door: a call that was read, and the answer or the refusal.

It must not know sockets, Slack or events.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request whose body was read: header names in lower case, the body as it came over the wire.

    A header that came more than once holds all its values, with commas between them. `params` are the parts of the path
    that the door's own path names, `query` is the raw query, `peer` the address that the connection comes from.
    """

    headers: Mapping[str, str]
    body: bytes = b""
    method: str = "POST"
    path: str = ""
    params: Mapping[str, str] = field(default_factory=dict)
    query: str = ""
    peer: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What is sent back."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)


def json_answer(value: Any, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    return Answer(status=status, body=msgspec.json.encode(value), headers=headers or {})


class Refused(Exception):
    """A request that is turned away: the field that is wrong, what is wrong, and how to mend it.

    `reason` is the short word under which it is counted.
    """

    def __init__(
        self,
        status: int,
        *,
        reason: str,
        field: str,
        message: str,
        fix: str,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.field = field
        self.message = message
        self.fix = fix
        self.headers = headers or {}

    def answer(self) -> Answer:
        error = {"field": self.field, "message": self.message, "fix": self.fix}
        return json_answer({"error": error}, status=self.status, headers=self.headers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """One way in. `admit` checks who calls, on the event loop, and raises `Refused`; `handle` runs in a worker thread.

    `cap` bounds the body, both as sent and unpacked; `gzip`: packed bodies are taken. Whoever takes GET takes HEAD.
    `path` may name parts of it, as in `/i/{name}`; `refuse` words what is turned away.
    """

    name: str
    path: str
    cap: int
    admit: Callable[[Call], None]
    handle: Callable[[Call], Answer]
    gzip: bool = False
    methods: tuple[str, ...] = ("POST",)
    refuse: Callable[[Refused], Answer] = Refused.answer


def too_large(cap: int) -> Refused:
    return Refused(
        413,
        reason="too_large",
        field="body",
        message=f"the body is larger than {cap} bytes",
        fix="send fewer events at once, or a shorter log",
        headers={"Connection": "close"},
    )


def overloaded(retry_after: int = 1) -> Refused:
    return Refused(
        503,
        reason="overloaded",
        field="request",
        message="too many requests at once",
        fix="send it again after Retry-After seconds",
        headers={"Retry-After": str(retry_after)},
    )


def nothing_stored(retry_after: int = 5) -> Refused:
    return Refused(
        503,
        reason="storage_down",
        field="request",
        message="nothing was stored: the database cannot be reached",
        fix="send it again after Retry-After seconds",
        headers={"Retry-After": str(retry_after)},
    )
