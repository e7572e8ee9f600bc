"""Processes of our own beside the one that measures: started, waited for, ended with it. It measures nothing."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx

from bench.samples import SECRET, TOKEN

LOOPBACK = "127.0.0.1"
LOOKS, LOOK_AGAIN = 6000, 0.02


def environment(*, database: str, place: Path, port: int, sink: int) -> dict[str, str]:
    """What a process of the product needs: `place` holds policies.yaml, at `sink` listens the Slack that only takes."""
    return {
        **os.environ,
        "DATABASE_URL": database,
        "POLICIES": str(place / "policies.yaml"),
        "PORT": str(port),
        "STATE_DIR": str(place / "state"),
        "SLACK_API_URL": f"http://{LOOPBACK}:{sink}/api/",
        "SLACK_BOT_TOKEN": "xoxb-bench",
        "SLACK_SIGNING_SECRET": SECRET,
        "SOURCE_TOKENS": f"bench:{TOKEN}",
        "LOG_FORMAT": "json",
    }


@contextmanager
def running(module: str, *args: str, log: Path, env: Mapping[str, str] | None = None) -> Iterator[int]:
    """`python -m module args`; yields its pid. What it says stands in `log`."""
    with log.open("wb") as told:
        process = subprocess.Popen([sys.executable, "-m", module, *args], env=env, stdout=told, stderr=told)
    try:
        yield process.pid
    finally:
        process.terminate()
        process.wait()


def wait_for(url: str) -> None:
    """Return when something answers there."""
    for _ in range(LOOKS):
        try:
            httpx.get(url, trust_env=False)
            return
        except httpx.TransportError:
            time.sleep(LOOK_AGAIN)
    raise RuntimeError(f"{url} did not answer")


def wait_until_said(words: str, log: Path) -> None:
    """Return when the process that writes this log has said so."""
    for _ in range(LOOKS):
        if words in log.read_text():
            return
        time.sleep(LOOK_AGAIN)
    raise RuntimeError(f"{words!r} was not said: {log.read_text()[-2000:]}")


def free_port() -> int:
    with socket.create_server((LOOPBACK, 0)) as listening:
        port: int = listening.getsockname()[1]
        return port
