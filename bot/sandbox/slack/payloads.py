"""The payloads that Slack sends to an app, in their exact shape; it must send nothing and change nothing."""

import secrets
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from bot.sandbox.slack import inputs
from bot.sandbox.slack.blocks import walk_blocks
from bot.sandbox.slack.state import Channel, State
from bot.sandbox.slack.wire import Json, Refusal

TOKEN = "verification-token-of-the-sandbox"
ELSEWHERE = "T0ELSEWHERE"
"""The workspace of the strangers in shared channels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What an interaction carries so that the app may answer it."""

    trigger: str
    response_url: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the person acts: on a message in a channel, or in a view."""

    channel: Channel | None = None
    message: Json | None = None
    view: Json | None = None
    blocks: list[Json] = field(default_factory=list)
    values: Json = field(default_factory=dict)


def place_of(state: State, *, user: str, wish: Json) -> Place:
    if view_id := wish.get("view_id"):
        found = state.view(view_id)
        if found is None or found[0] != user:
            raise Refusal("view_not_found")
        return Place(view=found[1], blocks=found[1]["blocks"], values=found[1]["state"]["values"])
    channel = state.channels.get(wish.get("channel", ""))
    if channel is None or (channel.is_private and user not in channel.members):
        raise Refusal("channel_not_found")
    whispers = [each for each in state.ephemerals if each["to"] == user and each["channel"] == channel.id]
    message = channel.messages.get(wish.get("ts", "")) or next(
        (each for each in whispers if each["ts"] == wish.get("ts")), None
    )
    if message is None:
        raise Refusal("message_not_found")
    return Place(channel=channel, message=message, blocks=message.get("blocks", []))


def element_of(blocks: list[Json], *, user: str, wish: Json) -> tuple[Json, Json]:
    """The one element that the person means; two that fit are told apart by block_id or a button's value."""
    fitting = [
        (block, element)
        for block, element in walk_blocks(blocks)
        if element is not None
        and element.get("action_id") == wish.get("action_id")
        and wish.get("block_id") in (None, block["block_id"])
        and (element["type"] != "button" or wish.get("value") in (None, element.get("value")))
    ]
    if len(fitting) != 1:
        raise Refusal("action_not_found" if not fitting else "action_ambiguous")
    block, element = fitting[0]
    if user not in element.get("visible_to_user_ids", [user]):
        raise Refusal("action_not_visible")
    return block, element


def action_of(block: Json, element: Json, given: Any, *, now: datetime) -> Json:
    common = {
        "type": element["type"],
        "action_id": element["action_id"],
        "block_id": block["block_id"],
        "action_ts": f"{now.timestamp():.6f}",
    }
    if element["type"] == "button":
        shown = ("text", "value", "style", "url", "confirm")
        return {**common, **{key: value for key, value in element.items() if key in shown}}
    return {**common, **inputs.entered(element, given)}


def block_actions(state: State, user: Json, place: Place, action: Json, *, values: Json, asked: Asked) -> Json:
    payload: Json = {
        "type": "block_actions",
        **_signed(state, user),
        "trigger_id": asked.trigger,
        "container": _container(place),
        "actions": [action],
    }
    if place.view:
        return {**payload, "view": {**place.view, "state": {"values": values}}}
    assert place.channel is not None
    assert place.message is not None
    hidden = ("to", "channel")
    message = {key: value for key, value in place.message.items() if key not in hidden}
    return {
        **payload,
        "channel": {"id": place.channel.id, "name": "directmessage" if place.channel.is_im else place.channel.name},
        "message": message,
        "state": {"values": values},
        "response_url": asked.response_url,
    }


def _container(place: Place) -> Json:
    if place.view:
        return {"type": "view", "view_id": place.view["id"]}
    message = place.message or {}
    thread = {"thread_ts": message["thread_ts"]} if message.get("thread_ts") else {}
    return {
        "type": "message",
        "message_ts": message["ts"],
        "channel_id": place.channel.id if place.channel else "",
        "is_ephemeral": "to" in message,
        **thread,
    }


def view_submission(state: State, user: Json, view: Json, *, asked: Asked) -> Json:
    return {
        "type": "view_submission",
        **_signed(state, user),
        "trigger_id": asked.trigger,
        "view": view,
        "response_urls": [],
    }


def view_closed(state: State, user: Json, view: Json, *, asked: Asked, cleared: bool) -> Json:
    return {"type": "view_closed", **_signed(state, user), "view": view, "is_cleared": cleared}


def slash_command(state: State, user: Json, channel: Channel, wish: Json, *, asked: Asked) -> Json:
    return {
        "token": TOKEN,
        "team_id": home_of(user, state.team),
        "team_domain": state.team["domain"],
        "channel_id": channel.id,
        "channel_name": "directmessage" if channel.is_im else channel.name,
        "user_id": user["id"],
        "user_name": user["name"],
        "command": wish["command"],
        "text": wish.get("text", ""),
        "api_app_id": state.bot["app_id"],
        "is_enterprise_install": "false",
        "response_url": asked.response_url,
        "trigger_id": asked.trigger,
    }


def app_home_opened(state: State, user: Json, channel: str, *, now: datetime) -> Json:
    view = state.homes.get(user["id"])
    event = {
        "type": "app_home_opened",
        "user": user["id"],
        "channel": channel,
        "tab": "home",
        "event_ts": f"{now.timestamp():.6f}",
        **({"view": view} if view else {}),
    }
    return {
        "token": TOKEN,
        "team_id": state.team["id"],
        "api_app_id": state.bot["app_id"],
        "event": event,
        "type": "event_callback",
        "event_id": f"Ev0{secrets.token_hex(5).upper()}",
        "event_time": int(now.timestamp()),
        "authorizations": [
            {
                "enterprise_id": None,
                "team_id": state.team["id"],
                "user_id": state.bot_user(),
                "is_bot": True,
                "is_enterprise_install": False,
            }
        ],
        "is_ext_shared_channel": False,
    }


def home_of(user: Json, team: Json) -> str:
    """The workspace that this person is of."""
    return ELSEWHERE if user["is_stranger"] else str(team["id"])


def _signed(state: State, user: Json) -> Json:
    """Who, in which team, for which app."""
    team = state.team
    who = {"id": user["id"], "username": user["name"], "name": user["name"], "team_id": home_of(user, team)}
    return {
        "team": {"id": team["id"], "domain": team["domain"]},
        "user": who,
        "api_app_id": state.bot["app_id"],
        "token": TOKEN,
        "enterprise": None,
        "is_enterprise_install": False,
    }
