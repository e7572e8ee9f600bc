"""Starts the product's processes as a Procfile does, and reads what they say of themselves. It tests nothing."""

import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).resolve().parents[2]
Json = dict[str, Any]


@dataclass(slots=True)
class Process:
    """A process of ours. `lines` are its log so far; reading them goes on in a thread until it ends."""

    popen: "subprocess.Popen[str]"
    lines: list[Json] = field(default_factory=list)
    _news: threading.Condition = field(default_factory=threading.Condition)
    _ended: bool = False

    def __post_init__(self) -> None:
        threading.Thread(target=self._read, daemon=True).start()

    def said(self, event: str, *, within: timedelta = timedelta(seconds=60)) -> Json:
        """The first line of its log with these words, waited for."""
        with self._news:
            found = self._news.wait_for(lambda: self._first(event) or self._ended, within.total_seconds())
        line = self._first(event)
        assert line is not None, f"{event!r} was not said ({'it ended' if found else 'in time'}): {self.lines[-20:]}"
        return line

    def has_said(self, event: str) -> bool:
        return self._first(event) is not None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.said('started')['port']}"

    def post(self, *events: Json, token: str) -> httpx.Response:
        """Report these to its events door."""
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/cloudevents-batch+json"}
        content = json.dumps(events).encode()
        return httpx.post(f"{self.url}/api/v1/events", content=content, headers=headers, timeout=30, trust_env=False)

    def tell(self, number: signal.Signals) -> None:
        self.popen.send_signal(number)

    def ends(self, *, within: timedelta = timedelta(seconds=60)) -> int:
        return self.popen.wait(within.total_seconds())

    def close(self) -> None:
        if self.popen.poll() is None:
            self.popen.kill()
        self.popen.wait()
        with self._news:
            self._news.wait_for(lambda: self._ended, 10)

    def _first(self, event: str) -> Json | None:
        return next((line for line in self.lines if line.get("event") == event), None)

    def _read(self) -> None:
        assert self.popen.stderr is not None
        with self.popen.stderr as told:
            for line in told:
                with self._news:
                    self.lines.append(_parsed(line))
                    self._news.notify_all()
        with self._news:
            self._ended = True
            self._news.notify_all()


def _parsed(line: str) -> Json:
    try:
        read = json.loads(line)
    except ValueError:
        return {"event": line.rstrip()}
    return read if isinstance(read, dict) else {"event": line.rstrip()}


def started(*command: str, env: dict[str, str], module: str = "bot") -> Process:
    """`python -m bot <command>` with this environment beside what every process needs."""
    inherited = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    popen = subprocess.Popen(
        [sys.executable, "-m", module, *command],
        cwd=ROOT,
        env={**inherited, "LOG_FORMAT": "json", "PORT": "0", **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    return Process(popen)
