"""Sees that a request is Slack's: a fresh timestamp, and the signature over the raw bytes. It must not parse the body.

A request that is sent again inside the window passes; what it asks for is done once, through its idempotency key.
"""

import hmac
from collections.abc import Sequence
from datetime import timedelta
from hashlib import sha256

from bot.ports import Clock
from handlers.wire import Call, Refused

TIMESTAMP = "x-slack-request-timestamp"
SIGNATURE = "x-slack-signature"
WINDOW = timedelta(seconds=300)
LONGEST_TIMESTAMP = 12


class Verifier:
    """Knows the signing secrets: one, or two while they are being rotated."""

    def __init__(self, *, secrets: Sequence[str], clock: Clock, window: timedelta = WINDOW) -> None:
        if not secrets or not all(secrets):
            raise ValueError("a signing secret is needed, and none may be empty")
        self._secrets = tuple(secret.encode() for secret in secrets)
        self._clock = clock
        self._window = window

    def admit(self, call: Call) -> None:
        """Raises `Refused` with 401 unless Slack signed this very body just now."""
        timestamp = call.headers.get(TIMESTAMP, "")
        if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= LONGEST_TIMESTAMP):
            raise _refused(TIMESTAMP, "expected seconds since the epoch, in digits")
        if abs(self._clock().timestamp() - int(timestamp)) > self._window.total_seconds():
            raise _refused(TIMESTAMP, f"more than {self._window.total_seconds():g} s away from now")
        signature = call.headers.get(SIGNATURE, "")
        if not signature.isascii():
            raise _refused(SIGNATURE, "expected ASCII")
        given = signature.encode()
        signed = b"v0:" + timestamp.encode() + b":" + call.body
        if not any(hmac.compare_digest(_signature(secret, signed), given) for secret in self._secrets):
            raise _refused(SIGNATURE, "this is not the signature of this body")


def _signature(secret: bytes, signed: bytes) -> bytes:
    return b"v0=" + hmac.new(secret, signed, sha256).hexdigest().encode()


def _refused(header: str, message: str) -> Refused:
    fix = "requests must come from Slack, signed with SLACK_SIGNING_SECRET; see that both clocks are right"
    return Refused(401, reason="signature", field=header, message=message, fix=fix)
