"""Makes one call of Slack's Web API: one request, one answer, or one `SendFailed` that says what is known of it.

It must not repeat a call, and it knows no method's meaning.
"""

import json
import logging
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, TypeVar
from urllib.parse import urlencode

import httpx
import msgspec

from bot.adapters.slack_answers import Envelope
from bot.adapters.slack_errors import UNTIL_REPAIRED, refusal, refusal_of_status, wish
from bot.ports import SendFailed
from bot.wire.deadline import Deadline
from bot.wire.proxies import proxy_for
from bot.wire.transport import DeadlineTransport

CONNECTIONS = 32
IDLE = timedelta(seconds=50)
WAITS = httpx.Timeout(connect=5.0, read=20.0, write=10.0, pool=5.0)
NOTHING_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)
CANNOT_BE_SENT = (httpx.LocalProtocolError, httpx.UnsupportedProtocol, httpx.InvalidURL)
UNREADABLE = (msgspec.DecodeError, RecursionError)

Answer = TypeVar("Answer")
logger = logging.getLogger(__name__)


def slack_client(*, base_url: str, deadline: Deadline) -> httpx.Client:
    """A client that keeps its connections and holds `deadline`, through the environment's proxy where there is one."""
    url = httpx.URL(base_url)
    transport = DeadlineTransport(
        deadline=deadline,
        connections=CONNECTIONS,
        idle=IDLE,
        ssl_context=httpx.create_ssl_context() if url.scheme == "https" else None,
        proxy=proxy_for(url),
    )
    return httpx.Client(transport=transport, timeout=WAITS)


class SlackWire:
    """Safe to use from many threads at once. Every method raises `SendFailed` and nothing else."""

    def __init__(
        self,
        *,
        token: str,
        base_url: str,
        clock: Callable[[], datetime],
        client: httpx.Client,
        deadline: Deadline,
        send_within: timedelta,
    ) -> None:
        if not token.isascii() or not token.isprintable() or token != token.strip():
            raise ValueError("the Slack token has characters that no token has")
        self._authorization = f"Bearer {token}"
        self._base_url = base_url if base_url.endswith("/") else f"{base_url}/"
        self._clock = clock
        self._client = client
        self._deadline = deadline
        self._send_within = send_within

    def write(self, method: str, body: Mapping[str, Any], answer: type[Answer]) -> Answer:
        """Call a method that changes something, with a JSON body."""
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        taken, _ = self._call(method, content, "application/json; charset=utf-8", answer)
        return taken

    def read(self, method: str, params: Mapping[str, str], answer: type[Answer]) -> Answer:
        """Call a method that changes nothing that matters, so that no failure of it is uncertain.

        Form-encoded: several of Slack's reading methods take nothing else.
        """
        found, _ = self.read_with_headers(method, params, answer)
        return found

    def read_with_headers(
        self, method: str, params: Mapping[str, str], answer: type[Answer]
    ) -> tuple[Answer, httpx.Headers]:
        """As `read`, with the headers that came along."""
        content = urlencode(params, errors="replace").encode("ascii")
        try:
            return self._call(method, content, "application/x-www-form-urlencoded", answer)
        except SendFailed as failed:
            failed.uncertain = False
            raise

    def put(self, url: str, content: bytes) -> None:
        """Send the bytes of a file to the address that Slack named for them; the token stays at home."""
        try:
            response = self._exchange(url, content, {"Content-Type": "application/octet-stream"})
            if not response.is_success:
                raise refusal_of_status(response.status_code, retry_after=self._wish(response))
        except SendFailed as failed:
            failed.uncertain = False
            raise

    def _call(
        self, method: str, content: bytes, content_type: str, answer: type[Answer]
    ) -> tuple[Answer, httpx.Headers]:
        headers = {"Authorization": self._authorization, "Content-Type": content_type}
        response = self._exchange(self._base_url + method, content, headers)
        envelope = self._accepted(method, response)
        if not envelope.ok:
            raise self._refused(method, envelope, response)
        return self._read_as(answer, response), response.headers

    def _exchange(self, url: str, content: bytes, headers: Mapping[str, str]) -> httpx.Response:
        with self._deadline.within(self._send_within):
            try:
                return self._client.post(url, content=content, headers=headers, timeout=self._waits())
            except NOTHING_SENT as error:
                raise SendFailed("unreachable") from error
            except CANNOT_BE_SENT as error:
                raise SendFailed("cannot_be_sent", retry_after=UNTIL_REPAIRED) from error
            except httpx.TimeoutException as error:
                raise SendFailed("timeout", uncertain=True) from error
            except httpx.HTTPError as error:
                raise SendFailed("disconnected", uncertain=True) from error

    def _waits(self) -> httpx.Timeout:
        waits, clamp = self._client.timeout, self._deadline.clamp
        if clamp(None) == 0:
            raise SendFailed("deadline")
        return httpx.Timeout(
            connect=clamp(waits.connect), read=clamp(waits.read), write=clamp(waits.write), pool=clamp(waits.pool)
        )

    def _accepted(self, method: str, response: httpx.Response) -> Envelope:
        try:
            envelope = msgspec.json.decode(response.content, type=Envelope)
        except UNREADABLE as error:
            if response.is_success:
                raise SendFailed("unreadable_answer", uncertain=True) from error
            envelope = Envelope(ok=False)
        if response.status_code == 429:
            raise refusal("ratelimited", retry_after=self._wish(response))
        if response.is_success or (envelope.error and response.is_client_error):
            return envelope
        logger.warning("slack answered without an answer", extra={"method": method, "status": response.status_code})
        raise refusal_of_status(response.status_code, code=envelope.error, retry_after=self._wish(response))

    def _refused(self, method: str, envelope: Envelope, response: httpx.Response) -> SendFailed:
        if not envelope.error:
            return SendFailed("unreadable_answer", uncertain=True)
        told = envelope.response_metadata.messages if envelope.response_metadata else None
        needed = (f"needed: {envelope.needed}",) if envelope.needed else ()
        detail = "; ".join((*(told or ()), *needed, *_listed(envelope.errors)))
        logger.info("slack refused", extra={"method": method, "code": envelope.error, "detail": detail})
        failed = refusal(envelope.error, retry_after=self._wish(response))
        if detail:
            failed.add_note(detail)
        return failed

    def _read_as(self, answer: type[Answer], response: httpx.Response) -> Answer:
        try:
            return msgspec.json.decode(response.content, type=answer)
        except UNREADABLE as error:
            raise SendFailed("unreadable_answer", uncertain=True) from error

    def _wish(self, response: httpx.Response) -> timedelta | None:
        return wish(response.headers.get("Retry-After"), now=self._clock())


def _listed(errors: Any) -> list[str]:
    """What some methods say beside their error: each problem with its place."""
    found = [error for error in errors if isinstance(error, dict)] if isinstance(errors, list) else []
    return [f"{error.get('message') or error.get('code')} [{error.get('pointer')}]" for error in found]
