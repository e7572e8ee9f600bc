"""Asks Slack where the next WebSocket of Socket Mode is to be opened. It must not open it, nor ask twice by itself."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

import httpx

from bot.adapters.slack_wire import SlackWire, slack_client
from bot.wire.deadline import Deadline
from bot.wire.proxies import proxy_address

OPEN_WITHIN = timedelta(seconds=15)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedSocket:
    """apps.connections.open."""

    url: str


class SlackSockets:
    """Speaks with the app-level token (`xapp-`), which opens nothing else."""

    def __init__(self, *, app_token: str, clock: Callable[[], datetime], base_url: str) -> None:
        deadline = Deadline()
        self._url = httpx.URL(base_url)
        self._client = slack_client(base_url=base_url, deadline=deadline)
        self._wire = SlackWire(
            token=app_token,
            base_url=base_url,
            clock=clock,
            client=self._client,
            deadline=deadline,
            send_within=OPEN_WITHIN,
        )

    def open(self) -> str:
        """The address of a fresh connection, good for one use; raises `SendFailed` with Slack's own word."""
        return self._wire.read("apps.connections.open", {}, OpenedSocket).url

    def proxy(self) -> str | None:
        """The proxy through which the connection is to be opened, where the environment names one."""
        return proxy_address(self._url)

    def close(self) -> None:
        self._client.close()
