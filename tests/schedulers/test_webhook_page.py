"""The receiver on the page `docs/connect-your-own.md` does what the page says: it is run as it stands there."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.incidents.keys import Action, Capability, JobKey, RunRef
from bot.policies.specs import WebhookSpec
from bot.ports import SchedulerRequest, Taken
from bot.schedulers.cloudevents import decode
from bot.schedulers.webhook import WebhookScheduler
from bot.sources import SourceEvent, SourceKind
from tests.adapters.peer import Peer
from tests.house.tree import ROOT

PAGE = ROOT / "docs/connect-your-own.md"
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
TOKEN = "token-of-inhouse"
NOMINAL = datetime(2026, 11, 30, 3, tzinfo=UTC)


@pytest.fixture
def product() -> Iterator[Peer]:
    """Where the receiver reports: it takes everything in."""
    server = Peer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.over.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@pytest.fixture
def receiver(product: Peer, port: int, tmp_path: Path) -> Iterator[None]:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    jobs = {"nightly_load": "echo loading", "broken": "echo no such table; exit 3"}
    env = {
        "PATH": os.environ["PATH"],
        "PORT": str(port),
        "JOBS": json.dumps(jobs),
        "INHOUSE_SECRET": SECRET,
        "ONTRACK_TOKEN": TOKEN,
        "ONTRACK_EVENTS": f"{product.url}v1/events",
    }
    process = subprocess.Popen([sys.executable, "-c", code], env=env, cwd=tmp_path, stderr=subprocess.DEVNULL)
    wait_for(lambda: answers(port))
    yield
    process.kill()
    process.wait()


def wait_for(so: Any) -> None:
    pause = threading.Event()
    for _ in range(1000):
        if so():
            return
        pause.wait(0.01)
    raise AssertionError("it did not come about within ten seconds")


def answers(port: int) -> bool:
    with socket.socket() as knocking:
        return knocking.connect_ex(("127.0.0.1", port)) == 0


def ask(
    port: int, *, job: str = "nightly_load", action: Action = Action.RERUN, secret: str = SECRET
) -> tuple[Taken, str]:
    can = frozenset({Capability.RERUN, Capability.START, Capability.PAUSE})
    spec = WebhookSpec(name="inhouse", url=f"http://127.0.0.1:{port}/ontrack", secret=secret, can=can)
    scheduler = WebhookScheduler(spec, clock=lambda: datetime.now(UTC))
    request = SchedulerRequest(
        action=action,
        key=f"inhouse/{job}:rerun:4",
        job=JobKey(scheduler="inhouse", name=job),
        run=RunRef(run_id="n-2026-11-30", nominal_time=NOMINAL),
        nominal_times=(NOMINAL,),
    )
    answer = scheduler.ask(request)
    return answer.taken, answer.message


def reported(product: Peer, times: int) -> list[SourceEvent]:
    """What the receiver has reported, as the events door reads it."""
    wait_for(lambda: len(product.received) >= times)
    found = []
    for received in product.received:
        headers = {name.lower(): value for name, value in received.headers.items()}
        assert headers["authorization"] == f"Bearer {TOKEN}"
        (event,) = decode(received.content, headers["content-type"])
        assert isinstance(event, SourceEvent), str(event)
        found.append(event)
    return found


@pytest.mark.usefixtures("receiver")
def test_a_rerun_is_done_once_and_reported(product: Peer, port: int) -> None:
    assert ask(port) == (Taken.TAKEN, "")
    assert ask(port) == (Taken.ALREADY, "taken before")

    started, succeeded = reported(product, 2)
    assert (started.kind, succeeded.kind) == (SourceKind.RUN_STARTED, SourceKind.RUN_SUCCEEDED)
    assert succeeded.run is not None
    assert (succeeded.run.run_id, succeeded.run.generation) == ("n-2026-11-30", 1)
    assert succeeded.run.nominal_time == NOMINAL
    assert succeeded.rerun_key == "inhouse/nightly_load:rerun:4"


@pytest.mark.usefixtures("receiver")
def test_a_start_is_a_first_run(product: Peer, port: int) -> None:
    assert ask(port, action=Action.START) == (Taken.TAKEN, "")

    started, succeeded = reported(product, 2)
    assert started.run is not None
    assert (started.run.run_id, started.run.generation) == ("n-2026-11-30", 0)
    assert succeeded.run is not None
    assert (succeeded.run.nominal_time, succeeded.rerun_key) == (NOMINAL, "inhouse/nightly_load:rerun:4")


@pytest.mark.usefixtures("receiver")
def test_a_rerun_that_fails_is_reported_with_its_log(product: Peer, port: int) -> None:
    assert ask(port, job="broken") == (Taken.TAKEN, "")

    _, failed = reported(product, 2)
    assert failed.kind is SourceKind.RUN_FAILED
    assert failed.error is not None
    assert (failed.error.exit_code, failed.error.log) == (3, "no such table\n")


@pytest.mark.usefixtures("receiver")
def test_what_it_cannot_do_or_does_not_trust_is_refused(port: int) -> None:
    assert ask(port, action=Action.PAUSE) == (Taken.REFUSED, "cannot pause nightly_load")
    assert ask(port, job="unheard_of") == (Taken.REFUSED, "cannot rerun unheard_of")
    assert ask(port, secret="another") == (Taken.REFUSED, "not signed by ontrack")
