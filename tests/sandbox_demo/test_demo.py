"""Starting and stopping the demo, and the whole story as `demo --check` plays it."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from bot.sandbox import demo
from bot.sandbox.demo import PortTaken
from bot.sandbox.remains import living
from bot.sandbox.slack.client import Workspace
from bot.sandbox.tour import FIRST_MINUTE
from bot.sandbox.world import World

ROOT = Path(__file__).resolve().parents[2]


def test_a_started_demo_answers_everywhere_and_leaves_nothing(tmp_path: Path) -> None:
    running = demo.start(tmp_path, tour=False)
    try:
        with Workspace(running.address) as workspace:
            seeded = workspace.state()
        health = httpx.get(f"http://127.0.0.1:{running.settings.port}/readyz")
    finally:
        running.stop()

    assert httpx.codes.is_success(health.status_code), health.text
    assert [each["url"] for each in seeded["actions"]] == [
        f"{running.control}/actions/{name}" for name in running.actions
    ]
    assert list(living(tmp_path / "state")) == []
    with pytest.raises(httpx.ConnectError):
        httpx.get(running.address)


def test_a_taken_port_is_told_with_what_to_do(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        with pytest.raises(PortTaken, match=f"port {port} cannot be used.*--port"):
            demo.start(tmp_path, port=port, tour=False)


def test_a_port_that_was_taken_leaves_a_directory_that_can_be_used(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(PortTaken):
        demo.start(tmp_path, port=taken.getsockname()[1], tour=False)

    demo.start(tmp_path, tour=False).stop()


def test_the_tour_presses_buttons_that_are_there(world: World) -> None:
    assert {name for _, name in FIRST_MINUTE} <= {one.name for one in world.actions()}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_says_where_it_is_and_ends_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    argv = [sys.executable, "-m", "bot", "demo", "--port", "0"]
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(argv, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout is not None
            told = iter(running.stdout)
            address = next(line for line in told if "http://" in line).split()[-1]
            shown = httpx.get(address, timeout=60)
            running.send_signal(number)
            rest = "".join(told)

            assert running.wait(timeout=30) == 0
        finally:
            running.kill()
    assert shown.status_code == 200
    assert "is kept in" in rest
    assert not any(list(living(state)) for state in tmp_path.glob("ontrack-demo-*/state"))


def test_the_command_names_a_taken_port(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        argv = [sys.executable, "-m", "bot", "demo", "--port", str(taken.getsockname()[1])]
        env = {**os.environ, "TMPDIR": str(tmp_path)}
        ended = subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, timeout=30, check=False)

    assert ended.returncode == 1
    assert ended.stderr.startswith(f"port {argv[-1]} cannot be used")
    assert "Traceback" not in ended.stderr


@pytest.mark.slow
def test_the_whole_story_is_seen(tmp_path: Path) -> None:
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    played = subprocess.run(
        [sys.executable, "-m", "bot", "demo", "--check"],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        timeout=130,
        check=False,
    )

    assert played.returncode == 0, f"{played.stdout}\n{played.stderr}"
    assert "10 of 10 chapters seen" in played.stdout
    assert "==== #finance-jobs" in played.stdout
    assert "==== nora@example.com" in played.stdout
    assert not any(list(living(state)) for state in tmp_path.glob("ontrack-check-*/state"))
