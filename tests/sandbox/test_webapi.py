"""The Web API as slack_sdk, which knows nothing of the stand-in, sees it."""

import urllib.request

import httpx
import pytest
from slack_sdk.errors import SlackApiError

from bot.sandbox.slack.wire import Json
from tests.sandbox.conftest import TOKEN, Sandbox

CHANNEL = "C0DATA"


def refusal(sandbox: Sandbox, method: str, **arguments: object) -> str:
    with pytest.raises(SlackApiError) as refused:
        sandbox.web.api_call(method, json=dict(arguments))
    return str(refused.value.response["error"])


def post(sandbox: Sandbox, **arguments: object) -> str:
    return str(sandbox.web.api_call("chat.postMessage", json={"channel": CHANNEL, "text": "x", **arguments})["ts"])


def test_the_token_tells_the_app_who_it_is(sandbox: Sandbox) -> None:
    answer = sandbox.web.auth_test()

    assert (answer["user_id"], answer["bot_id"], answer["team_id"]) == ("U0BOT", "B0BOT", "T0TEAM")
    assert "chat:write" in answer.headers["x-oauth-scopes"]


def test_without_the_right_token_and_scope_nothing_happens(sandbox: Sandbox) -> None:
    anonymous = httpx.post(f"{sandbox.server.url}/api/auth.test").json()
    stranger = httpx.post(f"{sandbox.server.url}/api/auth.test", headers={"authorization": "Bearer xoxb-no"}).json()
    sandbox.people.change_token(scopes=["users:read"])
    scopeless = refusal(sandbox, "chat.postMessage", channel=CHANNEL, text="x")
    sandbox.people.change_token(revoked=True)

    assert [anonymous["error"], stranger["error"], scopeless] == ["not_authed", "invalid_auth", "missing_scope"]
    assert refusal(sandbox, "auth.test") == "token_revoked"


def test_a_form_and_json_mean_the_same(sandbox: Sandbox) -> None:
    form = {"token": TOKEN, "channel": CHANNEL, "blocks": '[{"type":"divider","block_id":"d"}]'}
    answer = httpx.post(f"{sandbox.server.url}/api/chat.postMessage", data=form).json()

    assert answer["message"]["blocks"] == [{"type": "divider", "block_id": "d"}]
    assert "token" not in sandbox.people.journal()[0]["args"]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"channel": "C0NONE"}, "channel_not_found"),
        ({"channel": "#data-jobs"}, "channel_not_found"),
        ({"channel": "U0NOBODY"}, "user_not_found"),
        ({"text": ""}, "no_text"),
        ({"blocks": [{"type": "nothing"}]}, "invalid_blocks"),
        ({"blocks": "[{"}, "invalid_blocks_format"),
        ({"blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "x" * 2900}}] * 4}, "msg_blocks_too_long"),
        ({"thread_ts": "1.000001"}, "thread_not_found"),
        ({"metadata": {"event_type": "a", "event_payload": {"k": "x" * 3000}}}, "metadata_too_large"),
    ],
)
def test_a_post_that_slack_would_refuse_is_refused_by_its_name(sandbox: Sandbox, arguments: Json, error: str) -> None:
    assert refusal(sandbox, "chat.postMessage", **{"channel": CHANNEL, "text": "x", **arguments}) == error
    assert sandbox.people.journal() == []


def test_refused_blocks_name_the_pointer(sandbox: Sandbox) -> None:
    with pytest.raises(SlackApiError) as refused:
        sandbox.web.chat_postMessage(channel=CHANNEL, text="x", blocks=[{"type": "header"}])

    messages = refused.value.response["response_metadata"]["messages"]
    assert messages == ["[ERROR] missing required field: text [json-pointer:/blocks/0]"]


def test_the_bot_posts_only_where_it_may(sandbox: Sandbox) -> None:
    people = sandbox.people
    people.change_channel("C0AWAY", name="away", bot_member=False)
    people.change_channel("C0SECRET", name="secret", private=True, bot_member=False)
    people.change_channel("C0OLD", name="old", archived=True)
    errors = [refusal(sandbox, "chat.postMessage", channel=each, text="x") for each in ("C0AWAY", "C0SECRET", "C0OLD")]

    assert errors == ["not_in_channel", "channel_not_found", "is_archived"]
    assert sandbox.web.conversations_info(channel="C0OLD")["channel"]["is_archived"] is True


def test_timestamps_grow_even_while_the_clock_stands(sandbox: Sandbox) -> None:
    stamps = [post(sandbox) for _ in range(5)]

    assert stamps == sorted(set(stamps))
    assert all(len(each) == 17 and each[10] == "." for each in stamps)


def test_a_thread_reads_back_with_its_metadata_only_when_asked_for(sandbox: Sandbox) -> None:
    metadata = {"event_type": "ontrack", "event_payload": {"key": "root-1"}}
    root = post(sandbox, metadata=metadata)
    reply = post(sandbox, thread_ts=root)
    loud = post(sandbox, thread_ts=root, reply_broadcast=True)
    history = sandbox.web.conversations_history(channel=CHANNEL, include_all_metadata=True)["messages"]
    silent = sandbox.web.conversations_history(channel=CHANNEL)["messages"]
    replies = sandbox.web.conversations_replies(channel=CHANNEL, ts=root, include_all_metadata=True)["messages"]

    assert [each["ts"] for each in history] == [loud, root]
    assert history[1]["metadata"] == metadata
    assert all("metadata" not in each for each in silent)
    assert [each["ts"] for each in replies] == [root, reply, loud]
    assert (replies[0]["reply_count"], replies[0]["latest_reply"]) == (2, loud)
    assert refusal(sandbox, "conversations.replies", channel=CHANNEL, ts="1.000001") == "thread_not_found"


def test_history_pages_and_bounds(sandbox: Sandbox) -> None:
    stamps = [post(sandbox) for _ in range(5)]
    first = sandbox.web.conversations_history(channel=CHANNEL, limit=2)
    second = sandbox.web.conversations_history(
        channel=CHANNEL, limit=2, cursor=first["response_metadata"]["next_cursor"]
    )
    after = sandbox.web.conversations_history(channel=CHANNEL, oldest=stamps[2])["messages"]
    with_ends = sandbox.web.conversations_history(channel=CHANNEL, oldest=stamps[2], inclusive=True)["messages"]

    assert [each["ts"] for each in first["messages"]] == [stamps[4], stamps[3]]
    assert [each["ts"] for each in second["messages"]] == [stamps[2], stamps[1]]
    assert len(after) == 2
    assert len(with_ends) == 3


def test_an_update_changes_the_bots_own_message_in_place(sandbox: Sandbox) -> None:
    ts = post(sandbox, metadata={"event_type": "a", "event_payload": {"key": "k"}})
    said = sandbox.people.say(user="U0ANA", channel=CHANNEL, text="mine")["ts"]
    sandbox.web.chat_update(channel=CHANNEL, ts=ts, text="new")
    message = sandbox.people.messages(CHANNEL)[0]

    assert (message["ts"], message["text"], message["metadata"]["event_payload"]) == (ts, "new", {"key": "k"})
    assert message["edited"]["user"] == "U0BOT"
    assert refusal(sandbox, "chat.update", channel=CHANNEL, ts=said, text="x") == "cant_update_message"
    assert refusal(sandbox, "chat.update", channel=CHANNEL, ts="1.000001", text="x") == "message_not_found"
    assert refusal(sandbox, "chat.update", channel=CHANNEL, ts=ts, text="x" * 4001) == "msg_too_long"


def test_a_deleted_root_with_replies_leaves_a_tombstone_and_one_without_lets_replies_loose(sandbox: Sandbox) -> None:
    talked, silent = post(sandbox), post(sandbox)
    post(sandbox, thread_ts=talked)
    for ts in (talked, silent):
        sandbox.people.delete(channel=CHANNEL, ts=ts)
    post(sandbox, thread_ts=talked)
    leaked = post(sandbox, thread_ts=silent)
    shown = sandbox.people.messages(CHANNEL)

    assert [each.get("subtype") for each in shown] == ["tombstone", None]
    assert shown[1]["ts"] == leaked
    assert refusal(sandbox, "chat.update", channel=CHANNEL, ts=talked, text="x") == "message_not_found"


def test_only_one_person_sees_a_whisper_and_history_never_has_it(sandbox: Sandbox) -> None:
    sandbox.web.chat_postEphemeral(channel=CHANNEL, user="U0SAM", text="psst")

    assert [each["text"] for each in sandbox.people.ephemerals("U0SAM")] == ["psst"]
    assert sandbox.people.ephemerals("U0ANA") == []
    assert sandbox.web.conversations_history(channel=CHANNEL)["messages"] == []
    sandbox.people.change_channel(CHANNEL, members=["U0ANA"])
    assert refusal(sandbox, "chat.postEphemeral", channel=CHANNEL, user="U0SAM", text="x") == "user_not_in_channel"


def test_a_direct_conversation_opens_once(sandbox: Sandbox) -> None:
    opened = sandbox.web.conversations_open(users="U0ANA")["channel"]["id"]
    posted = sandbox.web.chat_postMessage(channel="U0ANA", text="hello")["channel"]
    again = sandbox.web.conversations_open(users=["U0ANA"])["channel"]["id"]

    assert opened == posted == again
    assert [each["text"] for each in sandbox.people.messages(opened)] == ["hello"]


def test_people_and_groups_are_found_by_id_and_address(sandbox: Sandbox) -> None:
    sandbox.people.change_people(
        users=[{"id": "U0GONE", "name": "gone", "email": "gone@example.com", "deleted": True}],
        usergroups=[{"id": "S0OFF", "handle": "off", "disabled": True}],
    )

    assert sandbox.web.users_lookupByEmail(email="Ana@example.com")["user"]["id"] == "U0ANA"
    assert sandbox.web.users_info(user="U0GONE")["user"]["deleted"] is True
    assert sandbox.web.usergroups_users_list(usergroup="S0DATA")["users"] == ["U0BEN"]
    assert [each["id"] for each in sandbox.web.usergroups_list()["usergroups"]] == ["S0DATA"]
    assert refusal(sandbox, "users.lookupByEmail", email="gone@example.com") == "users_not_found"
    assert refusal(sandbox, "users.info", user="U0NONE") == "user_not_found"
    assert refusal(sandbox, "usergroups.users.list", usergroup="S0OFF") == "no_such_subteam"
    assert "U0BOT" in sandbox.web.conversations_members(channel=CHANNEL)["members"]


def test_a_file_goes_the_official_way_into_a_thread(sandbox: Sandbox) -> None:
    root = post(sandbox)
    shared = sandbox.web.files_upload_v2(
        content="a\nb\n", filename="run.log", title="Log", snippet_type="text", channel=CHANNEL, thread_ts=root
    )["files"][0]
    reply = sandbox.people.thread(CHANNEL, root)[1]
    info = sandbox.web.files_info(file=shared["id"])
    with urllib.request.urlopen(info["file"]["url_private"]) as fetched:
        content = fetched.read()

    assert (reply["files"][0]["title"], reply["files"][0]["size"]) == ("Log", 4)
    assert info["file"]["shares"]["public"][CHANNEL] == [{"ts": reply["ts"], "thread_ts": root}]
    assert content == b"a\nb\n"


def test_a_file_of_another_length_or_without_bytes_is_refused(sandbox: Sandbox) -> None:
    place = sandbox.web.files_getUploadURLExternal(filename="a.txt", length=3)
    early = refusal(sandbox, "files.completeUploadExternal", files=[{"id": place["file_id"]}], channel_id=CHANNEL)
    short = httpx.post(place["upload_url"], content=b"ab")

    assert early == "missing_file_data"
    assert (short.status_code, short.json()["error"]) == (400, "length_mismatch")


def test_a_permalink_leads_to_the_message(sandbox: Sandbox) -> None:
    root = post(sandbox)
    reply = post(sandbox, thread_ts=root)
    link = sandbox.web.chat_getPermalink(channel=CHANNEL, message_ts=reply)["permalink"]

    assert link.endswith(f"/archives/{CHANNEL}/p{reply.replace('.', '')}?thread_ts={root}&cid={CHANNEL}")
    assert httpx.get(link).status_code == 200


def test_blocks_validate_tells_each_problem(sandbox: Sandbox) -> None:
    good = sandbox.web.api_call("blocks.validate", json={"blocks": [{"type": "divider"}]})
    with pytest.raises(SlackApiError) as refused:
        sandbox.web.api_call("blocks.validate", json={"blocks": [{"type": "header"}, {"type": "nothing"}]})

    assert good["errors"] == []
    assert [each["pointer"] for each in refused.value.response["errors"]] == ["/blocks/0", "/blocks/1/type"]


def test_an_unknown_method_and_an_unreadable_body_are_named(sandbox: Sandbox) -> None:
    url, headers = f"{sandbox.server.url}/api/chat.postMessage", {"authorization": f"Bearer {TOKEN}"}

    assert refusal(sandbox, "chat.shout") == "unknown_method"
    assert refusal(sandbox, "chat.postMessage", text="x") == "invalid_arguments"
    for body, kind, error in [
        (b"{", "application/json", "invalid_json"),
        (b"[1]", "application/json", "json_not_object"),
        (b"\xff\xfe", "application/json", "invalid_json"),
        (b"x", "text/plain", "invalid_post_type"),
    ]:
        answer = httpx.post(url, content=body, headers={**headers, "content-type": kind}).json()

        assert (answer["ok"], answer["error"]) == (False, error)
