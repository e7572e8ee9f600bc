"""The workspace as the page draws it; it must leave out nothing that a person there could see, and change nothing."""

from bot.sandbox.slack.methods.channels import described
from bot.sandbox.slack.methods.conversations import is_loose
from bot.sandbox.slack.methods.files import decoded
from bot.sandbox.slack.state import Channel, State
from bot.sandbox.slack.wire import Json

SHOWN = 300
PREVIEW = 6_000


def newest(channel: Channel, most: int) -> list[Json]:
    """The last `most` messages that stand in the channel itself, each with its whole thread, in order."""
    loose = [each["ts"] for each in channel.messages.values() if is_loose(channel, each)]
    if len(loose) <= most:
        return list(channel.messages.values())
    kept = set(loose[-most:])
    return [each for ts, each in channel.messages.items() if ts in kept or each.get("thread_ts") in kept]


def snapshot(state: State, *, number: int, most: int = SHOWN) -> Json:
    channels = state.channels.values()
    return {
        "n": number,
        "changed": True,
        "team": state.team,
        "bot": {key: state.bot[key] for key in ("user_id", "bot_id", "name")},
        "users": list(state.users.values()),
        "usergroups": list(state.usergroups.values()),
        "channels": [
            {**described(state, each), "members": each.members, "name": each.name, "is_member": each.bot_member}
            for each in channels
        ],
        "messages": {each.id: newest(each, most) for each in channels},
        "ephemerals": state.ephemerals,
        "modals": {user: stack for user, stack in state.modals.items() if stack},
        "homes": state.homes,
        "previews": {
            each["id"]: decoded(each)[:PREVIEW].decode(errors="replace")
            for each in state.files.values()
            if each["state"] == "shared" and each["filetype"] not in ("png", "binary")
        },
        "commands": state.commands,
        "actions": state.actions,
        "mailboxes": state.mailboxes,
        "away": state.away,
        "token": {"revoked": state.revoked, "scopes": sorted(state.scopes)},
    }
