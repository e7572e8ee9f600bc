"""The chat.* methods and blocks.validate: posting, updating, deleting, whispering; other families stay out."""

import copy
from collections.abc import Iterable
from typing import Any

from bot.sandbox.slack.blocks import Problem, check_message, check_view
from bot.sandbox.slack.methods.channels import direct_with, joined, keep_direct, seen, writable
from bot.sandbox.slack.state import Channel, State
from bot.sandbox.slack.wire import Call, Json, Method, Refusal, refused

POST_TEXT = 40_000
LISTS = ("elements", "child_blocks", "tasks")


def refuse_message(problems: list[Problem]) -> None:
    """Raise the name that Slack gives the first of these problems."""
    if not problems:
        return
    codes = {each.code for each in problems}
    for error in ("no_text", "msg_too_long", "invalid_metadata_format", "metadata_too_large"):
        if error in codes:
            raise refused(error, [each for each in problems if each.code == error])
    in_blocks = [each for each in problems if each.code != "msg_blocks_too_long"]
    raise refused("invalid_blocks" if in_blocks else "msg_blocks_too_long", in_blocks or problems)


def written(call: Call, *, updating: bool = False) -> Json:
    """The text, blocks and metadata of a call, checked, with the ids that Slack adds."""
    blocks = call.args.nested("blocks", error="invalid_blocks_format")
    if blocks is not None and not isinstance(blocks, list):
        raise Refusal("invalid_blocks_format")
    content = {
        "text": call.args.text("text") or "",
        "blocks": blocks,
        "metadata": call.args.nested("metadata", error="invalid_metadata_format"),
        "attachments": call.args.nested("attachments"),
    }
    refuse_message(check_message(content, updating=updating))
    content["text"] = content["text"][:POST_TEXT]
    if blocks is not None:
        content["blocks"] = identified(blocks, call)
    return {key: value for key, value in content.items() if value is not None}


def identified(blocks: list[Json], call: Call) -> list[Json]:
    """A copy of the blocks where each block and each interactive element has an id."""
    blocks = copy.deepcopy(blocks)
    counter = iter(range(10_000))
    _identify(blocks, call, counter)
    return blocks


def _identify(blocks: Iterable[Any], call: Call, counter: Iterable[int]) -> None:
    numbers = iter(counter)
    for block in blocks:
        block.setdefault("block_id", f"b{call.number}_{next(numbers)}")
        elements = block.get("elements", []) if block["type"] == "actions" else []
        for element in [*elements, block.get("accessory"), block.get("element")]:
            if element and element["type"] != "image":
                element.setdefault("action_id", f"a{call.number}_{next(numbers)}")
        _identify(block.get("child_blocks", []), call, numbers)


def target(call: Call) -> Channel:
    """Where a post goes: a channel, or the direct conversation with a person."""
    name = call.args.required("channel")
    if name.startswith(("U", "W")):
        return direct_with(call, name)
    return writable(call.state, name)


def refuse_bad_thread(channel: Channel, thread_ts: str) -> None:
    """A thread is there, or was: without its deleted root a reply stands loose in the channel, as in Slack."""
    root = channel.messages.get(thread_ts)
    if root is None and thread_ts not in channel.deleted:
        raise Refusal("thread_not_found")
    if root is not None and root.get("thread_ts", thread_ts) != thread_ts:
        raise Refusal("cannot_reply_to_message")


def post_message(call: Call) -> Json:
    channel = target(call)
    content = written(call)
    message = {**signed(call), **content, "ts": call.fresh_ts()}
    thread_ts = call.args.text("thread_ts")
    if thread_ts:
        refuse_bad_thread(channel, thread_ts)
        message["thread_ts"] = thread_ts
        if call.args.flag("reply_broadcast"):
            message["subtype"] = "thread_broadcast"
    return {"ok": True, "channel": channel.id, "ts": message["ts"], "message": message}


def signed(call: Call) -> Json:
    """The part of a message that says who wrote it."""
    bot = call.state.bot
    return {
        "type": "message",
        "user": bot["user_id"],
        "bot_id": bot["bot_id"],
        "app_id": bot["app_id"],
        "team": call.state.team["id"],
    }


def keep_message(state: State, row: Json) -> None:
    if str(row["args"].get("channel", "")).startswith(("U", "W")):
        keep_direct(state, row["result"]["channel"], row["args"]["channel"])
    state.channels[row["result"]["channel"]].messages[row["result"]["ts"]] = row["result"]["message"]
    state.passed(row["result"]["ts"])


def own_message(call: Call, channel: Channel, *, refusal: str) -> Json:
    message = channel.messages.get(call.args.required("ts"))
    if message is None or message.get("subtype") == "tombstone":
        raise Refusal("message_not_found")
    if message.get("user") != call.state.bot_user():
        raise Refusal(refusal)
    return message


def update_message(call: Call) -> Json:
    channel = writable(call.state, call.args.required("channel"))
    old = own_message(call, channel, refusal="cant_update_message")
    content = written(call, updating=True)
    if "text" not in call.args.values:
        content["text"] = old["text"]
    edited = {"user": call.state.bot_user(), "ts": call.fresh_ts()}
    message = {**old, **content, "edited": edited}
    return {"ok": True, "channel": channel.id, "ts": old["ts"], "text": message["text"], "message": message}


def keep_update(state: State, row: Json) -> None:
    state.channels[row["result"]["channel"]].messages[row["result"]["ts"]] = row["result"]["message"]
    state.passed(row["result"]["message"]["edited"]["ts"])


def delete_message(call: Call) -> Json:
    channel = joined(call.state, call.args.required("channel"))
    message = own_message(call, channel, refusal="cant_delete_message")
    return {"ok": True, "channel": channel.id, "ts": message["ts"]}


def keep_deletion(state: State, row: Json) -> None:
    """A root with replies leaves a tombstone, anything else is gone."""
    channel, ts = state.channels[row["result"]["channel"]], row["result"]["ts"]
    channel.deleted.add(ts)
    if channel.replies(ts):
        tombstone = {"type": "message", "subtype": "tombstone", "user": "USLACKBOT", "hidden": True}
        channel.messages[ts] = {**tombstone, "text": "This message was deleted.", "ts": ts, "thread_ts": ts}
    else:
        channel.messages.pop(ts, None)


def post_ephemeral(call: Call) -> Json:
    channel = writable(call.state, call.args.required("channel"))
    user = call.args.required("user")
    if user not in call.state.users:
        raise Refusal("user_not_found")
    if user not in channel.members:
        raise Refusal("user_not_in_channel")
    call.known["message"] = {
        **signed(call),
        **written(call),
        "ts": call.fresh_ts(),
        "channel": channel.id,
        "to": user,
        "thread_ts": call.args.text("thread_ts"),
    }
    return {"ok": True, "message_ts": call.known["message"]["ts"]}


def keep_ephemeral(state: State, row: Json) -> None:
    state.ephemerals.append(row["known"]["message"])
    state.passed(row["result"]["message_ts"])


def permalink(call: Call) -> Json:
    channel = seen(call.state, call.args.required("channel"))
    ts = call.args.required("message_ts")
    message = channel.messages.get(ts)
    if message is None:
        raise Refusal("message_not_found")
    link = f"{call.url}/archives/{channel.id}/p{ts.replace('.', '')}"
    if message.get("thread_ts", ts) != ts:
        link = f"{link}?thread_ts={message['thread_ts']}&cid={channel.id}"
    return {"ok": True, "channel": channel.id, "permalink": link}


def validate(call: Call) -> Json:
    """blocks.validate: every problem with its pointer."""
    blocks, message, view = (call.args.nested(name) for name in ("blocks", "message", "view"))
    if sum(each is not None for each in (blocks, message, view)) != 1:
        raise Refusal("invalid_arguments", messages=["[ERROR] exactly one of blocks, message, view is required"])
    problems = check_view(view) if view is not None else check_message(message or {"text": "-", "blocks": blocks})
    if not problems:
        return {"ok": True, "errors": []}
    errors = [{"pointer": each.pointer, "code": each.code, "message": each.message} for each in problems]
    raise Refusal("invalid_blocks", errors=errors)


METHODS = {
    "chat.postMessage": Method(run=post_message, keep=keep_message, scopes=("chat:write",), tier=0, per_channel=True),
    "chat.update": Method(run=update_message, keep=keep_update, scopes=("chat:write",)),
    "chat.delete": Method(run=delete_message, keep=keep_deletion, scopes=("chat:write",)),
    "chat.postEphemeral": Method(run=post_ephemeral, keep=keep_ephemeral, scopes=("chat:write",), tier=4),
    "chat.getPermalink": Method(run=permalink, tier=0),
    "blocks.validate": Method(run=validate, tier=4),
}
