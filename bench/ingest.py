"""How many events are stored for good a second, one by one and in batches, and what one decision costs."""

import tempfile
import time
from functools import partial
from pathlib import Path

import msgspec

from bench.figures import emit, median_of, say
from bench.samples import event, policies
from bot.compose import Service, build
from bot.intake import Inbound
from bot.policies import PolicyFile
from bot.schedulers.cloudevents import decode
from bot.settings import Settings
from bot.sources import SourceEvent

SINGLE, BATCHED, BATCH = 300, 5000, 500


def measure() -> None:
    """Events a second through intake alone (no HTTP, no Slack), each batch its own commit."""
    say("taking events in")
    for kind, name in (("run.succeeded", "successes"), ("run.failed", "failures")):
        emit(f"{name}_stored_single", median_of(partial(_rate, kind, SINGLE, 1), runs=RUNS), "1/s", **_DB)
        emit(f"{name}_stored_batched", median_of(partial(_rate, kind, BATCHED, BATCH), runs=RUNS), "1/s", **_DB)


RUNS = 3
_DB = {"db": "sqlite", "runs": RUNS}


def service_in(folder: Path, **env: str) -> Service:
    """A built service that was not started, with its database in `folder`."""
    file = folder / "policies.yaml"
    file.write_text(policies())
    given = {"DATABASE_URL": f"sqlite:///{folder}/ontrack.db", "POLICIES": str(file), "STATE_DIR": f"{folder}/state"}
    return build(Settings.from_env({**given, **env}), PolicyFile(file, env={}))


def _rate(kind: str, count: int, batch: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        service = service_in(Path(folder))
        body = msgspec.json.encode([event(number, kind=kind) for number in range(count)])
        events = [one for one in decode(body, "application/json") if isinstance(one, SourceEvent)]
        inbounds = [Inbound(key=one.key, event=one) for one in events]
        began = time.perf_counter()
        for first in range(0, count, batch):
            service.intake.take_in(inbounds[first : first + batch])
        took = time.perf_counter() - began
        service.stop()
        return count / took
