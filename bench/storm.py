"""An outage: 10,000 jobs of four teams in one channel fail within a minute. What is stored when, and what Slack is sent."""

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx

from bench.databases import HOW, POSTGRESQL, SQLITE, databases
from bench.figures import emit, say
from bench.processes import environment, free_port, running, wait_for
from bench.samples import TOKEN, event
from bot.store import Which
from storage.opening import open_storage

JOBS, BATCH, WITHIN = 10_000, 50, 60.0
TEAMS = 4
SETTLE, AFTER = 2.0, 30.0
EVERY_JOB = 2 * JOBS


def measure() -> None:
    """One process with the product's own pace, on both databases."""
    with tempfile.TemporaryDirectory() as place, databases(Path(place)) as pool:
        for kind in (SQLITE, POSTGRESQL):
            say(f"storm of {JOBS} failures within {WITHIN:.0f} s, {kind}")
            _run(pool.new(kind, Path(place)), Path(place), kind)


def policies() -> str:
    """Four teams that share a channel; a quarter of the jobs each."""
    teams = "\n".join(
        f"  team{n}: {{slack: {{channel: C0001, usergroup: S{n:04}}}, members: [U0001]}}" for n in range(TEAMS)
    )
    jobs = "\n".join(f"  - {{match: bench/*-{n:04}, team: team{n}}}" for n in range(TEAMS))
    return f"version: 1\nschedulers:\n  bench: {{type: events}}\nteams:\n{teams}\njobs:\n{jobs}\n"


def _run(database: str, place: Path, kind: str) -> None:
    sink, port = free_port(), free_port()
    (place / "policies.yaml").write_text(policies())
    env = environment(database=database, place=place, port=port, sink=sink)
    with running("bench.sink", str(sink), log=place / "sink.log"):
        wait_for(f"http://127.0.0.1:{sink}/seen")
        with running("bench.serve", "-1", log=place / "serve.log", env=env):
            wait_for(f"http://127.0.0.1:{port}/readyz")
            time.sleep(SETTLE)
            began, stored = _send(port)
            time.sleep(AFTER)
        counts = httpx.get(f"http://127.0.0.1:{sink}/counts").json()
    at: dict[str, Any] = {**HOW[kind], "jobs": JOBS, "teams": TEAMS, "within_s": WITHIN}
    emit("storm_all_stored", stored, "s", **at)
    emit("storm_first_message", counts["first_post_at"] - began, "s", **at)
    emit("storm_records", _records(database), "records", **at)
    calls = counts["calls"]
    sent = {"posts": calls.get("chat.postMessage", 0), "updates": calls.get("chat.update", 0)}
    emit("storm_slack_calls", sum(sent.values()), "calls", **sent, until_s=round(stored + AFTER), **at)
    emit("storm_most_posts_in_a_channel", _most(counts["posts"], 1.0), "1/s", **at)
    emit("storm_most_updates", _most(counts["updates"], 60.0), "1/min", **at)
    emit("storm_asks", counts["asks"], "asks", **at)


def _send(port: int) -> tuple[float, float]:
    """Send the failures evenly in batches; when the first was sent, and after how long the last was stored."""
    with httpx.Client(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60) as client:
        began = time.monotonic()
        for first in range(0, JOBS, BATCH):
            time.sleep(max(0.0, began + first / JOBS * WITHIN - time.monotonic()))
            batch = [event(number, channels=TEAMS) for number in range(first, first + BATCH)]
            client.post(f"http://127.0.0.1:{port}/api/v1/events", json=batch).raise_for_status()
        return began, time.monotonic() - began


def _records(database: str) -> int:
    storage = open_storage(database, instance="bench", read_only=True)
    try:
        return len(storage.reads.incidents(which=Which.ALL, limit=EVERY_JOB))
    finally:
        storage.close()


def _most(instants: Sequence[float], span: float) -> int:
    """The most of them within any such span."""
    most, first = 0, 0
    for last, at in enumerate(instants):
        while at - instants[first] >= span:
            first += 1
        most = max(most, last - first + 1)
    return most
