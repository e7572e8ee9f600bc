"""The views.* methods: modals opened by a trigger, and Home; it must not speak to the person itself."""

from typing import Any

from bot.sandbox.slack.blocks import check_view
from bot.sandbox.slack.methods.chat import identified
from bot.sandbox.slack.state import State
from bot.sandbox.slack.wire import Call, Json, Method, Refusal, refused

DEEPEST = 3


def checked(view: Any, kind: str) -> Json:
    """The view itself, when Slack would take it as a view of this kind."""
    problems = check_view(view)
    if any(each.code == "view_too_large" for each in problems):
        raise Refusal("view_too_large")
    if problems:
        raise refused("invalid_arguments", problems)
    if not isinstance(view, dict) or view["type"] != kind:
        raise Refusal("invalid_arguments", messages=[f"[ERROR] must be one of: {kind} [json-pointer:/view/type]"])
    return view


def shown(call: Call, view: Json, *, view_id: str, previous: Json | None = None) -> Json:
    """The view as Slack answers it, with an id, a hash and an empty state."""
    bot, team = call.state.bot, call.state.team
    given = {
        "title": None,
        "submit": None,
        "close": None,
        "private_metadata": "",
        "callback_id": "",
        "external_id": "",
        "clear_on_close": False,
        "notify_on_close": False,
        **view,
    }
    return {
        **given,
        "id": view_id,
        "team_id": team["id"],
        "app_id": bot["app_id"],
        "bot_id": bot["bot_id"],
        "blocks": identified(view["blocks"], call),
        "hash": f"{int(call.now.timestamp())}.{call.number:08x}",
        "state": {"values": {}},
        "root_view_id": previous["root_view_id"] if previous else view_id,
        "previous_view_id": previous["id"] if previous else None,
    }


def exchange(call: Call) -> str:
    """Use up the trigger; the person who holds it."""
    trigger = call.state.triggers.get(call.args.required("trigger_id"))
    if trigger is None:
        raise Refusal("invalid_trigger_id")
    if trigger.used:
        raise Refusal("exchanged_trigger_id")
    if call.now >= trigger.expires_at:
        raise Refusal("expired_trigger_id")
    trigger.used = True
    return trigger.user


def open_view(call: Call) -> Json:
    view = checked(call.args.nested("view"), "modal")
    refuse_known_external_id(call.state, view)
    call.known["user"] = exchange(call)
    return {"ok": True, "view": shown(call, view, view_id=call.name("V"))}


def refuse_known_external_id(state: State, view: Json, *, but: str | None = None) -> None:
    found = state.view(view["external_id"]) if view.get("external_id") else None
    if found and found[1]["id"] != but:
        raise Refusal("duplicate_external_id")


def keep_open(state: State, row: Json) -> None:
    state.modals[row["known"]["user"]] = [row["result"]["view"]]


def push_view(call: Call) -> Json:
    view = checked(call.args.nested("view"), "modal")
    refuse_known_external_id(call.state, view)
    user = exchange(call)
    stack = call.state.modals.get(user, [])
    if not stack:
        raise Refusal("not_found")
    if len(stack) >= DEEPEST:
        raise Refusal("push_limit_reached")
    call.known["user"] = user
    return {"ok": True, "view": shown(call, view, view_id=call.name("V"), previous=stack[-1])}


def keep_push(state: State, row: Json) -> None:
    state.modals[row["known"]["user"]].append(row["result"]["view"])


def update_view(call: Call) -> Json:
    view = checked(call.args.nested("view"), "modal")
    name = call.args.text("view_id") or call.args.required("external_id")
    found = call.state.view(name)
    if found is None or found[1]["type"] != "modal":
        raise Refusal("not_found")
    user, old = found
    if (wanted := call.args.text("hash")) and wanted != old["hash"]:
        raise Refusal("hash_conflict")
    refuse_known_external_id(call.state, view, but=old["id"])
    call.known["user"] = user
    return {"ok": True, "view": replaced(call, view, old)}


def replaced(call: Call, view: Json, old: Json) -> Json:
    """The new view in the place of the old one, with what the person has typed so far in blocks that stay."""
    new = shown(call, view, view_id=old["id"])
    kept = {block["block_id"] for block in new["blocks"]}
    values = {block: value for block, value in old["state"]["values"].items() if block in kept}
    place = {key: old[key] for key in ("root_view_id", "previous_view_id")}
    return {**new, **place, "state": {"values": values}}


def keep_update(state: State, row: Json) -> None:
    stack = state.modals[row["known"]["user"]]
    stack[:] = [row["result"]["view"] if each["id"] == row["result"]["view"]["id"] else each for each in stack]


def publish(call: Call) -> Json:
    view = checked(call.args.nested("view"), "home")
    user = call.args.required("user_id")
    if user not in call.state.users:
        raise Refusal("user_not_found")
    old = call.state.homes.get(user)
    if (wanted := call.args.text("hash")) and old and wanted != old["hash"]:
        raise Refusal("hash_conflict")
    return {"ok": True, "view": shown(call, view, view_id=old["id"] if old else call.name("V"))}


def keep_home(state: State, row: Json) -> None:
    state.homes[row["args"]["user_id"]] = row["result"]["view"]


METHODS = {
    "views.open": Method(run=open_view, keep=keep_open, tier=4),
    "views.push": Method(run=push_view, keep=keep_push, tier=4),
    "views.update": Method(run=update_view, keep=keep_update, tier=4),
    "views.publish": Method(run=publish, keep=keep_home, tier=4),
}
