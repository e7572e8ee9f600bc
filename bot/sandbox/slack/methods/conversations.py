"""The conversations.* methods: reading what was said, and where; it must not post anything."""

from bot.sandbox.slack.methods.channels import described, direct_with, joined, keep_direct, seen
from bot.sandbox.slack.state import Channel, State
from bot.sandbox.slack.wire import Call, Json, Method, Refusal

PAGE = 100
MOST = 999
HISTORY_SCOPES = ("channels:history", "groups:history", "im:history")
READ_SCOPES = ("channels:read", "groups:read", "im:read")


def with_thread(channel: Channel, message: Json) -> Json:
    """A message as history shows it: a root knows its replies."""
    replies = channel.replies(message["ts"])
    if not replies:
        return message
    people = list(dict.fromkeys(each["user"] for each in replies))
    return {
        **message,
        "thread_ts": message["ts"],
        "reply_count": len(replies),
        "reply_users": people[:5],
        "reply_users_count": len(people),
        "latest_reply": replies[-1]["ts"],
        "is_locked": False,
        "subscribed": False,
    }


def is_loose(channel: Channel, message: Json) -> bool:
    """Shown in the channel itself: a root, a broadcast, or a reply whose root is gone."""
    root = message.get("thread_ts", message["ts"])
    return root == message["ts"] or message.get("subtype") == "thread_broadcast" or root not in channel.messages


def within(call: Call, messages: list[Json]) -> list[Json]:
    """Those between `oldest` and `latest`; both ends count when `inclusive`."""
    oldest, latest = (call.args.text(name) for name in ("oldest", "latest"))
    for bound in (oldest, latest):
        if bound and not bound.replace(".", "", 1).isdecimal():
            raise Refusal("invalid_ts_oldest" if bound is oldest else "invalid_ts_latest")
    inclusive = call.args.flag("inclusive")

    def inside(ts: str) -> bool:
        at = _moment(ts)
        low, high = _moment(oldest or "0"), _moment(latest or "9999999999")
        return low < at < high or (inclusive and at in (low, high))

    return [each for each in messages if inside(each["ts"])]


def _moment(ts: str) -> tuple[int, int]:
    seconds, _, micros = ts.partition(".")
    return int(seconds or 0), int(micros.ljust(6, "0")[:6] or 0)


def paged(call: Call, messages: list[Json]) -> Json:
    limit = call.args.number("limit", otherwise=PAGE, most=MOST)
    cursor = call.args.text("cursor") or "0"
    if not cursor.isdecimal():
        raise Refusal("invalid_cursor")
    start = int(cursor)
    page, rest = messages[start : start + limit], messages[start + limit :]
    if not call.args.flag("include_all_metadata"):
        page = [{key: value for key, value in each.items() if key != "metadata"} for each in page]
    following = {"response_metadata": {"next_cursor": str(start + limit)}} if rest else {}
    return {"ok": True, "messages": page, "has_more": bool(rest), **following}


def history(call: Call) -> Json:
    channel = joined(call.state, call.args.required("channel"))
    shown = [with_thread(channel, each) for each in channel.messages.values() if is_loose(channel, each)]
    return paged(call, within(call, shown)[::-1])


def replies(call: Call) -> Json:
    channel = joined(call.state, call.args.required("channel"))
    asked = channel.messages.get(call.args.required("ts"))
    if asked is None:
        raise Refusal("thread_not_found")
    root = channel.messages.get(str(asked.get("thread_ts", asked["ts"])), asked)
    return paged(call, [with_thread(channel, root), *within(call, channel.replies(root["ts"]))])


def info(call: Call) -> Json:
    channel = seen(call.state, call.args.required("channel"))
    return {"ok": True, "channel": described(call.state, channel)}


def listed(call: Call) -> Json:
    kinds = call.args.words("types") or ("public_channel",)
    found = [
        described(call.state, each)
        for each in call.state.channels.values()
        if ("im" if each.is_im else "private_channel" if each.is_private else "public_channel") in kinds
        and (each.bot_member or not each.is_private)
        and not (each.is_archived and call.args.flag("exclude_archived"))
    ]
    return {"ok": True, "channels": found, "response_metadata": {"next_cursor": ""}}


def members(call: Call) -> Json:
    channel = seen(call.state, call.args.required("channel"))
    bot = [call.state.bot_user()] if channel.bot_member else []
    return {"ok": True, "members": [*channel.members, *bot], "response_metadata": {"next_cursor": ""}}


def open_direct(call: Call) -> Json:
    if call.args.text("channel"):
        return info(call)
    people = call.args.words("users")
    if len(people) != 1:
        raise Refusal("users_list_not_supplied" if not people else "not_enough_users")
    channel = direct_with(call, people[0])
    call.known["user"] = people[0]
    already = channel.id in call.state.channels
    known = {"no_op": True, "already_open": True} if already else {}
    return {"ok": True, **known, "channel": {"id": channel.id}}


def keep_open(state: State, row: Json) -> None:
    if user := row["known"].get("user"):
        keep_direct(state, row["result"]["channel"]["id"], user)


METHODS = {
    "conversations.history": Method(run=history, scopes=HISTORY_SCOPES),
    "conversations.replies": Method(run=replies, scopes=HISTORY_SCOPES),
    "conversations.info": Method(run=info, scopes=READ_SCOPES),
    "conversations.list": Method(run=listed, scopes=READ_SCOPES, tier=2),
    "conversations.members": Method(run=members, scopes=READ_SCOPES, tier=4),
    "conversations.open": Method(run=open_direct, keep=keep_open, scopes=("im:write",)),
}
