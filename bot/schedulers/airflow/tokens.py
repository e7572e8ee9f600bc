"""The token that Airflow is asked with: a given one, or one that a user and a password get and that is renewed in time.

It must not show a token or a password in any text.
"""

import base64
import binascii
import threading
from datetime import UTC, datetime, timedelta

import msgspec

from bot.policies.specs import AirflowSpec
from bot.ports import Clock
from bot.wire.exchange import JsonWire

EARLY = timedelta(minutes=2)
UNTOLD = timedelta(minutes=20)


class NoToken(Exception):
    """No token was given out; the text says why. `status` is what Airflow answered."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class _Granted(msgspec.Struct):
    access_token: str


class _Claims(msgspec.Struct):
    exp: float | None = None
    iat: float | None = None


class Tokens:
    """Shared by all who ask the same Airflow. A given token is used as it is: nobody here can renew it."""

    def __init__(self, spec: AirflowSpec, wire: JsonWire, *, clock: Clock) -> None:
        self._given = spec.token
        self._user = spec.user
        self._password = spec.password
        self._wire = wire
        self._clock = clock
        self._lock = threading.Lock()
        self._token: str | None = None
        self._renew_at: datetime | None = None

    @property
    def renewable(self) -> bool:
        return self._given is None

    def current(self) -> str:
        """Raises `NoToken` and what the wire raises."""
        if self._given is not None:
            return self._given
        with self._lock:
            if self._token is None or self._renew_at is None or self._clock() >= self._renew_at:
                self._token, self._renew_at = self._granted()
            return self._token

    def refused(self, token: str) -> None:
        """Airflow does not take this token any more: get another one next time."""
        with self._lock:
            if self._token == token:
                self._token = None

    def _granted(self) -> tuple[str, datetime]:
        asked_at = self._clock()
        body = {"username": self._user or "", "password": self._password or ""}
        answered = self._wire.exchange("POST", "/auth/token", body=body, headers={})
        if not 200 <= answered.status < 300:
            raise NoToken(answered.status, f"Airflow gave no token: it answered {answered.status}")
        try:
            token = msgspec.json.decode(answered.content, type=_Granted).access_token
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise NoToken(answered.status, "Airflow gave no token: its answer cannot be read") from None
        return token, renewal(token, asked_at)


def renewal(token: str, asked_at: datetime) -> datetime:
    """When to get the next one: some time before it ends by its own word, whatever Airflow's clock says."""
    lasts = _lasts(token, asked_at)
    return asked_at + max(lasts - min(EARLY, lasts / 4), timedelta(seconds=1))


def _lasts(token: str, asked_at: datetime) -> timedelta:
    parts = token.split(".")
    try:
        middle = parts[1] if len(parts) == 3 else ""
        claims = msgspec.json.decode(base64.urlsafe_b64decode(middle + "=" * (-len(middle) % 4)), type=_Claims)
        if claims.exp is None:
            return UNTOLD
        begins = asked_at if claims.iat is None else datetime.fromtimestamp(claims.iat, UTC)
        return max(datetime.fromtimestamp(claims.exp, UTC) - begins, timedelta(seconds=1))
    except (msgspec.DecodeError, binascii.Error, UnicodeError, ValueError, OverflowError, OSError):
        return UNTOLD
