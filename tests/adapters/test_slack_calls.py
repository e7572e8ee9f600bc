"""What exactly is sent to Slack, and what is read from its answers."""

from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from bot.adapters.slack import SlackChat
from bot.adapters.slack_people import AuthInfo, SlackUser
from bot.ports import Chat, ChatFile, ChatMessage, SendFailed
from bot.wire.proxies import proxy_for
from tests.adapters.conftest import NOW
from tests.adapters.peer import Peer, said

BLOCKS: tuple[dict[str, Any], ...] = ({"type": "section", "text": {"type": "plain_text", "text": "Übersicht 日本 🚦"}},)
MESSAGE = ChatMessage(key="occurrence-7/root", text="Übersicht 日本 🚦", blocks=BLOCKS)
SINCE = datetime(2026, 11, 30, 3, 0, tzinfo=UTC)
METADATA = {"event_type": "ontrack_message", "event_payload": {"key": "occurrence-7/root"}}
SELF = {"ok": True, "user_id": "UBOT", "team_id": "T1", "team": "Acme", "bot_id": "BBOT", "url": "https://acme.test/"}


def test_the_adapter_is_a_chat(chat: SlackChat) -> None:
    port: Chat = chat

    assert port is chat


def test_a_post_is_literal_unpreviewed_and_carries_its_key(peer: Peer, chat: SlackChat) -> None:
    peer.will("chat.postMessage", said({"ok": True, "ts": "1700000000.000100"}))
    ts = chat.post(channel="C1", message=MESSAGE)
    (call,) = peer.calls("chat.postMessage")

    assert ts == "1700000000.000100"
    assert call.headers["Authorization"] == "Bearer xoxb-test"
    assert call.headers["Content-Type"] == "application/json; charset=utf-8"
    assert call.json == {
        "channel": "C1",
        "text": "Übersicht 日本 🚦",
        "blocks": list(BLOCKS),
        "metadata": METADATA,
        "link_names": False,
        "parse": "none",
        "unfurl_links": False,
        "unfurl_media": False,
    }


PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@pytest.fixture
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    return monkeypatch


def test_the_proxy_of_the_environment_is_used(peer: Peer, bare_environment: pytest.MonkeyPatch) -> None:
    bare_environment.setenv("HTTP_PROXY", f"me:secret@127.0.0.1:{peer.server_port}")
    peer.scripts["http://slack.test/api/chat.postMessage"].append(said({"ok": True, "ts": "1.0"}))
    chat = SlackChat(token="xoxb-test", base_url="http://slack.test/api/", clock=lambda: NOW)

    assert chat.post(channel="C1", message=MESSAGE) == "1.0"
    assert peer.received[0].headers["Proxy-Authorization"] == "Basic bWU6c2VjcmV0"
    chat.close()


def test_a_proxy_keeps_its_password_and_steps_aside_where_told(bare_environment: pytest.MonkeyPatch) -> None:
    bare_environment.setenv("HTTPS_PROXY", "http://me:secret@proxy.test:3128")
    proxy = proxy_for(httpx.URL("https://slack.com/api/"))
    bare_environment.setenv("NO_PROXY", "slack.com")

    assert proxy is not None
    assert (proxy.url.host, proxy.url.port, proxy.auth) == (b"proxy.test", 3128, (b"me", b"secret"))
    assert proxy_for(httpx.URL("https://slack.com/api/")) is None


def test_a_workspace_on_this_machine_is_spoken_to_without_a_proxy(
    peer: Peer, bare_environment: pytest.MonkeyPatch
) -> None:
    bare_environment.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    bare_environment.setenv("ALL_PROXY", "http://127.0.0.1:9")
    peer.will("chat.postMessage", said({"ok": True, "ts": "1.0"}))
    chat = SlackChat(token="xoxb-test", base_url=peer.url.removesuffix("/"), clock=lambda: NOW)

    assert chat.post(channel="C1", message=MESSAGE) == "1.0"
    chat.close()


@pytest.mark.parametrize("broadcast", [True, False])
def test_a_reply_is_shown_in_the_channel_only_where_asked(peer: Peer, chat: SlackChat, broadcast: bool) -> None:
    peer.will("chat.postMessage", said({"ok": True, "ts": "2.0"}))
    chat.post(channel="C1", message=ChatMessage(key="k", text="t", blocks=(), thread_ts="1.0", broadcast=broadcast))
    body = peer.calls("chat.postMessage")[0].json

    assert (body["thread_ts"], body["reply_broadcast"]) == ("1.0", broadcast)


def test_an_update_carries_the_key_too(peer: Peer, chat: SlackChat) -> None:
    chat.update(channel="C1", ts="1.0", message=MESSAGE)
    body = peer.calls("chat.update")[0].json

    assert (body["channel"], body["ts"], body["metadata"], body["blocks"]) == ("C1", "1.0", METADATA, list(BLOCKS))
    assert (body["link_names"], body["parse"]) == (False, "none")


def test_half_of_a_character_is_replaced_and_the_rest_arrives(peer: Peer, chat: SlackChat) -> None:
    peer.will("chat.postMessage", said({"ok": True, "ts": "1.0"}))
    chat.post(channel="C1", message=ChatMessage(key="k", text="broken \ud83d here", blocks=()))

    assert peer.calls("chat.postMessage")[0].json["text"] == "broken ? here"


def test_a_megabyte_goes_up_whole_and_the_token_stays_at_home(peer: Peer, chat: SlackChat) -> None:
    text = "zeile é\n" * 120_000
    peer.will("files.getUploadURLExternal", said({"ok": True, "upload_url": f"{peer.url}put?to=F1", "file_id": "F1"}))
    peer.will("put?to=F1", said(b"OK - 1080000"))
    file_id = chat.upload(channel="C1", thread_ts="1.0", file=ChatFile(name="k.log", title="Whole log", text=text))
    (asked,), (put,), (shared,) = (
        peer.calls(step) for step in ("files.getUploadURLExternal", "put?to=F1", "files.completeUploadExternal")
    )

    assert file_id == "F1"
    assert asked.form == {"filename": "k.log", "length": str(len(text.encode()))}
    assert put.content == text.encode()
    assert "Authorization" not in put.headers
    assert shared.json == {"files": [{"id": "F1", "title": "Whole log"}], "channel_id": "C1", "thread_ts": "1.0"}
    assert peer.connections == 1


def page(*messages: dict[str, Any], cursor: str = "") -> dict[str, Any]:
    return {"ok": True, "messages": list(messages), "response_metadata": {"next_cursor": cursor}}


def test_a_look_reads_every_page_until_it_finds_our_own_message(peer: Peer, chat: SlackChat) -> None:
    peer.will("auth.test", said(SELF))
    peer.will(
        "conversations.history",
        said(page({"ts": "9.0", "user": "U1", "metadata": METADATA}, {"ts": "8.0", "bot_id": "BBOT"}, cursor="two")),
        said(
            page(
                {"ts": "7.0", "bot_id": "BBOT", "metadata": {**METADATA, "event_payload": {"key": "another"}}},
                {"ts": "6.0", "bot_id": "BBOT", "metadata": {**METADATA, "event_type": "theirs"}},
                {"ts": "5.0", "bot_id": "BBOT", "metadata": METADATA},
            )
        ),
    )
    found = chat.find(channel="C1", key="occurrence-7/root", thread_ts=None, since=SINCE)
    first, second = (call.form for call in peer.calls("conversations.history"))

    assert found == "5.0"
    assert first == {"channel": "C1", "oldest": "1796007540.000000", "limit": "200", "include_all_metadata": "true"}
    assert second == {**first, "cursor": "two"}


def test_a_look_that_found_nothing_has_read_to_the_end(peer: Peer, chat: SlackChat) -> None:
    peer.will("auth.test", said(SELF))
    peer.will("conversations.replies", said(page({"ts": "1.0", "bot_id": "BBOT"}, cursor="two")), said(page()))

    assert chat.find(channel="C1", key="occurrence-7/root", thread_ts="1.0", since=SINCE) is None
    assert [call.form["ts"] for call in peer.calls("conversations.replies")] == ["1.0", "1.0"]


def test_a_cursor_that_leads_nowhere_is_a_look_that_failed(peer: Peer, chat: SlackChat) -> None:
    peer.will("auth.test", said(SELF))
    peer.will("conversations.history", *[said(page(cursor="again"))] * 3)
    with pytest.raises(SendFailed):
        chat.find(channel="C1", key="k", thread_ts=None, since=SINCE)

    assert len(peer.calls("conversations.history")) == 2


def test_where_the_root_is_gone_the_look_goes_on_in_the_channel(peer: Peer, chat: SlackChat) -> None:
    peer.will("auth.test", said(SELF))
    peer.will("conversations.replies", *[said({"ok": False, "error": "thread_not_found"})] * 2)
    loose = {"ts": "2.0", "thread_ts": "1.0", "bot_id": "BBOT", "metadata": METADATA}
    peer.will("conversations.history", *[said(page(loose))] * 2)
    keys = ("occurrence-7/root", "another")

    assert [chat.find(channel="C1", key=key, thread_ts="1.0", since=SINCE) for key in keys] == ["2.0", None]


def test_a_look_for_a_file_passes_by_the_files_of_others(peer: Peer, chat: SlackChat) -> None:
    peer.will("auth.test", said(SELF))
    theirs = {"ts": "2.0", "user": "U1", "files": [{"id": "F1", "name": "k.log"}]}
    deleted = {"ts": "3.0", "user": "UBOT", "files": [{"id": "F2", "mode": "tombstone"}]}
    ours = {"ts": "4.0", "user": "UBOT", "files": [{"id": "F3", "name": "other.log"}, {"id": "F4", "name": "k.log"}]}
    peer.will("conversations.replies", said(page(theirs, deleted, ours)))

    assert chat.find_file(channel="C1", name="k.log", thread_ts="1.0", since=SINCE) == "F4"


def test_who_we_are_is_asked_once_for_all_looks(peer: Peer, chat: SlackChat) -> None:
    peer.will("auth.test", said(SELF))
    peer.will("conversations.history", *[said(page())] * 3)
    for _ in range(3):
        chat.find(channel="C1", key="k", thread_ts=None, since=SINCE)

    assert len(peer.calls("auth.test")) == 1


def test_a_direct_conversation_is_opened_once_a_user(peer: Peer, chat: SlackChat) -> None:
    peer.will(
        "conversations.open", said({"ok": True, "channel": {"id": "D1"}}), said({"ok": True, "channel": {"id": "D2"}})
    )
    channels = [chat.open_direct(user=user) for user in ("U1", "U2", "U1")]

    assert channels == ["D1", "D2", "D1"]
    assert [call.form for call in peer.calls("conversations.open")] == [{"users": "U1"}, {"users": "U2"}]


def test_views_and_private_words_go_out_as_given(peer: Peer, chat: SlackChat) -> None:
    view = {"type": "modal", "title": {"type": "plain_text", "text": "Fixed"}, "blocks": []}
    peer.will("views.open", said({"ok": True, "view": {"id": "V1"}}))
    opened = chat.open_view(trigger_id="1.2.x", view=view)
    chat.update_view(view_id="V1", view=view)
    chat.publish_home(user="U1", view=view)
    chat.ephemeral(channel="C1", user="U1", text="Only Finance decides", blocks=BLOCKS, thread_ts="1.0")

    assert opened == "V1"
    assert peer.calls("views.open")[0].json == {"trigger_id": "1.2.x", "view": view}
    assert peer.calls("views.update")[0].json == {"view_id": "V1", "view": view}
    assert peer.calls("views.publish")[0].json == {"user_id": "U1", "view": view}
    assert peer.calls("chat.postEphemeral")[0].json == {
        "channel": "C1",
        "user": "U1",
        "text": "Only Finance decides",
        "blocks": list(BLOCKS),
        "thread_ts": "1.0",
        "link_names": False,
        "parse": "none",
    }


def test_a_click_that_came_too_late_is_told_and_not_repeated(peer: Peer, chat: SlackChat) -> None:
    peer.will("views.open", said({"ok": False, "error": "expired_trigger_id"}))
    with pytest.raises(SendFailed, match="expired_trigger_id") as failed:
        chat.open_view(trigger_id="old", view={})

    assert failed.value.permanent
    assert len(peer.calls("views.open")) == 1


def test_the_token_tells_whom_it_speaks_for_and_what_it_may(peer: Peer, chat: SlackChat) -> None:
    peer.will("auth.test", said(SELF, headers={"X-OAuth-Scopes": "chat:write, users:read"}))

    assert chat.auth() == AuthInfo(
        user_id="UBOT",
        bot_id="BBOT",
        app_id=None,
        team_id="T1",
        team="Acme",
        url="https://acme.test/",
        scopes=frozenset({"chat:write", "users:read"}),
    )


def test_a_revoked_token_is_told_each_time_it_is_asked_about(peer: Peer, chat: SlackChat) -> None:
    peer.will("auth.test", said(SELF), said({"ok": False, "error": "token_revoked"}))
    chat.auth()
    with pytest.raises(SendFailed, match="token_revoked"):
        chat.auth()


@pytest.mark.parametrize(
    ("told", "name", "seen"),
    [
        (
            {"profile": {"real_name": "Ana Ivanović", "email": "ana@example.com"}},
            "Ana Ivanović",
            {"email": "ana@example.com"},
        ),
        ({"real_name": "Ana", "profile": {"real_name": ""}, "tz": "Europe/Belgrade"}, "Ana", {"tz": "Europe/Belgrade"}),
        ({"name": "ana", "deleted": True}, "ana", {"deleted": True}),
        ({"name": "bot", "is_bot": True}, "bot", {"bot": True}),
        ({"name": "g", "is_restricted": True}, "g", {"guest": True}),
        ({"name": "g", "is_restricted": True, "is_ultra_restricted": True}, "g", {"guest": True}),
        ({"name": "s", "is_stranger": True}, "s", {"stranger": True}),
        ({}, "U1", {}),
    ],
)
def test_a_user_is_read_with_all_that_bars_them_from_deciding(
    peer: Peer, chat: SlackChat, told: dict[str, Any], name: str, seen: dict[str, Any]
) -> None:
    peer.will("users.info", said({"ok": True, "user": {"id": "U1", **told}}))
    plain = {"email": None, "deleted": False, "bot": False, "guest": False, "stranger": False, "tz": None}

    assert chat.user("U1") == SlackUser(id="U1", name=name, **{**plain, **seen})


def test_nobody_is_none_and_a_failure_is_not(peer: Peer, chat: SlackChat) -> None:
    peer.will("users.info", said({"ok": False, "error": "user_not_found"}))
    peer.will("users.lookupByEmail", said({"ok": False, "error": "users_not_found"}), said(b"", status=500))

    assert chat.user("U404") is None
    assert chat.user_by_email("nobody+ä@example.com") is None
    assert peer.calls("users.lookupByEmail")[0].form == {"email": "nobody+ä@example.com"}
    with pytest.raises(SendFailed):
        chat.user_by_email("nobody@example.com")


def test_an_empty_group_is_not_a_missing_one(peer: Peer, chat: SlackChat) -> None:
    peer.will(
        "usergroups.users.list",
        said({"ok": True, "users": ["U1", "U2"]}),
        said({"ok": True, "users": []}),
        said({"ok": False, "error": "no_such_subteam"}),
    )

    assert [chat.group_members("S1") for _ in range(3)] == [("U1", "U2"), (), None]
