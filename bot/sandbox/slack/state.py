"""What the workspace holds at one moment, and the seed it starts from; it must not know how anything came about."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

Json = dict[str, Any]
MICROSECONDS = 1_000_000
SCOPES = (
    "chat:write",
    "commands",
    "im:history",
    "im:write",
    "files:read",
    "files:write",
    "usergroups:read",
    "users:read",
    "users:read.email",
    "channels:history",
    "groups:history",
    "channels:read",
    "groups:read",
    "im:read",
)


@dataclass(slots=True, kw_only=True)
class Channel:
    """A channel or a direct conversation, with its messages in order of ts."""

    id: str
    name: str
    members: list[str]
    bot_member: bool = True
    is_private: bool = False
    is_archived: bool = False
    is_im: bool = False
    topic: str = ""
    messages: dict[str, Json] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)

    def replies(self, thread_ts: str) -> list[Json]:
        return [each for ts, each in self.messages.items() if each.get("thread_ts") == thread_ts and ts != thread_ts]


@dataclass(slots=True, kw_only=True)
class Trigger:
    """A trigger_id: three seconds, one use."""

    user: str
    expires_at: datetime
    used: bool = False


@dataclass(slots=True, kw_only=True)
class ResponseUrl:
    """Where an answer to a click may be posted: five times in thirty minutes."""

    user: str
    channel: str
    expires_at: datetime
    ts: str | None = None
    thread_ts: str | None = None
    uses: int = 0


@dataclass(slots=True, kw_only=True)
class State:
    team: Json
    bot: Json
    users: dict[str, Json]
    usergroups: dict[str, Json]
    channels: dict[str, Channel]
    commands: list[Json] = field(default_factory=list)
    actions: list[Json] = field(default_factory=list)
    scopes: set[str] = field(default_factory=lambda: set(SCOPES))
    revoked: bool = False
    away: bool = False
    mailboxes: list[Json] = field(default_factory=list)
    ephemerals: list[Json] = field(default_factory=list)
    modals: dict[str, list[Json]] = field(default_factory=dict)
    homes: dict[str, Json] = field(default_factory=dict)
    files: dict[str, Json] = field(default_factory=dict)
    triggers: dict[str, Trigger] = field(default_factory=dict)
    response_urls: dict[str, ResponseUrl] = field(default_factory=dict)
    last_tick: int = 0

    def next_ts(self, now: datetime, index: int = 0) -> str:
        tick = max(int(now.timestamp() * MICROSECONDS), self.last_tick + 1) + index
        return f"{tick // MICROSECONDS}.{tick % MICROSECONDS:06d}"

    def passed(self, ts: str) -> None:
        """No later message gets a ts at or before this one."""
        seconds, _, micros = ts.partition(".")
        self.last_tick = max(self.last_tick, int(seconds) * MICROSECONDS + int(micros or 0))

    def bot_user(self) -> str:
        return str(self.bot["user_id"])

    def direct(self, user: str) -> Channel | None:
        """The direct conversation of the bot with this person, when it was opened."""
        return next((each for each in self.channels.values() if each.is_im and user in each.members), None)

    def view(self, view_id: str) -> tuple[str, Json] | None:
        """A view by its id, with the person who has it open."""
        for user, stack in self.modals.items():
            for view in stack:
                if view_id in (view["id"], view["external_id"] or None):
                    return user, view
        return next(((user, view) for user, view in self.homes.items() if view["id"] == view_id), None)


def instant_of(ts: str) -> datetime:
    return datetime.fromtimestamp(0, UTC) + timedelta(seconds=float(ts))


def from_seed(seed: Json) -> State:
    """The workspace as the seed describes it; a missing key is the seed's fault and raises KeyError."""
    users = {each["id"]: user_of(each) for each in seed["users"]}
    bot = seed["bot"]
    users.setdefault(
        bot["user_id"], user_of({"id": bot["user_id"], "name": bot.get("name", "ontrack"), "is_bot": True})
    )
    team = {"id": "T0TEAM", "name": "Workspace", "domain": "workspace", **seed.get("team", {})}
    state = State(
        team=team,
        bot={"name": "ontrack", **bot},
        users=users,
        usergroups={each["id"]: usergroup_of(each) for each in seed.get("usergroups", [])},
        channels={each["id"]: channel_of(each) for each in seed.get("channels", [])},
        commands=list(seed.get("commands", [])),
        actions=list(seed.get("actions", [])),
        mailboxes=list(seed.get("mailboxes", [])),
    )
    if "scopes" in bot:
        state.scopes = set(bot["scopes"])
    return state


def user_of(seed: Json) -> Json:
    """A person as users.info shows one."""
    name = seed.get("name") or seed["id"].lower()
    real_name = seed.get("real_name") or name
    return {
        "id": seed["id"],
        "name": name,
        "real_name": real_name,
        "deleted": bool(seed.get("deleted")),
        "is_bot": bool(seed.get("is_bot")),
        "is_restricted": bool(seed.get("is_restricted")),
        "is_ultra_restricted": False,
        "is_stranger": bool(seed.get("is_stranger")),
        "tz": seed.get("tz", "Europe/Berlin"),
        "role": seed.get("role", ""),
        "profile": {"real_name": real_name, "display_name": name, "email": seed.get("email", "")},
    }


def usergroup_of(seed: Json) -> Json:
    return {
        "id": seed["id"],
        "handle": seed["handle"],
        "name": seed.get("name", seed["handle"]),
        "users": list(seed.get("users", [])),
        "date_delete": 1 if seed.get("disabled") else 0,
    }


def channel_of(seed: Json) -> Channel:
    return Channel(
        id=seed["id"],
        name=seed["name"],
        members=list(seed.get("members", [])),
        bot_member=bool(seed.get("bot_member", True)),
        is_private=bool(seed.get("is_private")),
        is_archived=bool(seed.get("is_archived")),
        topic=seed.get("topic", ""),
    )
