"""From a scheduler's HTTP request to the call that Slack receives: one process on SQLite, at a steady rate."""

import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import httpx
import uvicorn

from bench.figures import emit, quantile, say
from bench.ingest import service_in
from bench.samples import CHANNELS, SECRET, TOKEN, event

RATE, SECONDS = 50, 6


def measure() -> None:
    """p50 and p99 of the root post, 50 failures a second, distinct jobs and causes, one channel in four seconds."""
    say(f"failure to Slack, {RATE} a second for {SECONDS} s")
    sink = _free_port()
    process = subprocess.Popen([sys.executable, "-m", "bench.sink", str(sink)])
    try:
        _wait_for(f"http://127.0.0.1:{sink}/seen")
        took = _run(sink)
    finally:
        process.terminate()
        process.wait()
    at = {"db": "sqlite", "at": f"{RATE}/s", "channels": CHANNELS, "of": len(took)}
    emit("event_to_slack_p50", quantile(took, 0.5) * 1000, "ms", **at)
    emit("event_to_slack_p99", quantile(took, 0.99) * 1000, "ms", **at)


def _run(sink: int) -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        service = service_in(
            Path(folder),
            SLACK_API_URL=f"http://127.0.0.1:{sink}/api",
            SLACK_BOT_TOKEN="xoxb-bench",
            SLACK_SIGNING_SECRET=SECRET,
            SOURCE_TOKENS=f"bench:{TOKEN}",
        )
        listening = socket.create_server(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        server = uvicorn.Server(uvicorn.Config(service.app, log_level="error", access_log=False))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        service.start()
        _wait_for(f"http://127.0.0.1:{port}/healthz")
        sent = _send(port)
        time.sleep(2)
        posts = httpx.get(f"http://127.0.0.1:{sink}/seen").json()
        server.should_exit = True
        thread.join()
        service.stop()
    roots: dict[str, list[float]] = {}
    for channel, what, at in posts:
        if what == "root":
            roots.setdefault(channel, []).append(at)
    return [
        at - sent_at
        for channel, sent_ats in sent.items()
        for sent_at, at in zip(sent_ats, sorted(roots.get(channel, [])), strict=False)
    ]


def _send(port: int) -> dict[str, list[float]]:
    """Send at a steady rate; returns when each channel's failures were sent."""
    sent: dict[str, list[float]] = {}
    with httpx.Client(headers={"Authorization": f"Bearer {TOKEN}"}) as client:
        began = time.monotonic()
        for number in range(RATE * SECONDS):
            time.sleep(max(0.0, began + number / RATE - time.monotonic()))
            sent.setdefault(f"C{number % CHANNELS:04}", []).append(time.monotonic())
            answer = client.post(f"http://127.0.0.1:{port}/api/v1/events", json=event(number))
            answer.raise_for_status()
    return sent


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


def _wait_for(url: str) -> None:
    for _ in range(100):
        try:
            httpx.get(url)
            return
        except httpx.TransportError:
            time.sleep(0.1)
    raise RuntimeError(f"{url} did not answer")
