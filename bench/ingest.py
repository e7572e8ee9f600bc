"""How many events are stored for good a second, one by one and in batches, and what one decision costs."""

import tempfile
import time
from functools import partial
from pathlib import Path

import msgspec

from bench.databases import HOW, POSTGRESQL, SQLITE, Databases, databases
from bench.figures import emit, median_of, say
from bench.samples import event, policies
from bot.compose import Service, build
from bot.compose.running import settle_heap
from bot.intake import Inbound
from bot.policies import PolicyFile
from bot.schedulers.cloudevents import decode
from bot.settings import Settings
from bot.sources import SourceEvent

SINGLE, BATCHED, BATCH, RUNS = 300, 5000, 500, 3


def measure() -> None:
    """Events a second through intake alone (no HTTP, no Slack), each batch its own commit."""
    with tempfile.TemporaryDirectory() as place, databases(Path(place)) as pool:
        for db in (SQLITE, POSTGRESQL):
            for kind, name in (("run.succeeded", "successes"), ("run.failed", "failures")):
                say(f"taking in {name}, {db}")
                single = partial(_rate, pool, db, kind, SINGLE, 1)
                batched = partial(_rate, pool, db, kind, BATCHED, BATCH)
                how = {**HOW[db], "runs": RUNS}
                emit(f"{name}_stored_single", median_of(single, runs=RUNS), "1/s", **how)
                emit(f"{name}_stored_batched", median_of(batched, runs=RUNS), "1/s", batch=BATCH, **how)


def _rate(pool: Databases, db: str, kind: str, count: int, batch: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        service = _service(Path(folder), pool.new(db, Path(folder)))
        body = msgspec.json.encode([event(number, kind=kind) for number in range(count)])
        events = [one for one in decode(body, "application/json") if isinstance(one, SourceEvent)]
        inbounds = [Inbound(key=one.key, event=one) for one in events]
        settle_heap()
        began = time.perf_counter()
        for first in range(0, count, batch):
            service.intake.take_in(inbounds[first : first + batch])
        took = time.perf_counter() - began
        service.stop()
        return count / took


def _service(folder: Path, database: str) -> Service:
    """A built service that is not started: nothing is sent, only stored."""
    file = folder / "policies.yaml"
    file.write_text(policies())
    env = {"DATABASE_URL": database, "POLICIES": str(file), "STATE_DIR": f"{folder}/state"}
    return build(Settings.from_env(env), PolicyFile(file, env={}), threads=0)
