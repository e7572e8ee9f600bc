"""The chat that is switched off: nothing is sent, nothing is lost, every row waits for the day it is switched on."""

from datetime import datetime, timedelta

from bot.ports import ChatFile, ChatMessage, SendFailed

AGAIN_AFTER = timedelta(minutes=1)


class NoChat:
    """Implements `bot.ports.Chat` where no Slack token is set."""

    def post(self, *, channel: str, message: ChatMessage) -> str:
        raise _off()

    def update(self, *, channel: str, ts: str, message: ChatMessage) -> None:
        raise _off()

    def upload(self, *, channel: str, thread_ts: str, file: ChatFile) -> str:
        raise _off()

    def find(self, *, channel: str, key: str, thread_ts: str | None, since: datetime) -> str | None:
        raise _off()

    def find_file(self, *, channel: str, name: str, thread_ts: str, since: datetime) -> str | None:
        raise _off()

    def open_direct(self, *, user: str) -> str:
        raise _off()


def _off() -> SendFailed:
    return SendFailed("slack_is_off", retry_after=AGAIN_AFTER)
