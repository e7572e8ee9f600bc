"""Sends the workspace's signed requests to the app under test, rightly or tampered with; it must build no payload."""

import hashlib
import hmac
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from urllib.parse import urlencode

import httpx
import msgspec

from bot.sandbox.slack.sockets import Sockets
from bot.sandbox.slack.wire import Json

PATIENCE = timedelta(seconds=3)
STALE = timedelta(minutes=6)
FORM = "application/x-www-form-urlencoded"


class Tamper(StrEnum):
    NONE = "none"
    SIGNATURE = "signature"
    TIMESTAMP = "timestamp"
    REPEAT = "repeat"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the app answered; `status` is None when it did not within Slack's three seconds."""

    status: int | None
    body: str
    content_type: str
    elapsed_ms: int
    error: str | None = None

    def json(self) -> Json | None:
        """The body as an object, when it is one."""
        if not self.body.lstrip().startswith("{"):
            return None
        try:
            decoded = msgspec.json.decode(self.body)
        except msgspec.DecodeError:
            return None
        return decoded if isinstance(decoded, dict) else None


@dataclass(slots=True, kw_only=True)
class Callbacks:
    url: str
    secret: str
    clock: Callable[[], datetime]
    sockets: Sockets = field(default_factory=Sockets)
    client: httpx.Client = field(default_factory=lambda: httpx.Client(timeout=PATIENCE.total_seconds()))

    def form(self, fields: Json, *, tamper: Tamper = Tamper.NONE) -> Answer:
        """A slash command."""
        if self.sockets.open:
            return self._by_socket("slash_commands", fields, tamper)
        return self._send(urlencode(fields).encode(), FORM, tamper)

    def payload(self, payload: Json, *, tamper: Tamper = Tamper.NONE) -> Answer:
        """An interaction: one form field named payload."""
        if self.sockets.open:
            return self._by_socket("interactive", payload, tamper)
        return self._send(urlencode({"payload": msgspec.json.encode(payload).decode()}).encode(), FORM, tamper)

    def event(self, event: Json, *, tamper: Tamper = Tamper.NONE) -> Answer:
        if self.sockets.open:
            return self._by_socket("events_api", event, tamper)
        return self._send(msgspec.json.encode(event), "application/json", tamper)

    def _by_socket(self, kind: str, payload: Json, tamper: Tamper) -> Answer:
        """An app that has a connection gets everything by it, unsigned; only a repetition can be played there."""
        answer, waited = self.sockets.deliver(kind, payload)
        if tamper is Tamper.REPEAT:
            answer, waited = self.sockets.deliver(kind, payload, retry=1)
        if answer is None:
            return Answer(status=None, body="", content_type="", elapsed_ms=waited, error="timeout")
        body = msgspec.json.encode(answer).decode() if answer else ""
        return Answer(status=200, body=body, content_type="application/json", elapsed_ms=waited)

    def _send(self, body: bytes, content_type: str, tamper: Tamper) -> Answer:
        at = self.clock() - (STALE if tamper is Tamper.TIMESTAMP else timedelta())
        secret = self.secret if tamper is not Tamper.SIGNATURE else f"not {self.secret}"
        headers = {"content-type": content_type, **signature(body, at=at, secret=secret)}
        answer = self._post(body, headers)
        if tamper is Tamper.REPEAT:
            again = {"x-slack-retry-num": "1", "x-slack-retry-reason": "http_timeout"}
            answer = self._post(body, {**headers, **again})
        return answer

    def _post(self, body: bytes, headers: dict[str, str]) -> Answer:
        began = time.monotonic()
        try:
            got = self.client.post(self.url, content=body, headers=headers)
        except httpx.TimeoutException:
            return _silence(began, "timeout")
        except httpx.TransportError as broken:
            return _silence(began, f"unreachable: {broken}")
        return Answer(
            status=got.status_code,
            body=got.text,
            content_type=got.headers.get("content-type", ""),
            elapsed_ms=_since(began),
        )


def signature(body: bytes, *, at: datetime, secret: str) -> dict[str, str]:
    """Slack's v0 signature headers for these bytes."""
    stamp = str(int(at.timestamp()))
    digest = hmac.new(secret.encode(), b"v0:" + stamp.encode() + b":" + body, hashlib.sha256).hexdigest()
    return {"x-slack-request-timestamp": stamp, "x-slack-signature": f"v0={digest}"}


def _silence(began: float, error: str) -> Answer:
    return Answer(status=None, body="", content_type="", elapsed_ms=_since(began), error=error)


def _since(began: float) -> int:
    return int((time.monotonic() - began) * 1000)
