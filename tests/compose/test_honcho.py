"""The Procfile as honcho runs it: release first, then web, worker and clock together, until they are told to stop."""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import psycopg
import pytest

from tests.compose.conftest import Company, Meet
from tests.kills.town import free_port
from tests.world.people import RESET, SOURCE_TOKEN
from tests.world.reports import Report

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = timedelta(seconds=120)
LOOK_AGAIN = 0.05
JOBS = ("orders", "refunds", "ledger")
ENDED = re.compile(r"(\w+)\.1 stopped \(rc=(-?\d+)\)")
HELD = """
SELECT (SELECT count(*) FROM outbox WHERE leased_by IS NOT NULL) + (SELECT count(*) FROM views WHERE leased_by IS NOT NULL)
"""


@contextmanager
def started(company: Company, log: Path, *processes: str, port: int) -> Iterator["subprocess.Popen[bytes]"]:
    """`honcho start` with these lines of the Procfile; what they and honcho say goes to `log`."""
    nothing = log.with_suffix(".env")
    nothing.touch()
    env = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": os.environ.get("HOME", "/"),
        "LOG_FORMAT": "json",
        **company.environment(),
        "PORT": str(port),
    }
    with log.open("wb") as told:
        command = [sys.executable, "-m", "honcho", "start", "--no-colour", "-e", str(nothing), *processes]
        running = subprocess.Popen(command, cwd=ROOT, env=env, stdout=told, stderr=told, start_new_session=True)
    try:
        yield running
    finally:
        if running.poll() is None:
            running.terminate()
        running.wait(PATIENCE.total_seconds())


def statuses(log: Path) -> dict[str, int]:
    """How each process ended, as honcho saw it."""
    return {name: int(status) for name, status in ENDED.findall(log.read_text())}


def wait_ready(url: str, honcho: "subprocess.Popen[bytes]", log: Path) -> None:
    pause, until = threading.Event(), datetime.now(UTC) + PATIENCE
    while datetime.now(UTC) < until and honcho.poll() is None:
        try:
            if httpx.get(f"{url}/readyz", trust_env=False).status_code == 200:
                return
        except httpx.TransportError:
            pass
        pause.wait(LOOK_AGAIN)
    raise AssertionError(f"web is not ready:\n{log.read_text()[-4000:]}")


def fail(url: str, *jobs: str) -> None:
    now = datetime.now(UTC)
    reports = [
        Report(kind="failed", job=job, at=now, nominal=now - timedelta(hours=2), error={"exit_code": 1, "log": RESET})
        for job in jobs
    ]
    answer = httpx.post(
        f"{url}/api/v1/events",
        json=[report.event() for report in reports],
        headers={"Authorization": f"Bearer {SOURCE_TOKEN}", "Content-Type": "application/cloudevents-batch+json"},
        timeout=30,
        trust_env=False,
    )

    assert [one["result"] for one in answer.json()["results"]] == ["accepted"] * len(jobs)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_honcho_runs_the_procfile_and_all_of_it_ends_cleanly(
    company_on: Meet, empty_postgresql_url: str, tmp_path: Path
) -> None:
    """Told to stop in the middle of the work: at one message a second to a channel, the rest still waits."""
    company, log, port = company_on(empty_postgresql_url), tmp_path / "honcho.log", free_port()
    with started(company, tmp_path / "release.log", "release", port=port) as release:
        assert release.wait(PATIENCE.total_seconds()) == 0

    with started(company, log, "web", "worker", "clock", port=port) as honcho:
        url = f"http://127.0.0.1:{port}"
        wait_ready(url, honcho, log)
        fail(url, *JOBS)
        company.sees(company.roots, within=PATIENCE)
        honcho.send_signal(signal.SIGTERM)
        honcho.wait(PATIENCE.total_seconds())

    assert statuses(log) == {"web": 0, "worker": 0, "clock": 0}
    assert log.read_text().count('"event": "stopped"') == 3
    with psycopg.connect(empty_postgresql_url) as connection:
        assert connection.execute(HELD.encode()).fetchone() == (0,)
