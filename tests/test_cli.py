"""The commands as somebody types them: what they refuse, with which exit code and which words."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]


def typed(*words: str, **env: str) -> "subprocess.CompletedProcess[str]":
    inherited = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    argv = [sys.executable, "-m", "bot", *words]
    return subprocess.run(
        argv, cwd=ROOT, env={**inherited, **env}, capture_output=True, text=True, timeout=60, check=False
    )


def test_every_process_of_the_procfile_is_a_command() -> None:
    declared: dict[str, str] = yaml.safe_load((ROOT / "Procfile").read_text())
    helped = typed("--help").stdout

    assert list(declared) == ["release", "web", "worker", "clock"]
    for name, command in declared.items():
        *python, word = command.removeprefix("exec ").split()
        assert python == ["python", "-m", "bot"]
        assert f" {word} " in helped, name


def test_honcho_reads_the_procfile() -> None:
    checked = subprocess.run(
        [sys.executable, "-m", "honcho", "check"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )

    assert checked.returncode == 0, checked.stderr
    assert "release, web, worker, clock" in checked.stdout + checked.stderr


@pytest.mark.parametrize("role", ["web", "worker", "clock"])
def test_a_split_process_refuses_sqlite_and_says_what_to_do(tmp_path: Path, role: str) -> None:
    refused = typed(role, DATABASE_URL=f"sqlite:///{tmp_path}/ontrack.db")

    assert refused.returncode == 2
    assert f"{role} is one of several processes" in refused.stderr
    assert "python -m bot run" in refused.stderr
    assert "DATABASE_URL" in refused.stderr
    assert not (tmp_path / "ontrack.db").exists()


def test_a_bad_environment_is_told_whole(tmp_path: Path) -> None:
    refused = typed("run", DATABASE_URL="mysql://db", PORT="many")

    assert refused.returncode == 2
    assert "DATABASE_URL" in refused.stderr
    assert "PORT" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_migrating_twice_changes_nothing_the_second_time(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/ontrack.db"

    assert [typed("migrate", DATABASE_URL=url).returncode for _ in range(2)] == [0, 0]
