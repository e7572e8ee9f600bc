"""Speaks to a Slack workspace: delivery's messages and looks, immediate answers to a person, reads for the directory.

It must not render, decide, or send anything twice; what is not done within the deadline raises `SendFailed`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import httpx

from bot.adapters import slack_looks, slack_people
from bot.adapters.slack_answers import Message, Nothing, Opened, Page, Posted, UploadPlace, Viewed
from bot.adapters.slack_looks import SlackChannel
from bot.adapters.slack_people import AuthInfo, SlackUser
from bot.adapters.slack_wire import SlackWire, slack_client
from bot.ports import ChatFile, ChatMessage, SendFailed
from bot.wire.deadline import Deadline

SLACK_API = "https://slack.com/api/"
SEND_WITHIN = timedelta(seconds=30)
LOOK_BEHIND = timedelta(seconds=60)
PAGE_OF = 200
EVENT_TYPE = "ontrack_message"
LITERAL: Mapping[str, Any] = {"link_names": False, "parse": "none"}
NO_PREVIEWS: Mapping[str, Any] = {"unfurl_links": False, "unfurl_media": False}
THREAD_IS_GONE = frozenset({"thread_not_found", "message_not_found"})


class SlackChat:
    """The workspace that `token` opens; implements `bot.ports.Chat`. Safe to use from many threads at once.

    A `client` that is handed in stays its owner's to close, and brings its own timeouts.
    """

    def __init__(
        self,
        *,
        token: str,
        clock: Callable[[], datetime],
        base_url: str = SLACK_API,
        client: httpx.Client | None = None,
        send_within: timedelta = SEND_WITHIN,
    ) -> None:
        self._deadline = Deadline()
        self._send_within = send_within
        self._client = client or slack_client(base_url=base_url, deadline=self._deadline)
        self._owns_client = client is None
        self._wire = SlackWire(
            token=token,
            base_url=base_url,
            clock=clock,
            client=self._client,
            deadline=self._deadline,
            send_within=send_within,
        )
        self._identity: AuthInfo | None = None
        self._direct: dict[str, str] = {}

    def close(self) -> None:
        """Let the kept connections go; nothing may be sent afterwards."""
        if self._owns_client:
            self._client.close()

    def post(self, *, channel: str, message: ChatMessage) -> str:
        """Post `message` (not its file: see `upload`) and return its `ts`."""
        body = {"channel": channel, **_shown(message), **NO_PREVIEWS}
        if message.thread_ts:
            body |= {"thread_ts": message.thread_ts, "reply_broadcast": message.broadcast}
        return self._wire.write("chat.postMessage", body, Posted).ts

    def update(self, *, channel: str, ts: str, message: ChatMessage) -> None:
        """Show `message` in place of what stands at `ts`."""
        self._wire.write("chat.update", {"channel": channel, "ts": ts, **_shown(message)}, Nothing)

    def upload(self, *, channel: str, thread_ts: str, file: ChatFile) -> str:
        """Share a text file in a thread and return its id; only the last of three steps can be uncertain."""
        content = file.text.encode("utf-8", "replace")
        with self._deadline.within(self._send_within):
            place = self._wire.read(
                "files.getUploadURLExternal", {"filename": file.name, "length": str(len(content))}, UploadPlace
            )
            self._wire.put(place.upload_url, content)
            shared = {"files": [{"id": place.file_id, "title": file.title}]}
            self._wire.write(
                "files.completeUploadExternal", {**shared, "channel_id": channel, "thread_ts": thread_ts}, Nothing
            )
        return place.file_id

    def find(self, *, channel: str, key: str, thread_ts: str | None, since: datetime) -> str | None:
        """The `ts` of our own message with `key`, in the thread or else in the channel; None: surely there is none."""
        with self._deadline.within(self._send_within):
            for message in self._own_messages(channel=channel, thread_ts=thread_ts, since=since):
                if _key_of(message) == key:
                    return message.ts
        return None

    def find_file(self, *, channel: str, name: str, thread_ts: str, since: datetime) -> str | None:
        """The id of our own file of that name in the thread; None: surely there is none."""
        with self._deadline.within(self._send_within):
            for message in self._own_messages(channel=channel, thread_ts=thread_ts, since=since):
                for file in message.files or ():
                    if file.name == name:
                        return file.id
        return None

    def open_direct(self, *, user: str) -> str:
        """The channel id of the direct conversation with `user`; asked for once a user."""
        if user not in self._direct:
            self._direct[user] = self._wire.read("conversations.open", {"users": user}, Opened).channel.id
        return self._direct[user]

    def open_view(self, *, trigger_id: str, view: Mapping[str, Any]) -> str:
        """Open a modal for whoever made the click behind `trigger_id` (3 s, once) and return its id."""
        return self._wire.write("views.open", {"trigger_id": trigger_id, "view": view}, Viewed).view.id

    def update_view(self, *, view_id: str, view: Mapping[str, Any]) -> None:
        """Show `view` in place of an open modal."""
        self._wire.write("views.update", {"view_id": view_id, "view": view}, Nothing)

    def publish_home(self, *, user: str, view: Mapping[str, Any]) -> None:
        """Show `view` on the user's Home tab."""
        self._wire.write("views.publish", {"user_id": user, "view": view}, Nothing)

    def ephemeral(
        self,
        *,
        channel: str,
        user: str,
        text: str,
        blocks: Sequence[Mapping[str, Any]] = (),
        thread_ts: str | None = None,
    ) -> None:
        """Tell one user something that nobody else sees and nothing keeps."""
        body: dict[str, Any] = {"channel": channel, "user": user, "text": text, **LITERAL}
        if blocks:
            body["blocks"] = list(blocks)
        if thread_ts:
            body["thread_ts"] = thread_ts
        self._wire.write("chat.postEphemeral", body, Nothing)

    def auth(self) -> AuthInfo:
        """Who the token speaks for, asked now; raises `SendFailed` with Slack's own word when it opens nothing."""
        self._identity = slack_people.auth(self._wire)
        return self._identity

    def user(self, user_id: str) -> SlackUser | None:
        """The user with this id; None when the workspace has none that the bot may see."""
        return slack_people.user(self._wire, user_id)

    def user_by_email(self, email: str) -> SlackUser | None:
        """The user with this address; None when there is none."""
        return slack_people.user_by_email(self._wire, email)

    def group_members(self, group: str) -> tuple[str, ...] | None:
        """The ids of a user group's members; None when there is no such group or it is disabled."""
        return slack_people.group_members(self._wire, group)

    def channel(self, channel_id: str) -> SlackChannel | None:
        """The channel with this id; None when there is none that the bot may see."""
        return slack_looks.channel(self._wire, channel_id)

    def problems(
        self, *, message: Mapping[str, Any] | None = None, view: Mapping[str, Any] | None = None
    ) -> tuple[str, ...]:
        """What Slack finds wrong with a message or a view, which is not sent."""
        return slack_looks.problems(self._wire, message=message, view=view)

    def _own_messages(self, *, channel: str, thread_ts: str | None, since: datetime) -> Iterator[Message]:
        ours = self._identity or self.auth()
        params = {
            "channel": channel,
            "oldest": f"{(since - LOOK_BEHIND).timestamp():.6f}",
            "limit": str(PAGE_OF),
            "include_all_metadata": "true",
        }
        if thread_ts:
            said = self._thread_or_channel(params, thread_ts)
        else:
            said = self._messages("conversations.history", params)
        return (message for message in said if _is_by(message, ours))

    def _thread_or_channel(self, params: Mapping[str, str], thread_ts: str) -> Iterator[Message]:
        """The thread's messages; where its root is gone, the channel's: Slack shows late replies there, loose."""
        try:
            yield from self._messages("conversations.replies", {**params, "ts": thread_ts})
        except SendFailed as failed:
            if failed.code not in THREAD_IS_GONE:
                raise
            yield from self._messages("conversations.history", params)

    def _messages(self, method: str, params: Mapping[str, str]) -> Iterator[Message]:
        cursor = ""
        while True:
            page = self._wire.read(method, {**params, "cursor": cursor} if cursor else params, Page)
            yield from page.messages
            if page.next_cursor == cursor and cursor:
                raise SendFailed("unreadable_answer")
            cursor = page.next_cursor
            if not cursor:
                return


def _shown(message: ChatMessage) -> dict[str, Any]:
    return {
        "text": message.text,
        "blocks": list(message.blocks),
        "metadata": {"event_type": EVENT_TYPE, "event_payload": {"key": message.key}},
        **LITERAL,
    }


def _is_by(message: Message, ours: AuthInfo) -> bool:
    return (
        message.user == ours.user_id
        or (message.bot_id is not None and message.bot_id == ours.bot_id)
        or (message.app_id is not None and message.app_id == ours.app_id)
    )


def _key_of(message: Message) -> object:
    metadata = message.metadata
    if metadata is None or metadata.event_type != EVENT_TYPE or metadata.event_payload is None:
        return None
    return metadata.event_payload.get("key")
