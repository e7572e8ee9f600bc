"""The shapes of Slack's answers, as far as they are read; what does not fit them is an unreadable answer.

It must not hold fields that nobody reads.
"""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseMetadata:
    """`messages` says where and why something was invalid, `next_cursor` where the next page starts."""

    messages: tuple[str, ...] | None = None
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """What every answer has."""

    ok: bool
    error: str | None = None
    needed: str | None = None
    response_metadata: ResponseMetadata | None = None
    errors: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Nothing:
    """An answer of which only the success matters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """chat.postMessage."""

    ts: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Identified:
    """Anything that was made and has an id."""

    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """conversations.open."""

    channel: Identified


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewed:
    """views.open."""

    view: Identified


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadPlace:
    """files.getUploadURLExternal."""

    upload_url: str
    file_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """What an app wrote on a message for programs."""

    event_type: str | None = None
    event_payload: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedFile:
    """A file as a message shows it; a deleted one has no name."""

    id: str
    name: str | None = None
    user: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message of a channel's or a thread's history."""

    ts: str
    user: str | None = None
    bot_id: str | None = None
    app_id: str | None = None
    metadata: Metadata | None = None
    files: tuple[SharedFile, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """conversations.history and conversations.replies."""

    messages: tuple[Message, ...]
    response_metadata: ResponseMetadata | None = None

    @property
    def next_cursor(self) -> str:
        return (self.response_metadata and self.response_metadata.next_cursor) or ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """auth.test."""

    user_id: str
    team_id: str
    team: str = ""
    url: str = ""
    bot_id: str | None = None
    app_id: str | None = None
    enterprise_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The part of a user that the user writes."""

    real_name: str | None = None
    display_name: str | None = None
    email: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A user of users.info and users.lookupByEmail."""

    id: str
    name: str | None = None
    real_name: str | None = None
    deleted: bool = False
    is_bot: bool = False
    is_restricted: bool = False
    is_ultra_restricted: bool = False
    is_stranger: bool = False
    tz: str | None = None
    profile: Profile = field(default_factory=Profile)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundMember:
    """users.info and users.lookupByEmail."""

    user: Member


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """A channel of conversations.info."""

    id: str
    name: str = ""
    is_archived: bool = False
    is_member: bool = False
    is_private: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundChannel:
    """conversations.info."""

    channel: Channel


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockProblem:
    """One thing that is wrong with a message or a view, and where."""

    message: str = ""
    pointer: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Validated:
    """blocks.validate."""

    errors: tuple[BlockProblem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMembers:
    """usergroups.users.list."""

    users: tuple[str, ...]
