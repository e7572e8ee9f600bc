"""The facts of a run tell its code, parameters, inputs and bounds, and what they cannot tell they say."""

import hashlib
import os
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.schedulers.local.facts import COUNTED, LARGEST_CONFIG, gather, git_revision
from bot.schedulers.local.job import LocalJob

STARTED = datetime(2026, 11, 30, 2, 0, 3, tzinfo=UTC)


def facts_of(job: LocalJob) -> dict[str, Any]:
    return gather(
        job, env={"REGION": "eu", "PATH": "/bin"}, nominal_time=STARTED - timedelta(seconds=3), started_at=STARTED
    )


def input_of(directory: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = facts_of(LocalJob(command="true", directory=directory, inputs=(name,)))["inputs"][name]
    return found


def git(directory: Path, *words: str) -> str:
    identity = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "PATH": os.environ["PATH"]}
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com", "-C", str(directory), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=identity).stdout.strip()


def test_a_table_tells_its_rows_and_columns(tmp_path: Path) -> None:
    (tmp_path / "orders.csv").write_bytes(b'\xef\xbb\xbfid;"amount";day\r\n1;2;3\r\n4;5;6')
    os.utime(tmp_path / "orders.csv", (1_700_000_000, 1_700_000_000))

    assert input_of(tmp_path, "orders.csv") == {
        "bytes": 32,
        "rows": 2,
        "schema": ["id", "amount", "day"],
        "updated_at": "2023-11-14T22:13:20+00:00",
    }


@pytest.mark.parametrize(
    ("name", "content", "rows"),
    [
        ("notes.txt", b"one\ntwo\n", 2),
        ("notes.txt", b"one\ntwo", 2),
        ("empty.txt", b"", 0),
        ("numbers.csv", b"1,2\n3,4\n", 2),
        ("image.bin", b"\0\n\n", None),
    ],
)
def test_a_text_tells_its_rows_and_other_bytes_do_not(tmp_path: Path, name: str, content: bytes, rows: int) -> None:
    (tmp_path / name).write_bytes(content)

    found = input_of(tmp_path, name)

    assert found["bytes"] == len(content)
    assert found.get("rows") == rows
    assert "schema" not in found


def test_of_a_file_that_is_too_big_to_count_the_rows_are_a_lower_bound(tmp_path: Path) -> None:
    with open(tmp_path / "big.txt", "wb") as file:
        file.write(b"row of text\n" * 100_000)
        file.writelines(b"x" * 1_000_000 for _ in range(COUNTED // 1_000_000 + 2))

    found = input_of(tmp_path, "big.txt")

    assert found["rows_at_least"] == 100_001
    assert "rows" not in found


def test_an_input_that_is_not_there_or_no_file_says_so(tmp_path: Path) -> None:
    (tmp_path / "incoming").mkdir()
    (tmp_path / "incoming" / "a.csv").write_text("")
    os.mkfifo(tmp_path / "pipe")

    assert input_of(tmp_path, "gone.csv") == {"missing": True}
    assert input_of(tmp_path, "incoming/a.csv/deeper") == {"missing": True}
    assert input_of(tmp_path, "incoming")["files"] == 1
    assert input_of(tmp_path, "pipe") == {"kind": "special file"}
    assert input_of(tmp_path, "nul\0") == {"unreadable": "embedded null byte"}


def test_the_digest_follows_the_scripts_and_not_the_inputs(tmp_path: Path) -> None:
    (tmp_path / "load.sh").write_text("echo 1")
    (tmp_path / "orders.csv").write_text("id\n1\n")
    job = LocalJob(command="sh ./load.sh orders.csv", directory=tmp_path, inputs=("orders.csv",))
    before = facts_of(job)["code"]

    (tmp_path / "orders.csv").write_text("id\n2\n")
    assert facts_of(job)["code"] == before

    (tmp_path / "load.sh").write_text("echo 2")
    assert facts_of(job)["code"] != before
    once = hashlib.sha256(b"echo 1").digest()
    assert before == {"digest": f"sha256:{hashlib.sha256(once).hexdigest()}"}


def test_the_version_is_the_commit_however_git_keeps_it(tmp_path: Path) -> None:
    assert git_revision(tmp_path) is None
    git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    assert git_revision(tmp_path) is None
    git(tmp_path, "commit", "--quiet", "--allow-empty", "--message", "first")
    git(tmp_path, "worktree", "add", "--quiet", "-b", "side", "tree")
    (tmp_path / "tree" / "deep").mkdir()
    commit = git(tmp_path, "rev-parse", "HEAD")

    assert git_revision(tmp_path) == commit
    assert git_revision(tmp_path / "tree" / "deep") == commit
    git(tmp_path, "pack-refs", "--all")
    assert git_revision(tmp_path) == commit
    assert git_revision(tmp_path / "tree") == commit
    git(tmp_path, "checkout", "--quiet", "--detach")
    assert git_revision(tmp_path) == commit


def test_parameters_surroundings_bounds_and_timing_are_told(tmp_path: Path) -> None:
    job = LocalJob(
        command=("./load", "--day", "today"),
        directory=tmp_path,
        env={"REGION": "eu"},
        timeout=timedelta(minutes=5),
        memory=1_000_000,
    )

    facts = facts_of(job)

    assert facts["params"] == {"command": ["./load", "--day", "today"], "env": {"REGION": "eu"}}
    assert facts["env"]["names"] == ["PATH", "REGION"]
    assert facts["resources"] == {"timeout_seconds": 300.0, "memory_limit_bytes": 1_000_000}
    assert facts["timing"]["waited_seconds"] == 3.0


def test_an_edited_config_has_another_digest_at_the_same_size(tmp_path: Path) -> None:
    digests = []
    for text in ("usd = 1.0841\n", "usd = 1.O841\n"):
        (tmp_path / "rates.ini").write_text(text)
        digests.append(input_of(tmp_path, "rates.ini")["digest"])

    assert len(set(digests)) == 2


def test_data_and_what_is_too_big_for_a_config_have_no_digest(tmp_path: Path) -> None:
    (tmp_path / "orders.csv").write_text("id\n1\n")
    (tmp_path / "huge.ini").write_bytes(b"x" * (LARGEST_CONFIG + 1))

    assert "digest" not in input_of(tmp_path, "orders.csv")
    assert "digest" not in input_of(tmp_path, "huge.ini")


@pytest.mark.parametrize("name", ["rates.ini", "load.sql", "requirements-dev.txt"])
def test_a_short_text_that_people_keep_is_there_in_words_without_its_secrets(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("host = a\npassword = Zq8xK2mPw94LtRb7Vd3NhJ6c\n")

    assert input_of(tmp_path, name)["text"] == "host = a\npassword = [masked]\n"


@pytest.mark.parametrize(("name", "size"), [("rates.ini", 9000), ("notes.txt", 10), ("orders.csv", 10)])
def test_a_long_text_and_data_are_not_kept_in_words(tmp_path: Path, name: str, size: int) -> None:
    (tmp_path / name).write_text("x\n" * size)

    assert "text" not in input_of(tmp_path, name)
