"""The adapter against the strict stand-in for Slack: what its journal accepted, and what is found again."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from bot.adapters.slack import SlackChat
from bot.ports import ChatFile, ChatMessage, SendFailed
from bot.sandbox.slack.app import build_app
from bot.sandbox.slack.server import serve

NOW = datetime(2026, 11, 30, 3, 12, tzinfo=UTC)
BEFORE = NOW - timedelta(seconds=5)
SEED: dict[str, Any] = {
    "team": {"id": "T0TEAM", "name": "Example", "domain": "example"},
    "users": [
        {"id": "U0ANA", "name": "ana", "real_name": "Ana Ivanović", "email": "ana@example.com", "role": "owner"},
        {"id": "U0LEFT", "name": "left", "real_name": "Left", "email": "left@example.com", "deleted": True},
    ],
    "usergroups": [{"id": "S0ONCALL", "handle": "oncall", "name": "On call", "users": ["U0ANA"]}],
    "channels": [
        {"id": "C0DATA", "name": "data", "members": ["U0ANA"]},
        {"id": "C0ELSE", "name": "else", "members": ["U0ANA"], "bot_member": False},
    ],
    "bot": {"user_id": "U0BOT", "bot_id": "B0BOT", "app_id": "A0APP", "token": "xoxb-sandbox"},
}
VIEW: dict[str, Any] = {
    "type": "home",
    "blocks": [{"type": "header", "text": {"type": "plain_text", "text": "Nothing is owed"}}],
}


@dataclass(frozen=True, slots=True)
class StandIn:
    """The workspace from the outside."""

    url: str
    control: httpx.Client

    def tell(self, what: str, **wish: Any) -> Any:
        answer = self.control.post(f"{self.url}/control/{what}", json=wish).json()
        assert answer["ok"], answer
        return answer

    def accepted(self, method: str) -> list[Any]:
        rows = self.control.get(f"{self.url}/control/journal").json()["rows"]
        return [row for row in rows if row["method"] == method]


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    app = build_app(callback="http://127.0.0.1:9/slack/events", signing_secret="s", clock=lambda: NOW, seed=SEED)
    server = serve(app)
    with httpx.Client(trust_env=False) as control:
        yield StandIn(server.url, control)
    server.stop()


@pytest.fixture
def chat(stand_in: StandIn) -> Iterator[SlackChat]:
    adapter = SlackChat(token="xoxb-sandbox", base_url=f"{stand_in.url}/api/", clock=lambda: NOW)
    yield adapter
    adapter.close()


@pytest.fixture
def hasty(stand_in: StandIn) -> Iterator[SlackChat]:
    """Waits for an answer half a second at most, so that a test of silence is over soon."""
    with httpx.Client(timeout=httpx.Timeout(5.0, read=0.5), trust_env=False) as client:
        yield SlackChat(token="xoxb-sandbox", base_url=f"{stand_in.url}/api/", clock=lambda: NOW, client=client)


def message(key: str, text: str = "Fällig 日本 🚦", thread_ts: str | None = None, **more: Any) -> ChatMessage:
    block = {"type": "section", "text": {"type": "plain_text", "text": text}}
    return ChatMessage(key=key, text=text, blocks=(block,), thread_ts=thread_ts, **more)


def refused(send: Callable[[], object]) -> SendFailed:
    with pytest.raises(SendFailed) as failed:
        send()
    return failed.value


def test_a_thread_is_posted_updated_and_found_by_key(chat: SlackChat) -> None:
    root = chat.post(channel="C0DATA", message=message("root"))
    reply = chat.post(channel="C0DATA", message=message("reply", thread_ts=root))
    loud = chat.post(channel="C0DATA", message=message("loud", thread_ts=root, broadcast=True))
    chat.update(channel="C0DATA", ts=root, message=message("root", text="Erledigt ✅"))

    def found(key: str, thread_ts: str | None) -> str | None:
        return chat.find(channel="C0DATA", key=key, thread_ts=thread_ts, since=BEFORE)

    assert (found("root", None), found("reply", root), found("loud", root)) == (root, reply, loud)
    assert (found("reply", None), found("other", root), found("other", None)) == (None, None, None)


def test_what_slack_keeps_is_what_was_said(chat: SlackChat, stand_in: StandIn) -> None:
    chat.post(channel="C0DATA", message=message("root", text="Zeile é 日本 🚦 <!channel> & *x*"))
    (row,) = stand_in.accepted("chat.postMessage")

    assert row["result"]["message"]["text"] == "Zeile é 日本 🚦 <!channel> & *x*"
    assert row["result"]["message"]["metadata"] == {
        "event_type": "ontrack_message",
        "event_payload": {"key": "root"},
    }


@pytest.mark.scenario(3)
@pytest.mark.parametrize("lost", ["drop", "hang"])
def test_a_post_whose_answer_was_lost_is_found_and_stands_once(hasty: SlackChat, stand_in: StandIn, lost: str) -> None:
    stand_in.tell("faults", method="chat.postMessage", after=lost)
    failed = refused(lambda: hasty.post(channel="C0DATA", message=message("root")))
    found = hasty.find(channel="C0DATA", key="root", thread_ts=None, since=BEFORE)
    (row,) = stand_in.accepted("chat.postMessage")

    assert (failed.permanent, failed.uncertain) == (False, True)
    assert found == row["result"]["ts"]


@pytest.mark.parametrize("fault", [{"before": "drop"}, {"before": "hang"}, {"status": 500}])
def test_a_post_that_never_arrived_is_surely_not_there(
    hasty: SlackChat, stand_in: StandIn, fault: dict[str, Any]
) -> None:
    stand_in.tell("faults", method="chat.postMessage", **fault)
    failed = refused(lambda: hasty.post(channel="C0DATA", message=message("root")))

    assert failed.uncertain
    assert hasty.find(channel="C0DATA", key="root", thread_ts=None, since=BEFORE) is None
    assert stand_in.accepted("chat.postMessage") == []


@pytest.mark.parametrize("count", [1, 250])
def test_a_key_is_found_behind_many_later_messages(chat: SlackChat, count: int) -> None:
    ts = chat.post(channel="C0DATA", message=message("wanted"))
    for number in range(count):
        chat.post(channel="C0DATA", message=message(f"later-{number}"))

    assert chat.find(channel="C0DATA", key="wanted", thread_ts=None, since=BEFORE) == ts


def test_a_key_is_found_at_the_end_of_a_long_thread(chat: SlackChat) -> None:
    root = chat.post(channel="C0DATA", message=message("root"))
    stamps = [chat.post(channel="C0DATA", message=message(f"r-{n}", thread_ts=root)) for n in range(210)]

    assert chat.find(channel="C0DATA", key="r-209", thread_ts=root, since=BEFORE) == stamps[-1]


@pytest.mark.scenario(29)
def test_a_reply_whose_root_was_deleted_meanwhile_is_still_found(chat: SlackChat, stand_in: StandIn) -> None:
    root = chat.post(channel="C0DATA", message=message("root"))
    stand_in.tell("delete", channel="C0DATA", ts=root)
    reply = chat.post(channel="C0DATA", message=message("reply", thread_ts=root))

    assert chat.find(channel="C0DATA", key="reply", thread_ts=root, since=BEFORE) == reply
    assert refused(lambda: chat.update(channel="C0DATA", ts=root, message=message("root"))).code == "message_not_found"


def test_a_look_that_is_refused_is_not_a_no(chat: SlackChat, stand_in: StandIn) -> None:
    chat.auth()
    stand_in.tell("faults", method="conversations.history", status=429, retry_after=7)
    failed = refused(lambda: chat.find(channel="C0DATA", key="root", thread_ts=None, since=BEFORE))

    assert (failed.uncertain, failed.permanent, failed.retry_after) == (False, False, timedelta(seconds=7))


def test_a_megabyte_is_shared_in_the_thread_and_found_by_name(chat: SlackChat, stand_in: StandIn) -> None:
    text = "Ошибка в строке é\n" * 36_000
    root = chat.post(channel="C0DATA", message=message("root"))
    file = ChatFile(name="occurrence-7.log", title="Whole log", text=text)
    file_id = chat.upload(channel="C0DATA", thread_ts=root, file=file)
    kept = stand_in.control.get(f"{stand_in.url}/files/{file_id}")

    assert len(text.encode()) > 1_000_000
    assert kept.content == text.encode()
    assert chat.find_file(channel="C0DATA", name="occurrence-7.log", thread_ts=root, since=BEFORE) == file_id
    assert chat.find_file(channel="C0DATA", name="other.log", thread_ts=root, since=BEFORE) is None


@pytest.mark.parametrize(
    ("step", "uncertain", "there"),
    [
        ("files.getUploadURLExternal", False, False),
        ("files.upload", False, False),
        ("files.completeUploadExternal", True, True),
    ],
)
def test_an_upload_whose_answer_was_lost_is_there_only_after_the_last_step(
    chat: SlackChat, stand_in: StandIn, step: str, uncertain: bool, there: bool
) -> None:
    root = chat.post(channel="C0DATA", message=message("root"))
    stand_in.tell("faults", method=step, after="drop")
    file = ChatFile(name="k.log", title="Log", text="x")
    failed = refused(lambda: chat.upload(channel="C0DATA", thread_ts=root, file=file))
    found = chat.find_file(channel="C0DATA", name="k.log", thread_ts=root, since=BEFORE)

    assert (failed.permanent, failed.uncertain, found is not None) == (False, uncertain, there)


@pytest.mark.scenario(28)
@pytest.mark.parametrize(
    ("channel", "change", "code"),
    [
        ("C0DATA", {"archived": True}, "is_archived"),
        ("C0DATA", {"bot_member": False}, "not_in_channel"),
        ("C0ELSE", {"name": "renamed"}, "not_in_channel"),
        ("C0NONE", None, "channel_not_found"),
    ],
)
def test_a_channel_that_cannot_be_written_to_is_permanent(
    chat: SlackChat, stand_in: StandIn, channel: str, change: dict[str, Any] | None, code: str
) -> None:
    if change is not None:
        stand_in.tell("channel", channel=channel, **change)
    failed = refused(lambda: chat.post(channel=channel, message=message("root")))

    assert (failed.code, failed.permanent, failed.uncertain) == (code, True, False)


@pytest.mark.scenario(30)
def test_a_revoked_token_and_a_lost_scope_wait_for_a_person(chat: SlackChat, stand_in: StandIn) -> None:
    stand_in.tell("token", scopes=["chat:write"])
    scope = refused(lambda: chat.user("U0ANA"))
    stand_in.tell("token", revoked=True)
    token = refused(lambda: chat.post(channel="C0DATA", message=message("root")))

    assert (scope.code, scope.__notes__) == ("missing_scope", ["needed: users:read"])
    assert (token.code, token.permanent, token.retry_after) == ("token_revoked", False, timedelta(minutes=1))
    assert refused(chat.auth).code == "token_revoked"


def test_blocks_that_slack_refuses_are_permanent_and_say_where(chat: SlackChat) -> None:
    bad = ChatMessage(key="k", text="t", blocks=({"type": "section", "text": {"type": "plain_text", "text": ""}},))
    failed = refused(lambda: chat.post(channel="C0DATA", message=bad))

    assert (failed.code, failed.permanent) == ("invalid_blocks", True)
    assert "/blocks/0/text" in failed.__notes__[0]


def test_a_direct_conversation_takes_messages(chat: SlackChat) -> None:
    direct = chat.open_direct(user="U0ANA")
    ts = chat.post(channel=direct, message=message("note"))

    assert chat.find(channel=direct, key="note", thread_ts=None, since=BEFORE) == ts


def test_home_and_private_words_reach_one_person(chat: SlackChat, stand_in: StandIn) -> None:
    chat.publish_home(user="U0ANA", view=VIEW)
    chat.ephemeral(channel="C0DATA", user="U0ANA", text="Only Finance decides")

    assert [row["args"]["user_id"] for row in stand_in.accepted("views.publish")] == ["U0ANA"]
    assert [row["args"]["user"] for row in stand_in.accepted("chat.postEphemeral")] == ["U0ANA"]


def test_a_trigger_that_never_was_opens_nothing(chat: SlackChat) -> None:
    modal = {**VIEW, "type": "modal", "title": {"type": "plain_text", "text": "Fixed"}}

    assert refused(lambda: chat.open_view(trigger_id="1.2.x", view=modal)).permanent


def test_people_and_groups_are_read_as_they_are(chat: SlackChat, stand_in: StandIn) -> None:
    ana, left, by_email = chat.user("U0ANA"), chat.user("U0LEFT"), chat.user_by_email("ana@example.com")
    stand_in.tell("users", usergroups=[{**SEED["usergroups"][0], "id": "S0OFF", "handle": "off", "disabled": True}])

    assert ana is not None
    assert left is not None
    assert (ana.name, ana.email, ana.deleted, left.deleted) == ("Ana Ivanović", "ana@example.com", False, True)
    assert by_email == ana
    assert (chat.user("U0NONE"), chat.user_by_email("none@example.com")) == (None, None)
    assert [chat.group_members(group) for group in ("S0ONCALL", "S0NONE", "S0OFF")] == [("U0ANA",), None, None]


def test_the_token_says_whom_it_speaks_for(chat: SlackChat) -> None:
    who = chat.auth()

    assert (who.user_id, who.bot_id, who.team_id, who.team) == ("U0BOT", "B0BOT", "T0TEAM", "Example")
    assert "chat:write" in who.scopes
