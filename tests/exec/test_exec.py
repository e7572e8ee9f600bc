"""`exec`: the command is as it would be without us, and what became of it is told, now or later, once."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.exec.receiver import TOKEN, Receiver, receiving

ROOT = Path(__file__).parents[2]
NOWHERE = "http://127.0.0.1:9"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


def hears_all() -> None:
    """A test run in a shell's background ignores SIGINT; what it starts would as well."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


class Crontab:
    """A line of a crontab: runs `exec` in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.spool = folder / "spool"

    def env(self, url: str | None) -> Mapping[str, str]:
        own = {"ONTRACK_URL": url, "ONTRACK_TOKEN": TOKEN, "ONTRACK_SPOOL": str(self.spool)} if url else {}
        return {"PATH": os.environ["PATH"], "HOME": str(self.spool.parent), **own}

    def begins(self, url: str | None, *arguments: str, **how: object) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "bot", "exec", *arguments]
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        settings: dict[str, Any] = {**streams, "preexec_fn": hears_all, **how}
        return subprocess.Popen(command, cwd=ROOT, env=self.env(url), **settings)

    def runs(self, url: str | None, *arguments: str) -> tuple[int, bytes, bytes]:
        process = self.begins(url, *arguments)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def waiting(self) -> list[Path]:
        return sorted(self.spool.glob("*.json"))


@pytest.fixture
def crontab(tmp_path: Path) -> Crontab:
    return Crontab(tmp_path)


def test_a_good_run_is_told_with_its_begin_and_its_end(crontab: Crontab, receiver: Receiver) -> None:
    status, out, err = crontab.runs(receiver.url, "--job", "nightly_load", "--", "sh", "-c", "echo out; echo err >&2")

    assert (status, out, err) == (0, b"out\n", b"err\n")
    assert receiver.kinds == ["run.started", "run.succeeded"]
    assert receiver.tokens == {f"Bearer {TOKEN}"}
    begun, ended = (event["data"] for event in receiver.events)
    assert begun["run"]["id"] == ended["run"]["id"]
    assert (ended["scheduler"], ended["job"]) == ("cron", "nightly_load")
    assert ended["run"]["started_at"] == begun["run"]["started_at"] <= ended["run"]["ended_at"]
    assert ended["cost"]["unit"] == "run_hours"
    assert ended["facts"]["config"] == {"command": "sh -c echo out; echo err >&2"}
    assert crontab.waiting() == []


def test_a_failed_run_is_told_with_its_exit_status_and_the_end_of_its_output(
    crontab: Crontab, receiver: Receiver
) -> None:
    told = "i=0; while [ $i -lt 9000 ]; do echo line $i; i=$((i+1)); done; echo the end >&2; exit 3"
    status, out, _ = crontab.runs(receiver.url, "--job", "nightly_load", "--", "sh", "-c", told)

    assert status == 3
    assert out.count(b"\n") == 9000
    assert receiver.kinds == ["run.started", "run.failed"]
    error = receiver.last["error"]
    assert error["exit_code"] == 3
    assert len(error["log"]) <= 64 * 1024
    assert "the end" in error["log"]
    assert "line 8000\n" in error["log"]


@pytest.mark.parametrize(
    ("command", "expected", "word"),
    [
        (("sh", "-c", "kill -9 $$"), 128 + 9, "SIGKILL"),
        (("sh", "-c", "kill -15 $$"), 128 + 15, "SIGTERM"),
        (("/no/such/command",), 127, None),
        (("/",), 126, None),
        (("sh", "-c", "exit 255"), 255, None),
    ],
)
def test_every_end_is_the_commands_own(
    crontab: Crontab, receiver: Receiver, command: tuple[str, ...], expected: int, word: str | None
) -> None:
    status, _, _ = crontab.runs(receiver.url, "--job", "x", "--", *command)

    assert status == expected
    assert receiver.kinds == ["run.started", "run.failed"]
    assert receiver.last["error"].get("signal") == word
    assert receiver.last["error"]["exit_code"] == expected


def test_output_passes_through_as_bytes_and_input_is_the_commands(crontab: Crontab, receiver: Receiver) -> None:
    process = crontab.begins(receiver.url, "--job", "x", "--no-log", "--", "cat", stdin=subprocess.PIPE)
    given = bytes(range(256)) * 5000
    out, err = process.communicate(given, timeout=60)

    assert (process.returncode, out, err) == (0, given, b"")


def test_without_log_nothing_of_the_output_is_told(crontab: Crontab, receiver: Receiver) -> None:
    crontab.runs(receiver.url, "--job", "x", "--no-log", "--", "sh", "-c", "echo secret; exit 1")

    assert "secret" not in str(receiver.last["error"])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGUSR1])
def test_a_signal_reaches_the_command_and_its_end_is_told(
    crontab: Crontab, receiver: Receiver, number: signal.Signals
) -> None:
    trap = f"trap 'echo caught; kill $!; exit 7' {number.name[3:]}; echo ready; sleep 60 & wait"
    process = crontab.begins(receiver.url, "--job", "x", "--", "sh", "-c", trap)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(number)
    out, _ = process.communicate(timeout=60)

    assert (process.returncode, out) == (7, b"caught\n")
    assert receiver.last["error"]["exit_code"] == 7


def test_what_nohup_ignores_stays_ignored(crontab: Crontab, receiver: Receiver) -> None:
    def ignore() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    process = crontab.begins(
        receiver.url, "--job", "x", "--", "sh", "-c", "echo ready; read line; echo on", stdin=subprocess.PIPE,
        preexec_fn=ignore,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGHUP)
    out, _ = process.communicate(b"go\n", timeout=60)

    assert (process.returncode, out) == (0, b"on\n")


def test_a_command_whose_reader_has_gone_ends_as_it_would(crontab: Crontab, receiver: Receiver) -> None:
    process = crontab.begins(receiver.url, "--job", "x", "--", "sh", "-c", "while echo y; do :; done; exit 5")
    assert process.stdout is not None
    process.stdout.close()

    process.communicate(timeout=60)
    assert process.returncode in (5, 128 + signal.SIGPIPE)
    assert receiver.kinds == ["run.started", "run.failed"]


def test_what_is_left_in_the_background_is_passed_on_and_does_not_hold_up_the_report(
    crontab: Crontab, receiver: Receiver, tmp_path: Path
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    process = crontab.begins(receiver.url, "--job", "x", "--", "sh", "-c", f"cat {pipe} & exit 0")

    assert [receiver.told.get(timeout=60) for _ in range(2)] == ["run.started", "run.succeeded"]
    pipe.write_text("late")
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, b"late")


def test_while_ontrack_is_down_the_command_is_as_ever_and_the_next_exec_tells_all(
    crontab: Crontab, receiver: Receiver
) -> None:
    status, out, err = crontab.runs(NOWHERE, "--job", "x", "--", "sh", "-c", "echo out; exit 4")

    assert (status, out) == (4, b"out\n")
    assert b"sent later" in err
    assert len(crontab.waiting()) == 2
    assert {path.stat().st_mode & 0o777 for path in crontab.waiting()} == {0o600}

    crontab.runs(receiver.url, "--job", "y", "--", "true")

    told = [(event["data"]["job"], kind) for event, kind in zip(receiver.events, receiver.kinds, strict=True)]
    assert told == [("x", "run.started"), ("x", "run.failed"), ("y", "run.started"), ("y", "run.succeeded")]
    assert crontab.waiting() == []


@pytest.mark.parametrize("status", [401, 413, 500, 503, 302])
def test_an_answer_that_is_no_yes_loses_nothing(crontab: Crontab, receiver: Receiver, status: int) -> None:
    receiver.status = status
    code, _, _ = crontab.runs(receiver.url, "--job", "x", "--", "true")
    assert code == 0
    assert len(crontab.waiting()) == 2

    receiver.status = 200
    code, _, err = crontab.runs(receiver.url, "--flush")

    assert (code, err) == (0, b"")
    assert receiver.kinds == ["run.started", "run.succeeded"]


def test_what_is_rejected_is_put_aside_and_blocks_nothing(crontab: Crontab, receiver: Receiver) -> None:
    receiver.reject = frozenset({"io.ontrack.run.started"})
    code, _, err = crontab.runs(receiver.url, "--job", "x", "--", "true")

    assert code == 0
    assert receiver.kinds == ["run.succeeded"]
    assert crontab.waiting() == []
    assert b"rejected" in err
    assert len(list((crontab.spool / "rejected").glob("*.json"))) == 1


@pytest.mark.parametrize(
    "answer", [b"", b"<html>", b"[]", b'{"results": 7}', b'{"results": [1, 2]}', b'{"results": []}']
)
def test_an_answer_of_something_else_than_ontrack_loses_nothing(
    crontab: Crontab, receiver: Receiver, answer: bytes
) -> None:
    receiver.answer = answer
    code, _, _ = crontab.runs(receiver.url, "--job", "x", "--", "true")

    assert code == 0
    assert len(crontab.waiting()) == 2


def test_a_service_that_hangs_does_not_keep_the_command_from_beginning(crontab: Crontab, receiver: Receiver) -> None:
    receiver.hangs = threading.Event()
    process = crontab.begins(receiver.url, "--job", "x", "--", "sh", "-c", "echo begun; exit 0")
    assert process.stdout is not None

    assert process.stdout.readline() == b"begun\n"
    receiver.hangs.set()
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert receiver.kinds == ["run.started", "run.succeeded"]


def test_without_address_or_token_the_command_runs_and_its_report_waits(crontab: Crontab, tmp_path: Path) -> None:
    code, out, err = crontab.runs(None, "--job", "x", "--", "echo", "out")

    assert (code, out) == (0, b"out\n")
    assert b"ONTRACK_URL is not set" in err
    assert len(list((tmp_path / ".local/state/ontrack/spool").glob("*.json"))) == 2


def test_a_disk_that_cannot_be_written_to_changes_nothing_for_the_command(crontab: Crontab, receiver: Receiver) -> None:
    crontab.spool.write_text("a file where the folder should be")
    code, out, err = crontab.runs(receiver.url, "--job", "x", "--", "echo", "out")

    assert (code, out) == (0, b"out\n")
    assert b"will be lost" in err
    assert receiver.kinds == ["run.started", "run.succeeded"]


def test_a_damaged_report_is_put_aside(crontab: Crontab, receiver: Receiver) -> None:
    crontab.spool.mkdir()
    (crontab.spool / "00000000000000000001-1-1.json").write_text('{"half": ')
    code, _, _ = crontab.runs(receiver.url, "--job", "x", "--", "true")

    assert code == 0
    assert receiver.kinds == ["run.started", "run.succeeded"]
    assert crontab.waiting() == []


def test_the_line_of_the_crontab_tells_which_run_it_is(crontab: Crontab, receiver: Receiver) -> None:
    crontab.runs(receiver.url, "--job", "x", "--cron", "0 * * * *", "--timezone", "Europe/Berlin", "--", "true")

    nominal = receiver.last["run"]["nominal_time"]
    assert nominal.endswith(":00:00Z")
    assert nominal <= receiver.last["run"]["started_at"]


def test_facts_are_told_by_their_names(crontab: Crontab, receiver: Receiver) -> None:
    crontab.runs(receiver.url, "--job", "x", "--fact", "code.version=4f2a9c1", "--fact", "params.day=mon", "--", "true")

    facts = receiver.last["facts"]
    assert (facts["code"], facts["params"]) == ({"version": "4f2a9c1"}, {"day": "mon"})


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--", "true"), "--job"),
        (("--job", "x"), "command"),
        (("--job", "x", "--cron", "61 * * * *", "--", "true"), "--cron"),
        (("--job", "x", "--cron", "0 * * * *", "--timezone", "Mars/Base", "--", "true"), "Mars/Base"),
        (("--job", "x", "--nominal-time", "2026-11-30T02:30:00", "--", "true"), "--nominal-time"),
        (("--job", "x", "--nominal-time", "soon", "--", "true"), "--nominal-time"),
        (("--job", "x", "--fact", "nonsense", "--", "true"), "--fact"),
    ],
)
def test_wrong_options_run_nothing_and_are_named(
    crontab: Crontab, receiver: Receiver, arguments: tuple[str, ...], named: str
) -> None:
    code, _, err = crontab.runs(receiver.url, *arguments)

    assert code == 2
    assert named in err.decode()
    assert receiver.events == []
