"""Reads users, groups and the bot's own identity from Slack, for the directory and for `doctor`.

It must not decide who may do what, and it remembers nothing: the directory does.
"""

from dataclasses import dataclass

from bot.adapters.slack_answers import FoundMember, GroupMembers, Identity, Member
from bot.adapters.slack_wire import SlackWire
from bot.ports import SendFailed

NO_SUCH_USER = frozenset({"user_not_found", "users_not_found", "user_not_visible"})
NO_SUCH_GROUP = frozenset({"no_such_subteam", "subteam_not_found"})
SLACKBOT = "USLACKBOT"


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackUser:
    """A user of the workspace. `guest`: single- or multi-channel guest; `stranger`: of another, connected workspace."""

    id: str
    name: str
    email: str | None
    deleted: bool
    bot: bool
    guest: bool
    stranger: bool
    tz: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthInfo:
    """Who the token speaks for. `scopes` is empty where Slack does not tell them; `enterprise_id`: the workspace is one of
    an organisation's."""

    user_id: str
    bot_id: str | None
    app_id: str | None
    team_id: str
    team: str
    url: str
    scopes: frozenset[str]
    enterprise_id: str | None = None


def auth(wire: SlackWire) -> AuthInfo:
    """Ask Slack now; raises `SendFailed` with Slack's own word (`invalid_auth`, `token_revoked`, ...)."""
    identity, headers = wire.read_with_headers("auth.test", {}, Identity)
    scopes = (scope.strip() for scope in headers.get("X-OAuth-Scopes", "").split(","))
    return AuthInfo(
        user_id=identity.user_id,
        bot_id=identity.bot_id,
        app_id=identity.app_id,
        team_id=identity.team_id,
        team=identity.team,
        url=identity.url,
        scopes=frozenset(scope for scope in scopes if scope),
        enterprise_id=identity.enterprise_id,
    )


def user(wire: SlackWire, user_id: str) -> SlackUser | None:
    """The user with this id; None when the workspace has none that the bot may see."""
    return _found(wire, "users.info", {"user": user_id})


def user_by_email(wire: SlackWire, email: str) -> SlackUser | None:
    """The user with this address; None when there is none."""
    return _found(wire, "users.lookupByEmail", {"email": email})


def group_members(wire: SlackWire, group: str) -> tuple[str, ...] | None:
    """The ids of a user group's members; None when there is no such group or it is disabled."""
    try:
        return wire.read("usergroups.users.list", {"usergroup": group}, GroupMembers).users
    except SendFailed as failed:
        if failed.code in NO_SUCH_GROUP:
            return None
        raise


def _found(wire: SlackWire, method: str, params: dict[str, str]) -> SlackUser | None:
    try:
        return _as_user(wire.read(method, params, FoundMember).user)
    except SendFailed as failed:
        if failed.code in NO_SUCH_USER:
            return None
        raise


def _as_user(member: Member) -> SlackUser:
    profile = member.profile
    return SlackUser(
        id=member.id,
        name=profile.real_name or member.real_name or profile.display_name or member.name or member.id,
        email=profile.email or None,
        deleted=member.deleted,
        bot=member.is_bot or member.id == SLACKBOT,
        guest=member.is_restricted or member.is_ultra_restricted,
        stranger=member.is_stranger,
        tz=member.tz or None,
    )
