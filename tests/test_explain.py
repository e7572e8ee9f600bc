"""`python -m bot explain`: what a person reads, what a program reads, and that no line of a batch costs another."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from bot.cli.main import app
from bot.incidents.keys import JobKey
from bot.incidents.memory import CauseResult, JobMemory, Sample
from bot.incidents.policy import SafeMark
from storage.opening import open_storage

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = Path(__file__).with_name("explained.txt")
RESET = "ConnectionResetError: [Errno 104] Connection reset by peer\n"
KEYS = ["cause", "group", "retry_hint", "root_error", "fingerprint", "matched", "ruled_out"]
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
POLICIES = """\
version: 1
schedulers:
  hook: {type: webhook, url: https://jobs.example.com/ontrack, secret: s3cret, can: [rerun]}
  feed: {type: events}
teams:
  core: {members: [ana@example.com]}
defaults:
  team: core
  safe_to_retry: {causes: [network.connection_reset], by: ana@example.com, since: 2026-11-02}
jobs:
  - match: hook/watched
    mode: observe
  - match: hook/fearful
    safe_to_retry: {causes: [service.throttled], by: ana@example.com, since: 2026-11-02}
    team: core
  - match: hook/poor
    rerun: {budget: {limit: 0}}
  - match: hook/ledger
    causes:
      - {id: ledger.closed, title: Ledger closed for the night, group: upstream, when: {message: ledger .* is closed until}}
causes:
  - {id: shop.shut, title: The shop is shut, when: {message: the shop is shut}, platform_team: core}
"""


@dataclass(frozen=True, kw_only=True)
class Desk:
    """Somebody at a terminal, with a policies file and no database."""

    policies: Path
    database_url: str

    def types(self, *words: str, said: str | bytes = "") -> Result:
        env = {"DATABASE_URL": self.database_url, "POLICIES": str(self.policies)}
        return CliRunner().invoke(app, ["explain", *words], input=said, env=env)

    def reads(self, *words: str, said: str | bytes = RESET) -> dict[str, Any]:
        answer = self.types("--json", *words, said=said)

        assert answer.exit_code == 0, answer.stderr

        return json.loads(answer.stdout)  # type: ignore[no-any-return]

    def batch(self, *lines: str | bytes) -> tuple[list[dict[str, Any]], int]:
        said = b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines)
        answer = self.types("--batch", said=said)
        return [json.loads(line) for line in answer.stdout.splitlines()], answer.exit_code


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    policies = tmp_path / "policies.yaml"
    policies.write_text(POLICIES)
    return Desk(policies=policies, database_url=f"sqlite:///{tmp_path}/none.db")


def cases() -> Iterator[tuple[str, str, str, str]]:
    for section in GOLDEN.read_text(encoding="utf-8").split("\n=== ")[1:]:
        name, options, rest = section.split("\n", 2)
        log, _, told = rest.partition("\n---\n")
        yield name, options, log.strip("\n"), told.strip("\n")


def test_what_a_person_reads_is_as_it_was(desk: Desk) -> None:
    printed = [GOLDEN.read_text(encoding="utf-8").split("\n", 1)[0]]
    for name, options, log, _ in cases():
        answer = desk.types(*options.split(), said=f"{log}\n")
        assert answer.exit_code == 0, answer.stderr
        told = re.sub(r"(?m)^(  fingerprint +)[0-9a-f]{16}$", r"\1(16 digits)", answer.stdout)
        printed.append(f"=== {name}\n{options}\n{log}\n---\n{told}")
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text("\n".join(printed), encoding="utf-8")

    assert "\n".join(printed) == GOLDEN.read_text(encoding="utf-8")


def test_a_program_reads_these_keys_and_no_others(desk: Desk) -> None:
    told = desk.reads("--exit", "1", said=f"starting\n{RESET}")

    assert list(told) == KEYS
    assert (told["cause"], told["group"], told["retry_hint"]) == (
        "network.connection_reset",
        "infrastructure",
        "likely",
    )
    assert told["root_error"] == {
        "type": "ConnectionResetError",
        "message": "[Errno 104] Connection reset by peer",
        "line": 2,
    }
    first = told["matched"][0]
    assert (first["id"], first["line"]) == ("network.connection_reset", 2)
    assert first["why"] == f"the root error says so: {RESET.strip()}"
    assert told["ruled_out"] == []
    assert len(told["fingerprint"]) == 16


def test_what_rules_a_cause_out_is_told_with_its_line(desk: Desk) -> None:
    told = desk.reads(said=f"[job-wrapper] same statement also failed in the 13 runs before\n{RESET}")

    assert (told["cause"], told["retry_hint"]) == ("network.connection_reset", "depends")
    (against,) = told["ruled_out"]
    assert (against["id"], against["line"]) == ("network.connection_reset", 1)
    assert "sign.keeps_failing was seen as well" in against["why"]
    assert "sign.keeps_failing" in [one["id"] for one in told["matched"]]


def test_a_rule_that_another_line_rules_out_is_told_with_that_line(desk: Desk) -> None:
    told = desk.reads("--exit", "137", said="loading\nthe node was preempted\nKilled\n")

    (against,) = told["ruled_out"]
    assert (against["id"], against["line"]) == ("resource.killed", 2)
    assert "the node was preempted" in against["why"]


@pytest.mark.parametrize("words", [("--exit", "-9 (SIGKILL)"), ("--exit", "SIGKILL"), ("--signal", "SIGKILL")])
def test_a_death_by_signal_may_be_written_in_several_ways(desk: Desk, words: tuple[str, str]) -> None:
    assert desk.reads(*words, said="")["cause"] == "resource.killed"


def test_no_secret_is_printed_where_a_line_is_quoted(desk: Desk) -> None:
    said = "[job-wrapper] same statement also failed in the 13 runs before with token=ghp_16C7e42F292c6912E7710c838347Ae178B4a\n"
    answers = [desk.types(*words, said=said + RESET).stdout for words in ((), ("--json",))]

    assert not [answer for answer in answers if "ghp_16C7e42F292c6912E7710c838347Ae178B4a" in answer]
    assert "13 runs before" in answers[0]


@pytest.mark.parametrize(
    ("job", "allowed", "decided_by"),
    [
        ("hook/orders", True, "network.connection_reset is marked safe and the budget covers it"),
        ("hook/fearful", False, "the owning team has not marked network.connection_reset safe"),
        ("hook/watched", False, "the mode is observe: it would be rerun in mode act"),
        ("hook/poor", False, "the automatic budget does not cover it"),
        ("feed/orders", False, "its scheduler cannot be asked for reruns"),
        ("elsewhere/orders", False, "its scheduler cannot be asked for reruns"),
    ],
)
def test_the_condition_that_decides_about_a_rerun_is_told(desk: Desk, job: str, allowed: bool, decided_by: str) -> None:
    rerun = desk.reads("--job", job)["rerun"]

    assert (rerun["allowed"], rerun["decided_by"]) == (allowed, decided_by)
    assert rerun["says"].startswith("ontrack would ")
    assert any("no database" in assumed for assumed in rerun["assumed"])


def knows(database_url: str, memory: JobMemory) -> None:
    """The database has seen the job `hook/orders`."""
    key = JobKey(scheduler="hook", name="orders")
    storage = open_storage(database_url, instance="test")
    with storage.begin_write(born_leased=False, now=NOON) as uow:
        uow.save_job(replace(uow.lock_jobs(keys=[key], now=NOON)[key], memory=memory))
        uow.commit()
    storage.close()


CHEAP = Sample(duration=timedelta(minutes=10))


@pytest.mark.parametrize(
    ("memory", "decided_by"),
    [
        (JobMemory(samples=(CHEAP,)), "network.connection_reset is marked safe and the budget covers it"),
        (JobMemory(samples=(Sample(duration=timedelta(hours=9)),)), "the automatic budget does not cover it"),
        (JobMemory(), "what a rerun costs is not known: the job has no good run to judge by"),
        (
            JobMemory(samples=(CHEAP,), results=(CauseResult(cause="network.connection_reset", succeeded=False),) * 3),
            "the safe mark on network.connection_reset is suspended: the last three automatic reruns failed",
        ),
    ],
)
def test_what_the_database_knows_of_the_job_decides_where_there_is_one(
    desk: Desk, database_url: str, memory: JobMemory, decided_by: str
) -> None:
    knows(database_url, memory)

    rerun = replace(desk, database_url=database_url).reads("--job", "hook/orders")["rerun"]

    assert rerun["decided_by"] == decided_by
    assert not any("no database" in assumed for assumed in rerun["assumed"])


def test_a_mark_that_was_given_in_slack_counts(desk: Desk, sqlite_url: str) -> None:
    mark = SafeMark(cause="shop.shut", team="core", by="U0ANA", since=NOON)
    knows(sqlite_url, JobMemory(samples=(CHEAP,), marks=(mark,)))
    at_work = replace(desk, database_url=sqlite_url)

    told = at_work.reads("--job", "hook/orders", said="ERROR the shop is shut\n")

    assert told["cause"] == "shop.shut"
    assert told["rerun"]["allowed"]
    assert "marked by U0ANA on 2026-11-30" in told["rerun"]["says"]


def test_the_causes_of_a_company_and_of_a_job_are_tried(desk: Desk) -> None:
    closed, shut = "ERROR ledger 2026 is closed until 06:00\n", "ERROR the shop is shut\n"

    assert desk.reads("--job", "hook/ledger", said=closed)["cause"] == "ledger.closed"
    assert desk.reads("--job", "hook/orders", said=closed)["cause"] == "unknown"
    assert desk.reads("--policies", str(desk.policies), said=closed)["cause"] == "unknown"
    assert desk.reads("--policies", str(desk.policies), said=shut)["cause"] == "shop.shut"
    assert desk.reads(said=shut)["cause"] == "unknown"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--exit", "soon"), "--exit: write a number such as 137, or a signal such as SIGKILL"),
        (("--job", "orders"), "--job: write scheduler/job"),
        (("--policies", "nowhere.yaml"), "the file cannot be read"),
        (("nowhere.log",), "LOG: nowhere.log cannot be read"),
    ],
)
def test_what_cannot_be_done_is_refused_in_words(desk: Desk, words: tuple[str, ...], told: str) -> None:
    refused = desk.types(*words, said=RESET)

    assert refused.exit_code == 2
    assert told in refused.stderr


def test_a_batch_answers_line_by_line_and_goes_on_after_a_bad_one(desk: Desk) -> None:
    told, code = desk.batch(
        json.dumps({"id": "a", "log": RESET, "exit": "1"}),
        "",
        "nothing",
        '["a"]',
        '{"id": "b"}',
        '{"id": {"c": 1}, "log": "x", "exit": true}',
        b'{"id": 7, "log": "bytes \xff and \\ud800", "exit": null}',
        "[" * 100_000,
        json.dumps({"id": "k", "log": "", "exit": "-9 (SIGKILL)"}),
    )

    assert code == 2
    assert [one["id"] for one in told] == ["a", None, None, "b", {"c": 1}, 7, None, "k"]
    assert list(told[0]) == ["id", *KEYS]
    assert [bool(one.get("error")) for one in told] == [False, True, True, True, True, False, True, False]
    assert told[3]["error"] == "log: expected a text"
    assert told[4]["error"] == "exit: expected an exit code, or null where it is not known"
    assert told[7]["cause"] == "resource.killed"


def test_a_batch_without_a_bad_line_ends_well(desk: Desk) -> None:
    told, code = desk.batch(*(json.dumps({"id": at, "log": RESET, "exit": at}) for at in range(3)))

    assert ([one["id"] for one in told], code) == ([0, 1, 2], 0)
    assert told[1] == {"id": 1, **desk.reads("--exit", "1")}


def test_a_big_log_is_read_to_its_end(desk: Desk) -> None:
    lines = "2026-11-30 03:12:40 INFO a step of many, all is well\n" * 190_000
    (told,), code = desk.batch(json.dumps({"id": 1, "log": lines + RESET, "exit": 1}))

    assert len(lines) > 10_000_000
    assert (told["cause"], told["root_error"]["line"], code) == ("network.connection_reset", 190_001, 0)


def test_each_answer_of_a_batch_comes_before_the_next_line_is_sent() -> None:
    argv = [sys.executable, "-m", "bot", "explain", "--batch"]
    with subprocess.Popen(argv, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as talking:
        assert talking.stdin is not None
        assert talking.stdout is not None
        for at in range(2):
            talking.stdin.write(json.dumps({"id": at, "log": RESET, "exit": 1}) + "\n")
            talking.stdin.flush()
            assert json.loads(talking.stdout.readline())["id"] == at
        talking.stdin.close()
        assert talking.wait(timeout=30) == 0
