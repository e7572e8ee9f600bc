"""The sandbox's world in a directory of its own, with a feed server on loopback."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bot.sandbox.feed import Feed
from bot.sandbox.world import World

Ran = subprocess.CompletedProcess[str]
NOMINAL_TIME = "2026-11-30T06:00:00Z"


@pytest.fixture
def feed() -> Iterator[Feed]:
    running = Feed()
    yield running
    running.stop()


@pytest.fixture
def world(tmp_path: Path, feed: Feed) -> Iterator[World]:
    laid_out = World(tmp_path, feed)
    laid_out.prepare()
    yield laid_out
    laid_out.release_ledger()


@pytest.fixture
def ran(world: World) -> Callable[..., Ran]:
    """Runs a sample job as the scheduler would: `ran("feed_import.py", "payments", job="payments_import")`."""

    def run(script: str, *words: str, job: str = "a_job", nominal_time: str = NOMINAL_TIME) -> Ran:
        env = {
            **os.environ,
            "FEED": world.feed.address,
            "ONTRACK_JOB": job,
            "ONTRACK_NOMINAL_TIME": nominal_time,
        }
        argv = [sys.executable, "-I", f"jobs/{script}", *words]
        return subprocess.run(
            argv, cwd=world.directory, env=env, capture_output=True, text=True, timeout=30, check=False
        )

    return run
