"""Answers at the address that Slack sends along with a command or a click (`response_url`). It must not repeat an answer.

Such an address works five times within half an hour, in every conversation, also where the bot is no member.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import httpx
import msgspec

from bot.adapters.slack_errors import refusal, refusal_of_status
from bot.adapters.slack_wire import slack_client
from bot.ports import SendFailed
from bot.wire.deadline import Deadline

WITHIN = timedelta(seconds=10)
SLACKS = ".slack.com"
MOST_CODE = 60


class SlackResponses:
    """Safe to use from many threads. Every answer raises `SendFailed` and nothing else.

    An address that is neither Slack's nor under `base_url` is none: no request of ours goes anywhere else.
    """

    def __init__(self, *, base_url: str, clock: Callable[[], datetime], within: timedelta = WITHIN) -> None:
        self._deadline = Deadline()
        self._within = within
        self._client = slack_client(base_url=base_url, deadline=self._deadline)
        self._near = urlsplit(base_url)
        self._clock = clock

    def close(self) -> None:
        self._client.close()

    def answer(
        self,
        *,
        url: str,
        text: str,
        blocks: Sequence[Mapping[str, Any]],
        in_channel: bool = False,
        replace: bool = False,
        within: timedelta | None = None,
    ) -> None:
        """Show this to the person alone or to everybody there; `replace`: in the place of what was clicked."""
        if not self._is_slacks(url):
            raise SendFailed("no_address_of_slack", permanent=True)
        body = {
            "text": text,
            "blocks": list(blocks),
            "response_type": "in_channel" if in_channel else "ephemeral",
            "replace_original": replace,
        }
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        with self._deadline.within(within or self._within):
            response = self._sent(url, content)
        if (code := _code_of(response)) is not None:
            raise refusal(code) if response.status_code < 500 else refusal_of_status(response.status_code, code=code)

    def _sent(self, url: str, content: bytes) -> httpx.Response:
        headers = {"Content-Type": "application/json; charset=utf-8"}
        try:
            return self._client.post(url, content=content, headers=headers)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError) as error:
            raise SendFailed("unreachable") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise SendFailed("disconnected", uncertain=True) from error

    def _is_slacks(self, url: str) -> bool:
        try:
            there = urlsplit(url)
        except ValueError:
            return False
        if (there.scheme, there.netloc) == (self._near.scheme, self._near.netloc):
            return True
        return there.scheme == "https" and (there.hostname or "").endswith(SLACKS) and there.port in (None, 443)


def _code_of(response: httpx.Response) -> str | None:
    """Why it was refused; None where it was taken. Slack says it as JSON, or as one bare word with a status."""
    try:
        said = msgspec.json.decode(response.content)
    except (msgspec.DecodeError, UnicodeDecodeError):
        said = None
    if isinstance(said, dict):
        if said.get("ok") is True:
            return None
        if isinstance(said.get("error"), str):
            return str(said["error"])[:MOST_CODE]
    if response.is_success:
        return None
    word = response.text.strip().split("\n")[0][:MOST_CODE] if response.content else ""
    return word if word.replace("_", "").isalnum() else f"http_{response.status_code}"
