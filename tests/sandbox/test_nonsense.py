"""Nonsense at every door is answered in words, changes nothing and breaks nothing."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot.sandbox.slack.journal import Journal
from bot.sandbox.slack.methods import METHODS
from bot.sandbox.slack.wishes import WISHES
from bot.sandbox.slack.workspace import Workspace as Memory
from bot.sandbox.slack.workspace import plain_seed
from tests.sandbox.conftest import TOKEN, Sandbox

NAMES = (
    *("channel", "users", "user", "user_id", "usergroup", "ts", "thread_ts", "message_ts", "oldest", "latest", "limit"),
    *("cursor", "text", "blocks", "metadata", "view", "view_id", "trigger_id", "email", "filename", "length", "files"),
    *("file", "channels", "channel_id", "include_users", "types", "hash", "initial_comment", "external_id", "reply"),
)
NONSENSE: list[Any] = [
    None,
    True,
    -1,
    1.5,
    10**30,
    "",
    "x",
    "C0DATA",
    "U0ANA",
    "[",
    "\x00",
    [],
    [None],
    [[]],
    {},
    {"a": [{}]},
]


@pytest.mark.parametrize("nonsense", NONSENSE, ids=repr)
def test_a_method_answers_nonsense_with_a_name(sandbox: Sandbox, nonsense: Any) -> None:
    with httpx.Client(base_url=sandbox.server.url, headers={"authorization": f"Bearer {TOKEN}"}) as http:
        for method in METHODS:
            for spared in ("", "channel", "text"):
                good = {"channel": "C0DATA", "text": "x"}
                arguments = {**dict.fromkeys(NAMES, nonsense), **({spared: good[spared]} if spared else {})}
                answer = http.post(f"/api/{method}", json=arguments)

                assert answer.status_code == 200, (method, answer.text)
                assert answer.json()["ok"] is True or answer.json()["error"], method


@pytest.mark.parametrize("nonsense", NONSENSE, ids=repr)
def test_the_control_api_refuses_nonsense_and_its_journal_stays_readable(
    sandbox: Sandbox, tmp_path: Path, nonsense: Any
) -> None:
    fields = ("user", "action_id", "channel", "ts", "command", "text", "method", "status", "members", "users", "scopes")
    with httpx.Client(base_url=sandbox.server.url) as http:
        for act in WISHES:
            for wish in (nonsense, *({field: nonsense} for field in fields), dict.fromkeys(fields, nonsense)):
                body = json.dumps(wish)
                answer = http.post(f"/control/{act}", content=body, headers={"content-type": "application/json"})

                assert answer.status_code in (200, 400), (act, wish, answer.text)

    again = Memory(seed=plain_seed(), clock=sandbox.clock, journal=Journal(tmp_path / "journal.jsonl"))

    assert sandbox.people.state()["n"] == again.journal.last
    again.journal.close()
