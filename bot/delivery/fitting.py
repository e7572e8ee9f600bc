"""A chat that takes every message: one that the workspace finds too long goes out at once in its short form.

It must not send anything else a second time.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from bot.ports import Chat, ChatFile, ChatMessage, SendFailed
from bot.render.shorter import short_form

log = logging.getLogger(__name__)

TOO_LONG = frozenset({"msg_blocks_too_long", "msg_too_long"})
"""Refusals, so that nothing stands there yet."""

Sent = TypeVar("Sent")


@dataclass(frozen=True, slots=True, kw_only=True)
class FittingChat:
    """Implements `bot.ports.Chat` by way of another."""

    chat: Chat

    def post(self, *, channel: str, message: ChatMessage) -> str:
        return _fitted(message, lambda fitting: self.chat.post(channel=channel, message=fitting))

    def update(self, *, channel: str, ts: str, message: ChatMessage) -> None:
        _fitted(message, lambda fitting: self.chat.update(channel=channel, ts=ts, message=fitting))

    def upload(self, *, channel: str, thread_ts: str, file: ChatFile) -> str:
        return self.chat.upload(channel=channel, thread_ts=thread_ts, file=file)

    def find(self, *, channel: str, key: str, thread_ts: str | None, since: datetime) -> str | None:
        return self.chat.find(channel=channel, key=key, thread_ts=thread_ts, since=since)

    def find_file(self, *, channel: str, name: str, thread_ts: str, since: datetime) -> str | None:
        return self.chat.find_file(channel=channel, name=name, thread_ts=thread_ts, since=since)

    def open_direct(self, *, user: str) -> str:
        return self.chat.open_direct(user=user)


def _fitted(message: ChatMessage, send: Callable[[ChatMessage], Sent]) -> Sent:
    try:
        return send(message)
    except SendFailed as failed:
        if failed.code not in TOO_LONG:
            raise
        log.warning("a message was too long for the workspace", extra={"key": message.key, "code": failed.code})
    return send(replace(message, blocks=short_form(message.blocks), richer=()))
