"""Answers that come to a response URL or back from a slash command, as messages; it must not open connections."""

from bot.sandbox.slack.blocks import check_message
from bot.sandbox.slack.methods.chat import identified, refuse_message, signed
from bot.sandbox.slack.wire import Call, Json, Refusal

MOST_USES = 5


def answer_url(call: Call) -> Json:
    """POST to a response URL: `response` names it, `body` is what was sent."""
    kept = call.state.response_urls.get(call.args.required("response"))
    if kept is None or call.now >= kept.expires_at:
        raise Refusal("expired_url")
    if kept.uses >= MOST_USES:
        raise Refusal("used_url")
    body = call.args.values["body"]
    call.known["channel"] = kept.channel
    if body.get("delete_original"):
        call.known["removed"] = kept.ts
        return {"ok": True}
    message = message_of(call, body, user=kept.user, channel=kept.channel)
    if body.get("replace_original") and kept.ts:
        return replace_original(call, message, ts=kept.ts)
    thread_ts = body.get("thread_ts") or (kept.thread_ts if message.get("to") else None)
    call.known["message"] = {**message, **({"thread_ts": thread_ts} if thread_ts else {})}
    return {"ok": True}


def answer_command(call: Call) -> Json:
    """The body that the app answered a slash command with."""
    values = call.args.values
    call.known["channel"] = values["channel"]
    call.known["message"] = message_of(call, values["body"], user=values["user"], channel=values["channel"])
    return {"ok": True}


def replace_original(call: Call, message: Json, *, ts: str) -> Json:
    """Put the message in the place of the one that was clicked, seen by the same people."""
    channel = call.state.channels[call.known["channel"]]
    whispered = next((each for each in call.state.ephemerals if each["ts"] == ts), None)
    original = whispered or channel.messages.get(ts)
    if original is None:
        raise Refusal("message_not_found")
    same = {key: original[key] for key in ("ts", "to", "thread_ts", "metadata") if original.get(key)}
    seen_by_all = {} if whispered else {"edited": {"user": call.state.bot_user(), "ts": call.fresh_ts()}}
    content = {key: value for key, value in message.items() if key != "to"}
    call.known["message"] = {**content, **same, **seen_by_all}
    return {"ok": True}


def message_of(call: Call, body: Json, *, user: str, channel: str) -> Json:
    problems = [each for each in check_message(body) if each.code != "msg_blocks_too_long"]
    refuse_message(problems)
    kind = body.get("response_type", "ephemeral")
    if kind not in ("ephemeral", "in_channel"):
        raise Refusal("invalid_arguments", messages=["[ERROR] must be ephemeral or in_channel"])
    return {
        **signed(call),
        "text": body.get("text") or "",
        **({"blocks": identified(body["blocks"], call)} if body.get("blocks") else {}),
        "ts": call.fresh_ts(),
        "channel": channel,
        **({"to": user} if kind == "ephemeral" else {}),
    }
