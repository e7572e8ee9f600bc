"""From a scheduler's HTTP request to the call that Slack receives: one process, both databases, at a steady rate.

Each process is of its own: the product, the Slack that only takes, and this one, which sends. Two cores serve them all.
"""

import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import httpx

from bench.databases import HOW, POSTGRESQL, SQLITE, Databases, databases
from bench.figures import emit, quantile, say
from bench.processes import environment, free_port, running, wait_for
from bench.samples import TOKEN, event, policies

RATE, SECONDS, RUNS = 50, 8, 3
CHANNELS = 2000
BESIDE, BESIDE_BATCH = 500, 50
SETTLE = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How it is measured: the pace in ms (negative: the product's own), and batched successes beside."""

    name: str
    pace: int
    beside: bool = False


WAYS = (
    Way(name="pace off", pace=0),
    Way(name="default pace", pace=-1),
    Way(name=f"pace off, {BESIDE} successes/s beside", pace=0, beside=True),
)


def measure() -> None:
    """p50 and p99 of the root posts of distinct jobs and causes in 2,000 channels, and from start to ready."""
    with tempfile.TemporaryDirectory() as place, databases(Path(place)) as pool:
        for kind in (SQLITE, POSTGRESQL):
            for way in WAYS:
                _measure(pool, Path(place), kind, way)


def _measure(pool: Databases, place: Path, kind: str, way: Way) -> None:
    say(f"failure to Slack, {kind}, {way.name}: {RATE} a second for {SECONDS} s, {RUNS} runs")
    runs = [_run(pool.new(kind, place), place, way) for _ in range(RUNS)]
    at = {**HOW[kind], "at": f"{RATE}/s", "way": way.name, "channels": CHANNELS, "runs": RUNS}
    emit("event_to_slack_p50", median(quantile(took, 0.5) for took, _ in runs) * 1000, "ms", **at)
    emit("event_to_slack_p99", median(quantile(took, 0.99) for took, _ in runs) * 1000, "ms", **at)
    if way is WAYS[0]:
        emit("start_to_ready", median(ready for _, ready in runs), "s", **HOW[kind], runs=RUNS)


def _run(database: str, place: Path, way: Way) -> tuple[list[float], float]:
    """The times from sending to the root's arrival, and the seconds from start to ready."""
    sink, port = free_port(), free_port()
    file = place / "policies.yaml"
    file.write_text(policies(CHANNELS))
    env = environment(database=database, place=place, port=port, sink=sink)
    with running("bench.sink", str(sink), log=place / "sink.log"):
        wait_for(f"http://127.0.0.1:{sink}/seen")
        began = time.monotonic()
        with running("bench.serve", str(way.pace), log=place / "serve.log", env=env):
            wait_for(f"http://127.0.0.1:{port}/healthz")
            ready = time.monotonic() - began
            time.sleep(SETTLE)
            with _successes(port) if way.beside else _nothing():
                sent = _send(port)
            time.sleep(SETTLE)
        posts = httpx.get(f"http://127.0.0.1:{sink}/seen").json()
    roots = {channel: at for channel, what, at in reversed(posts) if what == "root"}
    missing = len(sent) - len(roots.keys() & sent.keys())
    if missing:
        say(f"{missing} of {len(sent)} roots had not come {SETTLE} s after the last failure")
    return [roots[channel] - at for channel, at in sent.items() if channel in roots], ready


def _send(port: int) -> dict[str, float]:
    """Send failures at a steady rate, each for a channel of its own; returns when each was sent."""
    sent: dict[str, float] = {}
    with httpx.Client(headers={"Authorization": f"Bearer {TOKEN}"}) as client:
        began = time.monotonic()
        for number in range(RATE * SECONDS):
            time.sleep(max(0.0, began + number / RATE - time.monotonic()))
            sent[f"C{number:04}"] = time.monotonic()
            answer = client.post(f"http://127.0.0.1:{port}/api/v1/events", json=event(number, channels=CHANNELS))
            answer.raise_for_status()
    return sent


@contextmanager
def _successes(port: int) -> Iterator[None]:
    """Good runs of other jobs, in batches, from a thread of this process."""
    over = threading.Event()

    def send() -> None:
        with httpx.Client(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=30) as client:
            first = 100_000
            while not over.wait(BESIDE_BATCH / BESIDE):
                numbers = range(first, first + BESIDE_BATCH)
                batch = [event(number, kind="run.succeeded", channels=CHANNELS) for number in numbers]
                client.post(f"http://127.0.0.1:{port}/api/v1/events", json=batch).raise_for_status()
                first += BESIDE_BATCH

    thread = threading.Thread(target=send)
    thread.start()
    yield
    over.set()
    thread.join()


@contextmanager
def _nothing() -> Iterator[None]:
    yield
