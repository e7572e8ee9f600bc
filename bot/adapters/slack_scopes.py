"""The scope that each method of Slack needs, of those that are called here. Values only."""

from collections.abc import Mapping

READ_BACK = ("channels:history", "groups:history", "im:history", "files:read")
"""Our own messages in public and private channels and direct conversations, and the names of their files."""

SCOPES_OF: Mapping[str, tuple[str, ...]] = {
    "auth.test": (),
    "blocks.validate": (),
    "chat.postEphemeral": ("chat:write",),
    "chat.postMessage": ("chat:write",),
    "chat.update": ("chat:write",),
    "conversations.history": READ_BACK,
    "conversations.info": ("channels:read", "groups:read"),
    "conversations.open": ("im:write",),
    "conversations.replies": READ_BACK,
    "files.completeUploadExternal": ("files:write",),
    "files.getUploadURLExternal": ("files:write",),
    "usergroups.users.list": ("usergroups:read",),
    "users.info": ("users:read",),
    "users.lookupByEmail": ("users:read", "users:read.email"),
    "views.open": (),
    "views.publish": (),
    "views.update": (),
}
COMMANDS = "commands"
"""Slack sends slash commands to an app that has it; no method needs it."""

NEEDED = frozenset({COMMANDS, *(scope for scopes in SCOPES_OF.values() for scope in scopes)})
"""The scopes of the bot token, exactly."""


def methods_that_need(scope: str) -> tuple[str, ...]:
    return tuple(method for method, scopes in SCOPES_OF.items() if scope in scopes)


def missing_scopes(granted: frozenset[str]) -> tuple[str, ...]:
    """What the token lacks, in order; nothing where Slack does not tell what it has."""
    return tuple(sorted(NEEDED - granted)) if granted else ()
