"""Everything that can go wrong on the way to Slack and back, and whether it may have been done."""

import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from bot.adapters.slack import SlackChat
from bot.ports import ChatFile, ChatMessage, SendFailed
from tests.adapters.conftest import NOW, TOKEN
from tests.adapters.peer import Peer, Reaction, cut_off, hung_up, left_after, never_answered, said, said_back

MESSAGE = ChatMessage(key="occurrence-7/root", text="Finance daily failed", blocks=())
FILE = ChatFile(name="occurrence-7.log", title="Log", text="Traceback")
POSTED = said({"ok": True, "ts": "1700000000.000100", "channel": "C1"})
SINCE = datetime(2026, 11, 30, 3, 0, tzinfo=UTC)


def post(chat: SlackChat) -> str:
    return chat.post(channel="C1", message=MESSAGE)


def failure_of(send: Callable[[], object]) -> SendFailed:
    with pytest.raises(SendFailed) as raised:
        send()
    return raised.value


@pytest.mark.parametrize(
    ("reaction", "code"),
    [
        (said({"ok": False, "error": "internal_error"}, status=500), "internal_error"),
        (said(b"<html>Bad gateway</html>", status=502), "http_502"),
        (said(b"", status=503), "http_503"),
        (said(b""), "unreadable_answer"),
        (said(b"<html>Sign in to the wifi</html>"), "unreadable_answer"),
        (said(b'{"ok": true, "ts": "17000'), "unreadable_answer"),
        (said(b'{"ok": true, "ts": "\xff"}'), "unreadable_answer"),
        (said(b"[]"), "unreadable_answer"),
        (said(b'{"ok": true, "ts": "1.0", "message": ' + b"[" * 100_000), "unreadable_answer"),
        (said({"ok": True}), "unreadable_answer"),
        (said({"ok": True, "ts": 17}), "unreadable_answer"),
        (said({"ok": False}), "unreadable_answer"),
        (said(b"not gzip", headers={"Content-Encoding": "gzip"}), "disconnected"),
        (said({"ok": False, "error": "fatal_error"}), "fatal_error"),
        (hung_up, "disconnected"),
        (cut_off, "disconnected"),
    ],
)
def test_what_is_unknown_after_the_message_went_out_is_uncertain(
    peer: Peer, chat: SlackChat, reaction: Reaction, code: str
) -> None:
    peer.will("chat.postMessage", reaction)
    failed = failure_of(lambda: post(chat))

    assert (failed.code, failed.permanent, failed.uncertain) == (code, False, True)
    assert len(peer.calls("chat.postMessage")) == 1


def test_silence_after_acceptance_is_uncertain(peer: Peer, hasty: SlackChat) -> None:
    peer.will("chat.postMessage", never_answered)
    failed = failure_of(lambda: post(hasty))

    assert (failed.code, failed.permanent, failed.uncertain) == ("timeout", False, True)
    assert len(peer.calls("chat.postMessage")) == 1


def test_a_refused_connection_sent_nothing() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        chat = SlackChat(token=TOKEN, base_url=f"http://127.0.0.1:{unused.getsockname()[1]}/api/", clock=lambda: NOW)
        failed = failure_of(lambda: post(chat))
        chat.close()

    assert (failed.code, failed.permanent, failed.uncertain) == ("unreachable", False, False)


@pytest.mark.parametrize(
    ("fault", "code", "uncertain"),
    [
        (httpx.ConnectTimeout, "unreachable", False),
        (httpx.PoolTimeout, "unreachable", False),
        (httpx.ProxyError, "unreachable", False),
        (httpx.LocalProtocolError, "cannot_be_sent", False),
        (httpx.WriteTimeout, "timeout", True),
        (httpx.WriteError, "disconnected", True),
    ],
)
def test_rare_faults_of_the_transport_tell_whether_anything_was_sent(
    fault: type[httpx.TransportError], code: str, uncertain: bool
) -> None:
    def fail(request: httpx.Request) -> httpx.Response:
        raise fault("rare", request=request)

    with httpx.Client(transport=httpx.MockTransport(fail)) as client:
        failed = failure_of(lambda: post(SlackChat(token=TOKEN, clock=lambda: NOW, client=client)))

    assert (failed.code, failed.permanent, failed.uncertain) == (code, False, uncertain)


def test_a_connection_closed_before_it_was_read_is_uncertain_and_the_next_send_opens_another(
    peer: Peer, chat: SlackChat
) -> None:
    peer.closed_unread.add(1)
    peer.will("chat.postMessage", POSTED)
    failed = failure_of(lambda: post(chat))

    assert (failed.code, failed.uncertain) == ("disconnected", True)
    assert post(chat) == "1700000000.000100"


@pytest.mark.parametrize("error", ["ratelimited", "rate_limited"])
@pytest.mark.parametrize("status", [429, 200])
def test_too_fast_waits_as_long_as_slack_says(peer: Peer, chat: SlackChat, status: int, error: str) -> None:
    peer.will("chat.postMessage", said({"ok": False, "error": error}, status=status, headers={"Retry-After": "30"}))
    failed = failure_of(lambda: post(chat))

    assert failed.code in ("ratelimited", error)
    assert (failed.permanent, failed.uncertain, failed.retry_after) == (False, False, timedelta(seconds=30))


def test_too_fast_without_a_body_or_a_wish_still_waits(peer: Peer, chat: SlackChat) -> None:
    peer.will("chat.postMessage", said(b"", status=429))
    failed = failure_of(lambda: post(chat))

    assert (failed.code, failed.uncertain, failed.retry_after) == ("ratelimited", False, timedelta(seconds=30))


def test_a_refusal_keeps_slacks_word_and_says_where(peer: Peer, chat: SlackChat) -> None:
    where = "[ERROR] must be more than 0 characters [json-pointer:/blocks/0/text]"
    peer.will(
        "chat.postMessage",
        said({"ok": False, "error": "invalid_blocks", "response_metadata": {"messages": [where]}}),
    )
    failed = failure_of(lambda: post(chat))

    assert (failed.code, failed.permanent, failed.uncertain) == ("invalid_blocks", True, False)
    assert failed.__notes__ == [where]


def test_a_missing_scope_is_named(peer: Peer, chat: SlackChat) -> None:
    peer.will(
        "users.info", said({"ok": False, "error": "missing_scope", "needed": "users:read", "provided": "chat:write"})
    )
    failed = failure_of(lambda: chat.user("U1"))

    assert (failed.code, failed.permanent, failed.retry_after) == ("missing_scope", False, timedelta(minutes=1))
    assert failed.__notes__ == ["needed: users:read"]


def test_an_error_name_under_a_client_error_status_is_still_slacks_word(peer: Peer, chat: SlackChat) -> None:
    peer.will("chat.postMessage", said({"ok": False, "error": "channel_not_found"}, status=404))

    failed = failure_of(lambda: post(chat))

    assert (failed.code, failed.permanent, failed.uncertain) == ("channel_not_found", True, False)


def test_a_wrong_address_heals_when_a_person_repairs_it(peer: Peer, chat: SlackChat) -> None:
    peer.will("chat.postMessage", said(b"no such page", status=404))
    failed = failure_of(lambda: post(chat))

    assert (failed.code, failed.permanent, failed.uncertain) == ("http_404", False, False)
    assert failed.retry_after == timedelta(minutes=1)


@pytest.mark.parametrize(
    "reaction", [said(b"", status=500), hung_up, said(b"{}"), said({"ok": True, "messages": None})]
)
def test_a_look_that_fails_says_so_and_is_never_uncertain(peer: Peer, chat: SlackChat, reaction: Reaction) -> None:
    peer.will("auth.test", said({"ok": True, "user_id": "UBOT", "team_id": "T1", "bot_id": "B1"}))
    peer.will("conversations.history", reaction)
    failed = failure_of(lambda: chat.find(channel="C1", key="k", thread_ts=None, since=SINCE))

    assert (failed.permanent, failed.uncertain) == (False, False)


@pytest.mark.parametrize(
    ("faulty", "uncertain"),
    [("files.getUploadURLExternal", False), ("put", False), ("files.completeUploadExternal", True)],
)
@pytest.mark.parametrize("reaction", [hung_up, said(b"", status=500)])
def test_only_the_last_step_of_an_upload_is_uncertain(
    peer: Peer, chat: SlackChat, faulty: str, uncertain: bool, reaction: Reaction
) -> None:
    place = said({"ok": True, "upload_url": f"{peer.url}put", "file_id": "F1"})
    peer.will(faulty, reaction)
    peer.will("files.getUploadURLExternal", place)
    failed = failure_of(lambda: chat.upload(channel="C1", thread_ts="1.0", file=FILE))

    assert (failed.permanent, failed.uncertain) == (False, uncertain)


def test_an_upload_address_that_is_none_is_a_failed_send(peer: Peer, chat: SlackChat) -> None:
    peer.will("files.getUploadURLExternal", said({"ok": True, "upload_url": "nowhere", "file_id": "F1"}))
    failed = failure_of(lambda: chat.upload(channel="C1", thread_ts="1.0", file=FILE))

    assert (failed.code, failed.permanent, failed.uncertain) == ("cannot_be_sent", False, False)


def test_one_connection_serves_one_send_after_another(peer: Peer, chat: SlackChat) -> None:
    peer.will("chat.postMessage", *[POSTED] * 20)
    for _ in range(20):
        post(chat)

    assert peer.connections == 1


def test_a_connection_that_slack_has_closed_meanwhile_is_not_sent_on(peer: Peer, chat: SlackChat) -> None:
    peer.will("chat.postMessage", left_after(POSTED), POSTED)
    post(chat)
    peer.wait_for_a_closed_connection()
    post(chat)

    assert peer.connections == 2


def test_a_refusal_does_not_cost_the_connection(peer: Peer, chat: SlackChat) -> None:
    peer.will("chat.postMessage", said({"ok": False, "error": "is_archived"}), said(b"", status=500), POSTED)
    failure_of(lambda: post(chat))
    failure_of(lambda: post(chat))
    post(chat)

    assert peer.connections == 1


def test_many_threads_send_at_once_and_each_gets_its_own_answer(peer: Peer, chat: SlackChat) -> None:
    keys = [f"key-{number}" for number in range(200)]
    peer.will("chat.postMessage", *[said_back] * len(keys))
    with ThreadPoolExecutor(max_workers=16) as pool:
        stamps = list(
            pool.map(lambda key: chat.post(channel="C1", message=ChatMessage(key=key, text="t", blocks=())), keys)
        )

    assert stamps == keys
    assert peer.connections <= 16


@pytest.mark.parametrize("token", ["xoxb-\n", "xoxb-é", " xoxb-1"])
def test_a_token_that_cannot_be_one_is_refused_at_once(token: str) -> None:
    with httpx.Client() as client, pytest.raises(ValueError, match="token"):
        SlackChat(token=token, clock=lambda: NOW, client=client)
