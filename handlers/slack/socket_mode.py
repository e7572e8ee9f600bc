"""Slack's requests over a WebSocket that we open (Socket Mode): the listeners of the HTTP door, under a watchdog.

It must not trust the library to notice a connection that has died, nor acknowledge what could not be stored.
"""

import logging
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from time import perf_counter
from typing import Any

import msgspec
from slack_sdk.errors import SlackClientNotConnectedError
from slack_sdk.socket_mode.builtin import SocketModeClient
from slack_sdk.socket_mode.client import BaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse

from bot.ports import Clock, SendFailed
from bot.store import StorageDown
from handlers.meters import Meters
from handlers.slack.payloads import Payload, payload_in
from handlers.wire import Answer, Refused, nothing_stored

logger = logging.getLogger(__name__)
library = logging.getLogger("handlers.slack.socket_mode.library")

NAME = "slack"
EVENTS = "events_api"
CHECKED_EVERY = timedelta(seconds=2)
PINGED_EVERY = timedelta(seconds=3)
SILENT_AFTER = timedelta(seconds=30)
FIRST_WAIT, LONGEST_WAIT = timedelta(seconds=1), timedelta(seconds=60)
AT_ONCE = 10
RECEIVED_AT_ONCE = 64 * 1024


class _Client(SocketModeClient):
    """One connection of the library, told where to connect; it never opens another by itself, but calls `leaving`."""

    def __init__(
        self,
        *,
        open_url: Callable[[], str],
        leaving: Callable[[], None],
        clock: Clock,
        proxy: str | None,
        ping_every: timedelta,
    ) -> None:
        self._open_url = open_url
        self._leaving = leaving
        self._clock = clock
        self._heard_at = clock()
        self._last_pong: float | None = None
        self.is_to_be_left = False
        super().__init__(
            app_token="held by the adapter",
            logger=library,
            auto_reconnect_enabled=False,
            ping_interval=ping_every.total_seconds(),
            receive_buffer_size=RECEIVED_AT_ONCE,
            concurrency=AT_ONCE,
            proxy=proxy,
        )
        self.proxy = proxy
        self.on_message_listeners.append(self._heard)

    def issue_new_wss_url(self) -> str:
        return self._open_url()

    def connect_to_new_endpoint(self, force: bool = False) -> None:
        """Slack says that it will close this connection soon."""
        self.is_to_be_left = True
        self._leaving()

    def silent_for(self, now: datetime) -> timedelta:
        """How long nothing came: no message, and no answer to a ping."""
        session = self.current_session
        pong = session.last_ping_pong_time if session is not None else None
        if pong != self._last_pong:
            self._last_pong, self._heard_at = pong, now
        return now - self._heard_at

    @property
    def is_broken(self) -> bool:
        """It is closed, or takes no ping any more; the library itself goes on hoping for a while."""
        session = self.current_session
        return session is None or not session.is_active() or session.consecutive_check_state_error_count > 0

    def _heard(self, _: str) -> None:
        self._heard_at = self._clock()


class SocketDoor:
    """`step` is the watchdog: it opens the connection, and another when that is gone, leaves, or was silent for too long.

    `open_url` raises `SendFailed`; after a failure it is asked later and later. `wake` has `step` called at once.
    """

    def __init__(
        self,
        *,
        open_url: Callable[[], str],
        dispatch: Callable[[Payload], Answer],
        clock: Clock,
        meters: Meters,
        wake: Callable[[], None] = lambda: None,
        proxy: str | None = None,
        ping_every: timedelta = PINGED_EVERY,
        silent_after: timedelta = SILENT_AFTER,
    ) -> None:
        self._open_url = open_url
        self._dispatch = dispatch
        self._clock = clock
        self._meters = meters
        self._wake = wake
        self._proxy = proxy
        self._ping_every = ping_every
        self._silent_after = silent_after
        self._client: _Client | None = None
        self._again_at: datetime | None = None
        self._failures = 0
        self._closed = False
        self.trouble = "not connected yet"
        """What readiness says; empty while requests can come."""

    def step(self, now: datetime) -> datetime | None:
        """See that the connection lives; returns when to look again."""
        client = self._client
        if client is not None and not client.is_broken and not client.is_to_be_left:
            if client.silent_for(now) <= self._silent_after:
                return now + CHECKED_EVERY
            self.trouble = "the connection is silent"
        elif client is not None and client.is_broken:
            self.trouble = "the connection was lost"
        if self._closed:
            return None
        if self._again_at is not None and now < self._again_at:
            return self._again_at
        return self._connect(now)

    def close(self) -> None:
        """Take no more requests; those under way are answered where the connection still bears it."""
        self._closed = True
        _let_go(self._client)
        self._client = None

    def _connect(self, now: datetime) -> datetime:
        """Open another connection, then let the old one go: nothing that Slack sends meanwhile is lost."""
        client = _Client(
            open_url=self._open_url,
            leaving=self._wake,
            clock=self._clock,
            proxy=self._proxy,
            ping_every=self._ping_every,
        )
        client.socket_mode_request_listeners.append(self._on_request)
        try:
            client.connect()
        except SendFailed as failed:
            return self._failed(client, now, failed.code, failed.retry_after)
        if client.is_broken:
            return self._failed(client, now, "the connection was refused", None)
        old, self._client = self._client, client
        _let_go(old)
        self.trouble, self._failures, self._again_at = "", 0, None
        logger.info("connected to Slack by Socket Mode")
        return now + CHECKED_EVERY

    def _failed(self, client: _Client, now: datetime, why: str, wish: timedelta | None) -> datetime:
        _let_go(client)
        self._failures += 1
        self.trouble = f"not connected: {why}"
        logger.warning("no connection to Slack", extra={"why": why, "failures": self._failures})
        wait = min(FIRST_WAIT * (1 << min(self._failures - 1, 10)), LONGEST_WAIT)
        self._again_at = now + max(wait, wish or timedelta(0))
        return self._again_at

    def _on_request(self, client: BaseSocketModeClient, request: SocketModeRequest) -> None:
        began = perf_counter()
        answer = self._answer(request)
        self._meters.answered(door=NAME, code=answer.status, seconds=perf_counter() - began)
        taken = answer.status < 400 or (request.type == EVENTS and answer.status < 500)
        if not taken:
            return
        try:
            client.send_socket_mode_response(SocketModeResponse(request.envelope_id, payload=_payload_of(answer)))
        except SlackClientNotConnectedError:
            logger.warning("a request was taken in, but its connection is gone; Slack may send it again")

    def _answer(self, request: SocketModeRequest) -> Answer:
        try:
            return self._dispatch(payload_in(request.type, request.payload))
        except Refused as refused:
            return self._refusal(refused)
        except StorageDown:
            logger.warning("nothing could be stored", extra={"door": NAME})
            return self._refusal(nothing_stored())
        except Exception:
            logger.exception("a request failed unexpectedly", extra={"door": NAME})
            return Answer(status=503)

    def _refusal(self, refused: Refused) -> Answer:
        self._meters.refused(door=NAME, reason=refused.reason)
        return refused.answer()


def _let_go(client: _Client | None) -> None:
    """In a thread of its own: the library may wait for a silent connection for long."""
    if client is not None:
        threading.Thread(target=client.close, name="leave-socket", daemon=True).start()


def _payload_of(answer: Answer) -> dict[str, Any] | None:
    """What Slack is to do with a modal or to show of a command; None where a bare acknowledgement is meant."""
    if answer.status != 200 or not answer.body or not answer.content_type.startswith("application/json"):
        return None
    payload = msgspec.json.decode(answer.body)
    return payload if isinstance(payload, dict) else None
