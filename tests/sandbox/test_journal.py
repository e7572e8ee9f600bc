"""What was accepted survives: a restart, a kill, a torn line."""

import json
import subprocess
import sys
from pathlib import Path

import httpx
from slack_sdk import WebClient

from bot.sandbox.slack.app import build_app
from bot.sandbox.slack.client import Workspace
from bot.sandbox.slack.journal import Journal
from bot.sandbox.slack.server import serve
from tests.sandbox.conftest import SECRET, TOKEN, Clock, Sandbox

CHANNEL = "C0DATA"
MODAL = {"type": "modal", "title": {"type": "plain_text", "text": "T"}, "blocks": [{"type": "divider"}]}
BUTTON = {"type": "button", "text": {"type": "plain_text", "text": "Go"}, "action_id": "go"}


def test_a_restart_keeps_the_whole_state(sandbox: Sandbox, clock: Clock, tmp_path: Path) -> None:
    web, people = sandbox.web, sandbox.people
    root = web.chat_postMessage(channel=CHANNEL, text="x", blocks=[{"type": "actions", "elements": [BUTTON]}])["ts"]
    web.chat_update(channel=CHANNEL, ts=root, text="new")
    web.chat_postMessage(channel=CHANNEL, text="gone", thread_ts=root)
    web.chat_delete(channel=CHANNEL, ts=web.chat_postMessage(channel="C0DATA", text="y")["ts"])
    web.chat_postEphemeral(channel=CHANNEL, user="U0ANA", text="psst")
    web.files_upload_v2(content="log", filename="a.log", channel=CHANNEL, thread_ts=root)
    web.views_publish(user_id="U0ANA", view={"type": "home", "blocks": [{"type": "divider"}]})
    people.click(user="U0ANA", channel=CHANNEL, ts=root, action_id="go")
    web.views_open(trigger_id=people.journal(method="person.asked")[0]["known"]["trigger"], view=MODAL)
    people.say(user="U0BEN", channel=CHANNEL, text="hello")
    people.change_channel(CHANNEL, name="renamed")
    people.change_token(scopes=["users:read"])
    before = people.state()

    second = serve(
        build_app(
            callback="http://127.0.0.1:9/", signing_secret=SECRET, clock=clock, journal=tmp_path / "journal.jsonl"
        )
    )
    with Workspace(second.url) as reloaded:
        after = reloaded.state()
    second.stop()

    assert after == before
    assert before["modals"]["U0ANA"][0]["title"] == MODAL["title"]


def test_a_reset_goes_back_to_the_seed_and_stays_there(sandbox: Sandbox) -> None:
    empty = sandbox.people.state()
    sandbox.web.chat_postMessage(channel=CHANNEL, text="x")
    sandbox.people.inject("chat.postMessage", status=500)
    sandbox.people.reset()

    assert {**sandbox.people.state(), "n": 0} == {**empty, "n": 0}
    assert sandbox.web.chat_postMessage(channel=CHANNEL, text="x")["ok"]


def test_a_row_tells_the_call_and_its_answer(sandbox: Sandbox) -> None:
    answer = sandbox.web.chat_postMessage(channel=CHANNEL, text="x")
    sandbox.web.conversations_history(channel=CHANNEL)
    (row,) = sandbox.people.journal()

    assert (row["n"], row["method"], row["token"]) == (1, "chat.postMessage", TOKEN)
    assert (row["args"]["text"], row["result"]["ts"]) == ("x", answer["ts"])


def test_a_torn_last_line_is_cut_off_and_the_next_row_follows(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b'{"n":1,"method":"a"}\n{"n":2,"meth')
    journal = Journal(path)
    journal.append({"n": journal.last + 1, "method": "b"})
    journal.close()

    assert [json.loads(line)["method"] for line in path.read_text().splitlines()] == ["a", "b"]


def test_a_process_killed_right_after_its_answer_still_knows_the_message(tmp_path: Path) -> None:
    def started() -> tuple[subprocess.Popen[str], str]:
        arguments = ["--journal", str(tmp_path / "journal.jsonl"), "--signing-secret", SECRET]
        command = [sys.executable, "-m", "bot.sandbox.slack", *arguments]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        return process, process.stdout.readline().split()[-1]

    def killed(process: subprocess.Popen[str]) -> None:
        process.kill()
        process.communicate()

    first, url = started()
    ts = WebClient(token=TOKEN, base_url=f"{url}/api/").chat_postMessage(channel=CHANNEL, text="kept")["ts"]
    killed(first)
    second, url = started()
    history = httpx.get(
        f"{url}/api/conversations.history?channel={CHANNEL}", headers={"authorization": f"Bearer {TOKEN}"}
    ).json()
    killed(second)

    assert [(each["ts"], each["text"]) for each in history["messages"]] == [(ts, "kept")]
