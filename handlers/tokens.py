"""Source tokens: which scheduler a `Bearer` token speaks for, told in the same time for right and wrong ones."""

import hmac
from collections.abc import Sequence
from hashlib import sha256

from handlers.wire import Call, Refused


class SourceTokens:
    """Pairs of scheduler and token; a scheduler may have several, for rotation. The tokens themselves are not kept."""

    def __init__(self, pairs: Sequence[tuple[str, str]]) -> None:
        self._digests = tuple((scheduler, _digest(token)) for scheduler, token in pairs)

    def scheduler_of(self, call: Call) -> str:
        """The scheduler that the call's token names; raises `Refused` with 401."""
        kind, _, token = call.headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer" or not token.strip():
            raise _unauthorised("expected a Bearer token")
        given = _digest(token.strip())
        found = [scheduler for scheduler, known in self._digests if hmac.compare_digest(known, given)]
        if not found:
            raise _unauthorised("this token is not known")
        return found[0]

    def admit(self, call: Call) -> None:
        self.scheduler_of(call)


def _digest(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogateescape")).digest()


def _unauthorised(message: str) -> Refused:
    return Refused(
        401,
        reason="token",
        field="Authorization",
        message=message,
        fix="send `Authorization: Bearer <token>` with a token of SOURCE_TOKENS",
        headers={"WWW-Authenticate": "Bearer"},
    )
