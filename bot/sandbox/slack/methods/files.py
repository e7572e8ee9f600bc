"""The files.* methods: ask for a place, send the bytes there, share the file; it must not look into the bytes."""

import base64
from typing import Any

from bot.sandbox.slack.blocks import check_message
from bot.sandbox.slack.methods.channels import writable
from bot.sandbox.slack.methods.chat import identified, refuse_bad_thread, refuse_message, signed
from bot.sandbox.slack.state import State
from bot.sandbox.slack.wire import Call, Json, Method, Refusal

BIGGEST = 1_000_000_000
KINDS = {"txt": "text", "log": "text", "diff": "diff", "json": "json", "csv": "csv", "py": "python", "png": "png"}


def upload_url(call: Call) -> Json:
    name = call.args.required("filename")
    length = call.args.number("length", otherwise=0, most=BIGGEST)
    if length < 1:
        raise Refusal("invalid_arguments", messages=["[ERROR] must be more than 0 [json-pointer:/length]"])
    file_id = call.name("F")
    call.known["file"] = {
        "id": file_id,
        "name": name,
        "title": name,
        "length": length,
        "filetype": call.args.text("snippet_type") or KINDS.get(name.rpartition(".")[2], "binary"),
        "alt_txt": call.args.text("alt_txt") or "",
        "created": int(call.now.timestamp()),
    }
    return {"ok": True, "upload_url": f"{call.url}/upload/v1/{file_id}", "file_id": file_id}


def keep_place(state: State, row: Json) -> None:
    state.files[row["result"]["file_id"]] = {**row["known"]["file"], "state": "waiting", "content": "", "shares": []}


def keep_bytes(state: State, row: Json) -> None:
    state.files[row["args"]["file"]].update(state="uploaded", content=row["args"]["content"])


def encoded(body: bytes) -> str:
    return base64.b64encode(body).decode()


def decoded(file: Json) -> bytes:
    return base64.b64decode(file["content"])


def complete(call: Call) -> Json:
    wanted = call.args.nested("files")
    if not isinstance(wanted, list) or not wanted:
        raise Refusal("invalid_arguments", messages=["[ERROR] missing required field: files"])
    files = [titled(call, each) for each in wanted]
    channels = [call.args.text("channel_id")] if call.args.text("channel_id") else call.args.words("channels")
    shared = [message_with(call, str(channel), files, index) for index, channel in enumerate(channels)]
    call.known["messages"] = shared
    return {"ok": True, "files": [described(call, each) for each in files]}


def titled(call: Call, wanted: Any) -> Json:
    file_id = wanted.get("id") if isinstance(wanted, dict) else None
    file = call.state.files.get(str(file_id))
    if file is None:
        raise Refusal("file_not_found")
    if file["state"] == "waiting":
        raise Refusal("missing_file_data")
    if file["state"] == "shared":
        raise Refusal("file_already_completed")
    return {**file, "title": str(wanted.get("title") or file["title"])}


def message_with(call: Call, channel_id: str, files: list[Json], index: int) -> Json:
    """The message that shows the files in this channel or thread."""
    channel = writable(call.state, channel_id)
    thread_ts = call.args.text("thread_ts")
    if thread_ts:
        refuse_bad_thread(channel, thread_ts)
    blocks = call.args.nested("blocks", error="invalid_blocks_format")
    words = call.args.text("initial_comment") or ""
    refuse_message(check_message({"text": words or "-", "blocks": blocks}))
    return {
        "channel": channel.id,
        "message": {
            **signed(call),
            "text": words,
            **({"blocks": identified(blocks, call)} if blocks else {}),
            "files": [described(call, each) for each in files],
            "upload": False,
            "ts": call.fresh_ts(index),
            **({"thread_ts": thread_ts} if thread_ts else {}),
        },
    }


def keep_shared(state: State, row: Json) -> None:
    for shared in row["known"]["messages"]:
        message = shared["message"]
        state.channels[shared["channel"]].messages[message["ts"]] = message
        state.passed(message["ts"])
    for each in row["result"]["files"]:
        file = state.files[each["id"]]
        file.update(state="shared", title=each["title"])
        file["shares"] += [
            {"channel": one["channel"], "ts": one["message"]["ts"], "thread_ts": one["message"].get("thread_ts")}
            for one in row["known"]["messages"]
        ]


def described(call: Call, file: Json) -> Json:
    """A file as files.info shows it."""
    kept = call.state.files.get(file["id"], file)
    public: Json = {}
    for share in kept.get("shares", []):
        entry = {key: share[key] for key in ("ts", "thread_ts") if share.get(key)}
        public.setdefault(share["channel"], []).append(entry)
    return {
        "id": file["id"],
        "created": file["created"],
        "name": file["name"],
        "title": file["title"],
        "filetype": file["filetype"],
        "mimetype": "text/plain" if file["filetype"] != "png" else "image/png",
        "mode": "snippet" if file["filetype"] not in ("png", "binary") else "hosted",
        "size": file["length"],
        "user": call.state.bot_user(),
        "alt_txt": file["alt_txt"],
        "url_private": f"{call.url}/files/{file['id']}",
        "permalink": f"{call.url}/files/{file['id']}",
        "shares": {"public": public} if public else {},
    }


def file_info(call: Call) -> Json:
    file = call.state.files.get(call.args.required("file"))
    if file is None or file["state"] == "waiting":
        raise Refusal("file_not_found")
    content = decoded(file).decode(errors="replace") if file["filetype"] != "png" else None
    return {"ok": True, "file": described(call, file), "content": content}


METHODS = {
    "files.getUploadURLExternal": Method(run=upload_url, keep=keep_place, scopes=("files:write",), tier=4),
    "files.completeUploadExternal": Method(run=complete, keep=keep_shared, scopes=("files:write",), tier=4),
    "files.info": Method(run=file_info, scopes=("files:read",), tier=4),
}
