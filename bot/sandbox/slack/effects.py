"""What people, the control API and response URLs change in the workspace; each takes a journalled row, none decides."""

from collections.abc import Mapping
from datetime import datetime

from bot.sandbox.slack.methods.channels import keep_direct
from bot.sandbox.slack.methods.chat import keep_deletion
from bot.sandbox.slack.methods.files import keep_bytes
from bot.sandbox.slack.state import Json, ResponseUrl, State, channel_of, user_of, usergroup_of
from bot.sandbox.slack.wire import Keep


def keep_response_url(state: State, row: Json) -> None:
    known = row["known"]
    if known.get("response"):
        state.response_urls[known["response"]] = ResponseUrl(
            user=row["args"]["user"],
            channel=known["channel"],
            ts=known.get("ts"),
            thread_ts=known.get("thread_ts"),
            expires_at=datetime.fromisoformat(known["expires_at"]),
        )


def keep_typed(state: State, row: Json) -> None:
    """What a person chose or wrote in a view."""
    view_id, values = row["args"]["view_id"], row["args"]["values"]
    for stack in state.modals.values():
        stack[:] = [{**each, "state": {"values": values}} if each["id"] == view_id else each for each in stack]
    for user, home in state.homes.items():
        if home["id"] == view_id:
            state.homes[user] = {**home, "state": {"values": values}}


def keep_closed(state: State, row: Json) -> None:
    stack = state.modals.get(row["args"]["user"], [])
    if row["args"].get("all"):
        stack.clear()
    else:
        stack[:] = [each for each in stack if each["id"] != row["args"]["view_id"]]


def keep_answered_view(state: State, row: Json) -> None:
    """The app answered a submission with another view."""
    view, stack = row["result"]["view"], state.modals.setdefault(row["args"]["user"], [])
    if any(each["id"] == view["id"] for each in stack):
        stack[:] = [view if each["id"] == view["id"] else each for each in stack]
    else:
        stack.append(view)


def keep_home(state: State, row: Json) -> None:
    keep_direct(state, row["known"]["channel"], row["args"]["user"])


def keep_dismissed(state: State, row: Json) -> None:
    state.ephemerals[:] = [each for each in state.ephemerals if each["ts"] != row["args"]["ts"]]


def keep_said(state: State, row: Json) -> None:
    """A person wrote a message."""
    channel, message = state.channels[row["args"]["channel"]], row["result"]["message"]
    channel.messages[message["ts"]] = message
    state.passed(message["ts"])


def keep_response(state: State, row: Json) -> None:
    """An answer came to a response URL, or as the answer to a slash command."""
    known = row["known"]
    if (used := state.response_urls.get(row["args"].get("response", ""))) is not None:
        used.uses += 1
    channel = state.channels[known["channel"]]
    if removed := known.get("removed"):
        state.ephemerals[:] = [each for each in state.ephemerals if each["ts"] != removed]
        channel.messages.pop(removed, None)
    message = known.get("message")
    if message is None:
        return
    if message.get("to") is None:
        channel.messages[message["ts"]] = message
    else:
        state.ephemerals[:] = [each for each in state.ephemerals if each["ts"] != message["ts"]]
        state.ephemerals.append(message)
    state.passed(message["ts"])


def keep_channel(state: State, row: Json) -> None:
    wish = row["args"]
    if wish["channel"] not in state.channels:
        state.channels[wish["channel"]] = channel_of({"id": wish["channel"], "name": wish["channel"].lower(), **wish})
    channel = state.channels[wish["channel"]]
    channel.name = wish.get("name", channel.name)
    channel.is_archived = wish.get("archived", channel.is_archived)
    channel.is_private = wish.get("private", channel.is_private)
    channel.bot_member = wish.get("bot_member", channel.bot_member)
    channel.members = list(wish.get("members", channel.members))


def keep_people(state: State, row: Json) -> None:
    state.users.update({each["id"]: user_of(each) for each in row["args"].get("users", [])})
    state.usergroups.update({each["id"]: usergroup_of(each) for each in row["args"].get("usergroups", [])})


def keep_token(state: State, row: Json) -> None:
    state.revoked = row["args"].get("revoked", state.revoked)
    if "scopes" in row["args"]:
        state.scopes = set(row["args"]["scopes"])


def keep_away(state: State, row: Json) -> None:
    state.away = row["args"]["away"]


EFFECTS: Mapping[str, Keep] = {
    "files.upload": keep_bytes,
    "response_url": keep_response,
    "person.asked": keep_response_url,
    "person.typed": keep_typed,
    "person.closed": keep_closed,
    "person.answered": keep_answered_view,
    "person.home": keep_home,
    "person.dismissed": keep_dismissed,
    "person.said": keep_said,
    "control.away": keep_away,
    "control.channel": keep_channel,
    "control.delete": keep_deletion,
    "control.people": keep_people,
    "control.token": keep_token,
}
