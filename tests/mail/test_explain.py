"""`mail explain` as somebody types it: what it prints, for a mail, for garbage, for other owners; it repeats no rule."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from bot.cli.main import app
from tests.mail.corpus_cases import FOLDER
from tests.mail.mails import mail

SERVER = ("--authserv-id", "mx.example.com")
OWNERS = """
version: 1
teams:
  data:
    slack: {channel: C0DATA}
    members: [ana@example.com, Ben@Example.com]
    hours: {days: mon-fri, from: "08:00", to: "18:00", timezone: Europe/Berlin}
"""


@pytest.fixture(autouse=True)
def policies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "owners.yaml").write_text(OWNERS)
    monkeypatch.setenv("POLICIES", str(tmp_path / "owners.yaml"))
    monkeypatch.delenv("MAIL_FROM", raising=False)


def explained(raw: bytes, *words: str) -> Result:
    return CliRunner().invoke(app, ["mail", "explain", *words], input=raw)


def answered(raw: bytes, *words: str) -> dict[str, Any]:
    ran = explained(raw, "--json", *words)
    assert (ran.exit_code, ran.stderr) == (0, "")
    told: dict[str, Any] = json.loads(ran.stdout)
    return told


def test_a_sample_is_explained_as_it_lies() -> None:
    told = answered((FOLDER / "gmail-ios-approve.eml").read_bytes(), *SERVER)

    assert list(told) == ["acts", "command", "argument", "reason", "answer"]
    assert (told["acts"], told["command"], told["argument"], told["answer"]) == (True, "approve", None, "none")


def test_a_sample_with_an_expired_token_is_explained_as_it_lies() -> None:
    told = answered((FOLDER / "token-stale.eml").read_bytes(), *SERVER)

    assert (told["acts"], told["answer"]) == (False, "explanation")
    assert "expired" in told["reason"]


def test_nobody_is_believed_where_no_server_is_named() -> None:
    told = answered(mail("ack"))

    assert (told["acts"], told["answer"]) == (False, "none")
    assert "not configured" in told["reason"]


def test_the_policies_say_who_owns(tmp_path: Path) -> None:
    file = tmp_path / "policies.yaml"
    file.write_text("version: 1\nteams: {ops: {slack: {channel: C0OPS}, members: [ben@example.com]}}\n")

    told = answered(mail("ack"), *SERVER, "--policies", str(file))

    assert (told["acts"], told["answer"]) == (False, "explanation")
    assert "no owner" in told["reason"]


def test_a_date_is_nine_in_the_morning_of_the_team() -> None:
    ran = explained(mail("pause until 2999-07-01 the feed is gone"), *SERVER)

    assert ran.exit_code == 0
    assert ran.stdout.startswith("acts: pause until 2999-07-01 the feed is gone\n")
    assert "2999-07-01T07:00:00+00:00" in ran.stdout


@pytest.mark.parametrize("raw", [b"", b"\xff\x00\xfe" * 400, b"From: a@b.example\n" * 3000])
def test_garbage_does_nothing_and_says_why(raw: bytes) -> None:
    told = answered(raw, *SERVER)

    assert (told["acts"], told["command"], told["answer"]) == (False, None, "none")
    assert told["reason"]


def test_our_own_address_is_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAIL_FROM", "ontrack <ontrack@bot.example.org>")

    assert "names no notification" in answered(mail("ack"), *SERVER)["reason"]


def test_a_missing_policies_file_is_told_in_words(tmp_path: Path) -> None:
    ran = explained(mail("ack"), "--policies", str(tmp_path / "none.yaml"))

    assert ran.exit_code == 2
    assert "none.yaml" in ran.stderr
    assert isinstance(ran.exception, SystemExit)


def test_with_the_policy_an_unproven_owner_would_be_asked_back(tmp_path: Path) -> None:
    (tmp_path / "owners.yaml").write_text(f"{OWNERS}mail: {{unproven: confirm}}\n")

    told, shown = answered(mail("ack", passed=None), *SERVER), explained(mail("ack", passed=None), *SERVER)

    assert (told["acts"], told["command"], told["argument"], told["answer"]) == (False, None, None, "none")
    assert shown.stdout.startswith("does nothing\n")
    assert "asks ana@example.com whether they wrote it" in shown.stdout
