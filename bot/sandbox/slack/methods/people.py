"""The auth, users and usergroups methods: who is there; it must keep nothing."""

from bot.sandbox.slack.wire import Call, Json, Method, Refusal


def auth_test(call: Call) -> Json:
    bot, team = call.state.bot, call.state.team
    return {
        "ok": True,
        "url": f"{call.url}/",
        "team": team["name"],
        "team_id": team["id"],
        "user": bot["name"],
        "user_id": bot["user_id"],
        "bot_id": bot["bot_id"],
        "is_enterprise_install": False,
    }


def public(call: Call, user: Json) -> Json:
    """A user as the API shows one: the sandbox's own `role` stays inside, the address needs its scope."""
    profile = dict(user["profile"])
    if "users:read.email" not in call.state.scopes:
        profile.pop("email", None)
    shown = {key: value for key, value in user.items() if key != "role"}
    return {**shown, "team_id": call.state.team["id"], "profile": profile}


def user_info(call: Call) -> Json:
    user = call.state.users.get(call.args.required("user"))
    if user is None:
        raise Refusal("user_not_found")
    return {"ok": True, "user": public(call, user)}


def user_list(call: Call) -> Json:
    limit = call.args.number("limit", otherwise=1000, most=1000) or 1000
    cursor = call.args.text("cursor") or "0"
    if not cursor.isdecimal():
        raise Refusal("invalid_cursor")
    start = int(cursor)
    everyone = list(call.state.users.values())
    more = str(start + limit) if start + limit < len(everyone) else ""
    members = [public(call, each) for each in everyone[start : start + limit]]
    return {"ok": True, "members": members, "response_metadata": {"next_cursor": more}}


def user_by_email(call: Call) -> Json:
    email = call.args.required("email").casefold()
    for user in call.state.users.values():
        if user["profile"].get("email", "").casefold() == email and not user["deleted"]:
            return {"ok": True, "user": public(call, user)}
    raise Refusal("users_not_found")


def usergroup_list(call: Call) -> Json:
    with_users = call.args.flag("include_users")
    shown = []
    for group in call.state.usergroups.values():
        if group["date_delete"] and not call.args.flag("include_disabled"):
            continue
        counted = {**group, "is_usergroup": True, "team_id": call.state.team["id"], "user_count": len(group["users"])}
        shown.append(counted if with_users else {key: value for key, value in counted.items() if key != "users"})
    return {"ok": True, "usergroups": shown}


def usergroup_users(call: Call) -> Json:
    group = call.state.usergroups.get(call.args.required("usergroup"))
    if group is None or (group["date_delete"] and not call.args.flag("include_disabled")):
        raise Refusal("no_such_subteam")
    return {"ok": True, "users": list(group["users"])}


METHODS = {
    "auth.test": Method(run=auth_test, tier=0),
    "users.info": Method(run=user_info, scopes=("users:read",), tier=4),
    "users.list": Method(run=user_list, scopes=("users:read",), tier=2),
    "users.lookupByEmail": Method(run=user_by_email, scopes=("users:read.email",)),
    "usergroups.list": Method(run=usergroup_list, scopes=("usergroups:read",), tier=2),
    "usergroups.users.list": Method(run=usergroup_users, scopes=("usergroups:read",), tier=2),
}
