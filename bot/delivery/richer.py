"""A chat that shows messages in richer blocks where the workspace takes them, and in classic ones at once where it does not.

It must not send a second time anything that may stand there already.
"""

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar

from bot.delivery.fitting import TOO_LONG
from bot.ports import Chat, ChatFile, ChatMessage, Clock, SendFailed

log = logging.getLogger(__name__)

REMEMBERED = timedelta(days=1)
UNKNOWN_BLOCKS = frozenset({"invalid_blocks", "invalid_blocks_format"})
"""Refusals of blocks that this workspace does not know, so that nothing stands there yet."""
Sent = TypeVar("Sent")


class RicherChat:
    """Implements `bot.ports.Chat` by way of another; a workspace that refused is sent classic blocks for a day."""

    def __init__(self, *, chat: Chat, clock: Clock) -> None:
        self._chat = chat
        self._clock = clock
        self._classic_until: datetime | None = None

    def post(self, *, channel: str, message: ChatMessage) -> str:
        return self._sent(message, lambda each: self._chat.post(channel=channel, message=each))

    def update(self, *, channel: str, ts: str, message: ChatMessage) -> None:
        self._sent(message, lambda each: self._chat.update(channel=channel, ts=ts, message=each))

    def upload(self, *, channel: str, thread_ts: str, file: ChatFile) -> str:
        return self._chat.upload(channel=channel, thread_ts=thread_ts, file=file)

    def find(self, *, channel: str, key: str, thread_ts: str | None, since: datetime) -> str | None:
        return self._chat.find(channel=channel, key=key, thread_ts=thread_ts, since=since)

    def find_file(self, *, channel: str, name: str, thread_ts: str, since: datetime) -> str | None:
        return self._chat.find_file(channel=channel, name=name, thread_ts=thread_ts, since=since)

    def open_direct(self, *, user: str) -> str:
        return self._chat.open_direct(user=user)

    def _sent(self, message: ChatMessage, send: Callable[[ChatMessage], Sent]) -> Sent:
        classic = replace(message, richer=())
        if not message.richer or self._is_classic():
            return send(classic)
        try:
            return send(replace(message, blocks=message.richer, richer=()))
        except SendFailed as failed:
            if failed.uncertain or failed.code not in UNKNOWN_BLOCKS | TOO_LONG:
                raise
            refused = failed.code
        sent = send(classic)
        if refused in UNKNOWN_BLOCKS:
            self._classic_until = self._clock() + REMEMBERED
            log.warning("the workspace takes classic blocks only", extra={"code": refused, "key": message.key})
        return sent

    def _is_classic(self) -> bool:
        return self._classic_until is not None and self._clock() < self._classic_until
