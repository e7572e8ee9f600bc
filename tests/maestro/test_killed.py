"""A real process of ontrack is killed (SIGKILL) in the middle of its restart, and started again: one restart all the same."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.incidents.model import Outcome, Status
from bot.store import Which
from storage.opening import open_storage
from tests.compose.processes import Process, started
from tests.maestro.fake.faults import Asked
from tests.maestro.fake.records import Clock, Run, millis
from tests.maestro.fake.server import Maestro
from tests.world.people import RESET

JOB = "revenue"
PATIENCE = 60.0
LOOKS = 0.05


class WallClock(Clock):
    """The real time: a process that runs by itself has no other."""

    def __init__(self) -> None:
        self._last = 0

    @property
    def now(self) -> datetime:
        return datetime.now(UTC)

    @now.setter
    def now(self, at: datetime) -> None:
        return

    def tick(self) -> int:
        self._last = max(self._last + 1, millis(self.now))
        return self._last


def policies(maestro: Maestro) -> str:
    return f"""
version: 1
schedulers:
  shop: {{type: maestro, url: "{maestro.url}", user: ontrack, workflows: [{JOB}], poll: 1s}}
teams:
  finance:
    slack: {{channel: C0FINANCE}}
    members: [U0ANA]
    budget: {{limit: 40, unit: run_hours, per: day}}
defaults:
  team: finance
  late: {{grace: 15m, start: off, finish: off}}
  rerun: {{max: 2, backoff: 200ms, budget: {{limit: 40, unit: run_hours, per: day}}}}
jobs:
  - {{match: shop/*, team: finance, safe_to_retry: {{causes: [network.connection_reset], by: U0ANA, since: 2026-11-02}}}}
fallback: {{channel: C0JOBS}}
"""


class Scene:
    """One database, one Maestro, and lives of ontrack, one after the other."""

    def __init__(self, path: Path, maestro: Maestro) -> None:
        self.maestro = maestro
        self.url = f"sqlite:///{path / 'ontrack.db'}"
        self.lives: list[Process] = []
        self._path = path
        (path / "policies.yaml").write_text(policies(maestro))

    def begins(self) -> Process:
        env = {
            "DATABASE_URL": self.url,
            "POLICIES": str(self._path / "policies.yaml"),
            "STATE_DIR": str(self._path / "state"),
            "SECRET_KEY": "a-key-of-thirty-two-characters-00",
        }
        process = started("run", env=env)
        self.lives.append(process)
        process.said("started")
        return process

    def fails(self) -> Run:
        run = self.maestro.scheduled(JOB, datetime.now(UTC).replace(second=0, microsecond=0))
        lines = tuple(RESET.strip().splitlines())
        self.maestro.fails_for_good(run, "load", message=lines[-1], errors=lines)
        return run

    def until(self, so: Callable[[], bool], what: str) -> None:
        waited = threading.Event()
        for _ in range(round(PATIENCE / LOOKS)):
            if so():
                return
            waited.wait(LOOKS)
        raise AssertionError(f"not in time: {what}; {[line.get('event') for line in self.lives[-1].lines[-15:]]}")


@contextmanager
def opened(path: Path) -> Iterator[Scene]:
    maestro = Maestro(WallClock())
    scene = Scene(path, maestro)
    try:
        yield scene
    finally:
        for life in scene.lives:
            life.close()
        maestro.close()


@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.parametrize("moment", ["before", "after"])
def test_killed_in_the_middle_of_its_restart_it_asks_for_no_second_one(tmp_path: Path, moment: str) -> None:
    with opened(tmp_path) as scene:
        maestro = scene.maestro
        maestro.push(JOB)
        for days in (3, 2, 1):
            maestro.succeeds(maestro.scheduled(JOB, datetime.now(UTC) - timedelta(days=days)))
        process = scene.begins()
        scene.until(lambda: bool(maestro.calls("GET", "/instances$")), "the first poll")

        def dies(asked: Asked) -> None:
            if asked.path.endswith("/restart") and process.popen.poll() is None:
                os.kill(process.popen.pid, signal.SIGKILL)

        if moment == "before":
            maestro.when_heard = dies
            maestro.fails_to_answer("drop", "/restart$")
        else:
            maestro.when_done = dies
        run = scene.fails()

        assert process.ends(within=timedelta(seconds=PATIENCE)) == -signal.SIGKILL

        done = len(maestro.reruns(JOB))
        again = scene.begins()
        scene.until(lambda: len(maestro.reruns(JOB)) == 1, "the restart")
        maestro.succeeds(maestro.run(JOB, run.instance_id))
        asked = len(maestro.asked)
        scene.until(lambda: len(maestro.asked) > asked + 6, "polls after its good end")
        again.tell(signal.SIGTERM)
        again.ends()
        storage = open_storage(scene.url, instance="reader")
        incidents = storage.reads.incidents(which=Which.ALL, jobs=f"shop/{JOB}", limit=10)
        storage.close()

    assert done == (1 if moment == "after" else 0)
    assert len(maestro.reruns(JOB)) == 1
    assert len(maestro.calls("POST", "/restart$")) == (1 if moment == "after" else 2)
    assert [(one.status, one.outcome) for one in incidents] == [(Status.RESOLVED, Outcome.RECOVERED)]
