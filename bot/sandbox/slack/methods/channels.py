"""Finding the channel that a call means, and refusing as Slack does; it must not post anything."""

from bot.sandbox.slack.state import Channel, State
from bot.sandbox.slack.wire import Call, Json, Refusal


def seen(state: State, channel_id: str) -> Channel:
    """The channel, when the bot may know of it."""
    channel = state.channels.get(channel_id)
    if channel is None or (channel.is_private and not channel.bot_member):
        raise Refusal("channel_not_found")
    return channel


def joined(state: State, channel_id: str) -> Channel:
    """The channel, when the bot is in it."""
    channel = seen(state, channel_id)
    if not channel.bot_member:
        raise Refusal("not_in_channel")
    return channel


def writable(state: State, channel_id: str) -> Channel:
    channel = joined(state, channel_id)
    if channel.is_archived:
        raise Refusal("is_archived")
    return channel


def direct_with(call: Call, user_id: str) -> Channel:
    """The direct conversation with this person; a new one is only described, `keep_direct` puts it into the state."""
    user = call.state.users.get(user_id)
    if user is None:
        raise Refusal("user_not_found")
    if user["deleted"]:
        raise Refusal("user_disabled")
    found = call.state.direct(user_id)
    return found or Channel(id=call.name("D"), name=user["name"], members=[user_id], is_im=True)


def keep_direct(state: State, channel_id: str, user_id: str) -> None:
    if channel_id not in state.channels:
        name = state.users[user_id]["name"]
        state.channels[channel_id] = Channel(id=channel_id, name=name, members=[user_id], is_im=True)


def described(state: State, channel: Channel) -> Json:
    """A channel as conversations.info shows it."""
    if channel.is_im:
        return {"id": channel.id, "is_im": True, "user": channel.members[0], "is_archived": channel.is_archived}
    return {
        "id": channel.id,
        "name": channel.name,
        "name_normalized": channel.name,
        "is_channel": not channel.is_private,
        "is_group": channel.is_private,
        "is_im": False,
        "is_mpim": False,
        "is_private": channel.is_private,
        "is_archived": channel.is_archived,
        "is_member": channel.bot_member,
        "num_members": len(channel.members),
        "topic": {"value": channel.topic, "creator": "", "last_set": 0},
        "purpose": {"value": "", "creator": "", "last_set": 0},
        "context_team_id": state.team["id"],
    }
