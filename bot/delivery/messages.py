"""Sends frozen messages: replies, log files, direct messages, notices. Each has a key by which it can be found again."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from bot.delivery.vain import asks_in_vain, is_replay
from bot.incidents.effects import ReplyKind
from bot.incidents.people import Mention
from bot.incidents.policy import Door
from bot.ports import Chat, ChatFile, ChatMessage, SendFailed
from bot.render.digest import expired, notice
from bot.render.evidence import diff_file, evidence, log_file
from bot.render.pointing import pointing
from bot.render.rendered import Rendered
from bot.render.replies import reply
from bot.render.snapshot import Snapshot
from bot.store import EffectKind, EffectRow


class NothingToSend(Exception):
    """What the row speaks of is not there (no log was stored), or not wanted any more: settle it without sending."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Messenger:
    """Renders an outbox row and sends it; `snapshot_of` reads the occurrence (and the evidence that a reply names).

    `thread_of` makes the address of the occurrence's thread, to which a message elsewhere points.
    """

    chat: Chat
    snapshot_of: Callable[[int, int, str | None], Snapshot | None]
    thread_of: Callable[[int, int], str | None] = lambda record, number: None

    def look(self, row: EffectRow, since: datetime) -> str | None:
        """The id of the message or file of `row` when it was sent after all. Raises `SendFailed` when looking fails."""
        if row.kind is EffectKind.FILE:
            if row.channel is None or row.root_ts is None:
                return None
            name = file_name(row)
            return self.chat.find_file(channel=row.channel, name=name, thread_ts=row.root_ts, since=since)
        channel = self._channel(row)
        return self.chat.find(channel=channel, key=row.key, thread_ts=row.root_ts, since=since)

    def send(self, row: EffectRow, now: datetime) -> Mapping[str, Any]:
        """Send once and return what to remember. Raises `SendFailed` and `NothingToSend`."""
        if row.kind is EffectKind.NOTICE:
            return self._announce(row, now)
        named = row.content.get("evidence") or row.content.get("facts", {}).get("evidence")
        snapshot = self.snapshot_of(row.record, row.number, named)
        if snapshot is None:
            raise SendFailed("occurrence_not_found", permanent=True)
        if asks_in_vain(row, snapshot.incident) or is_replay(row, now):
            raise NothingToSend
        if row.kind is EffectKind.FILE:
            return {"file": self._upload(row, snapshot)}
        message = self._rendered(row, snapshot)
        if row.kind is EffectKind.DIRECT:
            message = pointing(message, self.thread_of(row.record, row.number))
        channel = self._channel(row)
        ts = self.chat.post(
            channel=channel,
            message=ChatMessage(
                key=row.key,
                text=message.text,
                blocks=message.blocks,
                richer=message.richer,
                thread_ts=row.root_ts,
                broadcast=bool(row.content.get("broadcast")) and row.root_ts is not None,
            ),
        )
        return {"channel": channel, "ts": ts}

    def _announce(self, row: EffectRow, now: datetime) -> Mapping[str, Any]:
        message = None if expired(row.content, now) else notice(row.content)
        if message is None:
            raise NothingToSend
        channel = self._channel(row)
        said = ChatMessage(key=row.key, text=message.text, blocks=message.blocks)
        return {"channel": channel, "ts": self.chat.post(channel=channel, message=said)}

    def _upload(self, row: EffectRow, snapshot: Snapshot) -> str:
        file = log_file(snapshot)
        if file is None or row.channel is None or row.root_ts is None:
            raise NothingToSend
        self._upload_diff(row, snapshot, channel=row.channel, root_ts=row.root_ts)
        named = ChatFile(name=file_name(row), title=file.title, text=file.text)
        return self.chat.upload(channel=row.channel, thread_ts=row.root_ts, file=named)

    def _upload_diff(self, row: EffectRow, snapshot: Snapshot, *, channel: str, root_ts: str) -> None:
        """The whole diff before the log, by whose name the row is looked for: so neither is lost, nor sent twice."""
        file = diff_file(snapshot)
        if file is None:
            return
        name = file_name(row).replace("log-", "diff-", 1).removesuffix(".txt") + ".diff"
        since = row.created_at
        begun = row.attempt > 0 and since is not None
        if begun and since and self.chat.find_file(channel=channel, name=name, thread_ts=root_ts, since=since):
            return
        named = ChatFile(name=name, title=file.title, text=file.text)
        self.chat.upload(channel=channel, thread_ts=root_ts, file=named)

    def _rendered(self, row: EffectRow, snapshot: Snapshot) -> Rendered:
        kind = ReplyKind(row.content["kind"])
        mention = msgspec.convert(row.content.get("mention", ()), tuple[Mention, ...])
        if kind is ReplyKind.EVIDENCE:
            return evidence(snapshot)
        return reply(kind, row.content.get("facts", {}), mention=mention, snapshot=snapshot)

    def _channel(self, row: EffectRow) -> str:
        if row.kind is EffectKind.DIRECT and row.content.get("door") == Door.CHANNEL:
            return str(row.content["address"])
        if row.kind is EffectKind.DIRECT:
            return self.chat.open_direct(user=str(row.content["address"]))
        if row.channel is None:
            raise SendFailed("no_channel", permanent=True)
        return row.channel


def file_name(row: EffectRow) -> str:
    """The name of a row's file: it holds the key, so that a look can find it."""
    return f"log-{row.key.replace('/', '-')}.txt"
