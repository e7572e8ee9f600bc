"""A scheduled command ends in every way that a command can end, and the report says which."""

import os
import select
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from bot.evidence.types import ErrorReport
from bot.incidents.keys import Action, Cost, JobKey, Trigger
from bot.schedulers.local.shim_log import HEAD, TAIL
from bot.schedulers.local.shim_watch import DRAIN, SCAN_EVERY
from bot.sources import SourceKind
from tests.schedulers.shop import ENDED, Shop, error_of, nominal, run_of


def test_a_run_starts_at_its_time_and_its_end_is_told_without_a_poll(shop: Shop) -> None:
    shop.open({"load": shop.job("echo done")})

    upcoming = shop.at("02:00:05")
    ended = shop.until(*ENDED)

    assert upcoming == nominal("03:00:00")
    assert shop.kinds() == ["started", "succeeded"]
    assert ended.job == JobKey(scheduler="cron", name="load")
    assert run_of(ended).run_id == "scheduled__2026-11-30T02:00:00Z"
    assert run_of(ended).nominal_time == nominal("02:00:00")
    assert (run_of(ended).generation, run_of(ended).trigger) == (0, Trigger.SCHEDULE)
    assert ended.error is None
    assert ended.started_at == shop.now
    assert ended.ended_at is not None
    assert ended.ended_at > shop.now
    assert ended.cost == Cost(amount=(ended.ended_at - shop.now) / timedelta(hours=1), unit="run_hours")


def test_before_its_time_nothing_starts_and_at_its_time_only_once(shop: Shop) -> None:
    shop.open({"load": shop.job("echo x >> seen")})

    shop.at("01:59:59")
    assert not shop.claims()

    shop.at("02:00:00")
    shop.until(*ENDED)
    shop.at("02:00:01")
    shop.at("01:59:59")
    shop.at("02:00:02")

    assert shop.lines("seen") == ["x"]


def test_the_command_knows_which_run_it_is_and_nothing_of_our_secrets(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-secret")
    shop.open({"load": shop.job("env", env={"REGION": "eu"})})

    shop.at("02:00:00")
    shop.until(*ENDED)
    variables = dict(line.split("=", 1) for line in (shop.claims()[0] / "log").read_text().splitlines())

    assert variables["ONTRACK_JOB"] == "load"
    assert variables["ONTRACK_NOMINAL_TIME"] == "2026-11-30T02:00:00Z"
    assert variables["ONTRACK_RUN_ID"] == "scheduled__2026-11-30T02:00:00Z"
    assert variables["ONTRACK_GENERATION"] == "0"
    assert variables["REGION"] == "eu"
    assert "SLACK_BOT_TOKEN" not in variables


def test_a_failure_brings_its_exit_code_and_its_log(shop: Shop) -> None:
    shop.open({"load": shop.job("echo out; echo trouble >&2; exit 3")})

    shop.at("02:00:00")
    error = error_of(shop.until(*ENDED))

    assert error == ErrorReport(exit_code=3, log="out\ntrouble\n")


def test_a_command_that_is_killed_brings_the_signal(shop: Shop) -> None:
    shop.open({"load": shop.job("kill -SEGV $$")})

    shop.at("02:00:00")
    error = error_of(shop.until(*ENDED))

    assert (error.type, error.exit_code, error.signal) == (None, None, "SIGSEGV")


def test_a_run_over_its_timeout_is_ended_with_all_its_children_even_when_it_ignores_the_first_word(shop: Shop) -> None:
    shop.gate("gate")
    command = "trap '' TERM; (trap '' TERM; cat gate; echo late >> seen) & cat gate; wait; echo late >> seen"
    job = shop.job(command, timeout=timedelta(seconds=0.2), kill_after=timedelta(seconds=0.2))
    shop.open({"load": job})

    shop.at("02:00:00")
    error = error_of(shop.until(*ENDED))

    assert (error.type, error.signal) == ("ontrack.Timeout", "SIGKILL")
    assert error.message == "ran longer than its timeout of 0.2 s"
    assert not (shop.root / "seen").exists()


def test_what_made_a_process_group_of_its_own_is_ended_too(shop: Shop) -> None:
    os.mkfifo(shop.root / "ready")
    shop.gate("gate")
    command = "set -m; sh -c 'echo $$ > pid; echo > ready; cat gate; cat gate' & wait"
    shop.open({"load": shop.job(command, timeout=timedelta(seconds=2))})

    shop.at("02:00:00")
    (shop.root / "ready").read_text()
    handle = os.pidfd_open(int((shop.root / "pid").read_text()))
    error = error_of(shop.until(*ENDED))

    assert error.type == "ontrack.Timeout"
    assert select.select([handle], [], [], 20)[0] == [handle]
    os.close(handle)


def test_a_run_that_ends_in_peace_within_the_grace_after_its_timeout_has_still_failed(shop: Shop) -> None:
    shop.gate("gate")
    job = shop.job("trap 'exit 0' TERM; cat gate", timeout=timedelta(seconds=0.2))
    shop.open({"load": job})

    shop.at("02:00:00")
    error = error_of(shop.until(*ENDED))

    assert (error.type, error.exit_code) == ("ontrack.Timeout", 0)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the watch over memory needs /proc")
def test_a_run_that_holds_more_memory_than_it_may_is_killed(shop: Shop) -> None:
    shop.gate("gate")
    program = "held = b'x' * 100_000_000; open('gate').read()"
    shop.open({"load": shop.job((sys.executable, "-c", program), memory=60_000_000)})

    shop.at("02:00:00")
    ended = shop.until(*ENDED)
    error = error_of(ended)

    assert (error.type, error.signal) == ("ontrack.MemoryLimit", "SIGKILL")
    assert ended.facts["resources"]["max_rss_bytes"] > 60_000_000
    assert ended.facts["resources"]["memory_limit_bytes"] == 60_000_000


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="shared memory shows in /proc only")
def test_memory_that_processes_share_counts_once(shop: Shop) -> None:
    program = """
import os
held = b'x' * 40_000_000
children = []
for _ in range(4):
    pid = os.fork()
    if pid == 0:
        open('gate').read()
        os._exit(0)
    children.append(pid)
open('ready', 'w').close()
for pid in children:
    os.waitpid(pid, 0)
"""
    os.mkfifo(shop.root / "ready")
    shop.gate("gate")
    shop.open({"load": shop.job((sys.executable, "-c", program), memory=110_000_000)})

    shop.at("02:00:00")
    (shop.root / "ready").read_text()
    looks = 0
    while looks < 5:
        looks += select.select([], [], [], SCAN_EVERY) == ([], [], [])
    shop.free_gates()
    ended = shop.until(*ENDED)

    assert ended.kind is SourceKind.RUN_SUCCEEDED


def test_a_run_that_grows_faster_than_the_watch_looks_meets_its_limit_too(shop: Shop) -> None:
    program = "held = []\nwhile True: held.append(b'x' * 4_000_000)"
    shop.open({"load": shop.job((sys.executable, "-c", program), memory=60_000_000)})

    shop.at("02:00:00")
    ended = shop.until(*ENDED)

    assert error_of(ended).type == "ontrack.MemoryLimit"
    assert ended.facts["resources"]["max_rss_bytes"] < 200_000_000


@pytest.mark.parametrize(
    ("command", "code", "words"),
    [
        (("./no-such-program", "--now"), 127, "./no-such-program: command not found"),
        (("./text",), 126, "./text: Permission denied"),
        (("echo", "\0"), 126, "cannot be started: embedded null byte"),
    ],
)
def test_a_command_that_cannot_be_executed_fails_as_in_a_shell(
    shop: Shop, command: tuple[str, ...], code: int, words: str
) -> None:
    (shop.root / "text").write_text("no program")
    shop.open({"load": shop.job(command)})

    shop.at("02:00:00")
    error = error_of(shop.until(*ENDED))

    assert (error.type, error.exit_code) == ("ontrack.CannotStart", code)
    assert error.message == words


def test_a_shell_that_finds_no_command_says_so_itself(shop: Shop) -> None:
    shop.open({"load": shop.job("no_such_command --now")})

    shop.at("02:00:00")
    error = error_of(shop.until(*ENDED))

    assert (error.type, error.exit_code) == (None, 127)
    assert "no_such_command" in error.log


@pytest.mark.parametrize(("place", "reason"), [("gone", "No such file or directory"), ("file", "Not a directory")])
def test_a_directory_that_cannot_be_entered_is_a_failure_with_words(shop: Shop, place: str, reason: str) -> None:
    (shop.root / "file").write_text("")
    shop.open({"load": shop.job("true", directory=shop.root / place)})

    shop.at("02:00:00")
    error = error_of(shop.until(*ENDED))

    assert error.type == "ontrack.CannotStart"
    assert error.exit_code == 126
    assert error.message == f"{shop.root / place}: working directory: {reason}"


def test_output_that_is_no_text_is_kept_and_shown_as_well_as_can_be(shop: Shop) -> None:
    shop.open({"load": shop.job(r"printf '\377\000a\342\202\254'; exit 1")})

    shop.at("02:00:00")
    error = error_of(shop.until(*ENDED))

    assert error.log == "�\0a€"
    assert (shop.claims()[0] / "log").read_bytes() == b"\xff\0a\xe2\x82\xac"


def test_of_a_huge_output_the_beginning_and_the_end_are_kept(shop: Shop) -> None:
    program = "print('first'); [print('x' * 99) for _ in range(200_000)]; print('last'); raise SystemExit(1)"
    shop.open({"load": shop.job((sys.executable, "-c", program))})

    shop.at("02:00:00")
    error = error_of(shop.until(*ENDED))
    kept = (shop.claims()[0] / "log").read_bytes()

    assert HEAD + TAIL < len(kept) < HEAD + 2 * TAIL + 100
    assert kept.startswith(b"first\n")
    assert kept.endswith(b"x\nlast\n")
    assert b"bytes left out ...]" in kept
    assert error.log.startswith("first\n")
    assert error.log.endswith("x\nlast\n")
    assert len(error.log) < 300_000


def test_a_child_that_keeps_the_output_open_does_not_keep_the_run_from_ending(shop: Shop) -> None:
    shop.gate("gate")
    shop.open({"load": shop.job("cat gate & echo done")})

    shop.at("02:00:00")
    ended = shop.until(*ENDED)

    assert ended.kind is SourceKind.RUN_SUCCEEDED
    assert ended.ended_at is not None
    assert ended.ended_at - shop.now >= timedelta(seconds=DRAIN)


def test_processor_time_and_memory_are_told(shop: Shop) -> None:
    program = "sum(range(3_000_000))"
    shop.open({"load": shop.job((sys.executable, "-c", program))})

    shop.at("02:00:00")
    resources = shop.until(*ENDED).facts["resources"]

    assert 0 < resources["cpu_seconds"] < 20
    assert 1_000_000 < resources["max_rss_bytes"] < 1_000_000_000


def test_a_run_whose_predecessor_lives_is_skipped_and_says_why(shop: Shop) -> None:
    shop.gate("gate")
    shop.open({"load": shop.job("cat gate")})

    shop.at("02:00:00")
    shop.at("03:00:00")
    skipped = shop.until(SourceKind.RUN_SKIPPED)
    shop.let_go("gate")
    shop.until(SourceKind.RUN_SUCCEEDED)

    assert shop.kinds() == ["started", "skipped", "succeeded"]
    assert run_of(skipped).run_id == "scheduled__2026-11-30T03:00:00Z"
    assert skipped.error == ErrorReport(
        type="ontrack.Overlap", message="scheduled__2026-11-30T02:00:00Z of this job still runs"
    )


def test_runs_overlap_where_the_job_says_so(shop: Shop) -> None:
    shop.gate("gate")
    shop.open({"load": shop.job("echo x >> seen; cat gate", overlap=True)})

    shop.at("02:00:00")
    shop.at("03:00:00")
    shop.until(SourceKind.RUN_STARTED, count=2)

    assert shop.kinds() == ["started", "started"]


def test_old_runs_are_swept_and_the_newest_fifty_stay(shop: Shop) -> None:
    shop.open({"load": shop.job("true", schedule=None), "other": shop.job("true")})
    shop.at("02:00:00")
    for number in range(53):
        shop.scheduler.ask(shop.request(Action.START, "load", key=f"k{number}"))
        shop.until_seen(lambda event: event.job.name == "load" and event.kind in ENDED, count=number + 1)
    shop.at("02:00:01")

    names = [path.name.partition("-")[0] for path in shop.claims()]

    assert (names.count("load"), names.count("other")) == (50, 1)
