"""Starts the stand-in scheduler as a process of its own, for tests, and speaks to it; it judges nothing."""

import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

Json = dict[str, Any]
ROOT = Path(__file__).resolve().parents[2]


@dataclass(slots=True, kw_only=True)
class SchedulerProcess:
    """A process that can be killed and started anew on the same port and journal; `url` is what policies.yaml names."""

    journal: Path
    events: str
    token: str
    secret: str
    port: int = 0
    _process: subprocess.Popen[str] = field(init=False, repr=False)
    _client: httpx.Client = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._client = httpx.Client(timeout=30, trust_env=False)
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/ontrack"

    def start(self) -> None:
        """Returns when it listens."""
        given = {"port": self.port, "journal": self.journal, "events": self.events}
        options = [part for name, value in given.items() for part in (f"--{name}", str(value))]
        command = [sys.executable, "-m", "tests.standins.scheduler", *options]
        shared = ["--token", self.token, "--secret", self.secret]
        self._process = subprocess.Popen([*command, *shared], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line.startswith("scheduler on "), f"the stand-in did not start: {line!r}"
        self.port = int(line.rsplit(":", 1)[1])

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)
        self._client.close()

    def control(self, **wish: Any) -> None:
        """`jobs={"orders": {"outcome": "failed"}}`, `faults=[{"what": "drop_after"}]`, `at=...`, `events=...`."""
        self._client.post(self._at("control"), json=wish).raise_for_status()

    def rows(self, what: str) -> list[Json]:
        """The journal's rows of that kind: `taken`, `again`, `refused`."""
        return [row for row in self._journal()["rows"] if row["what"] == what]

    def taken(self, action: str) -> list[Json]:
        """The requests that it took, each once."""
        return [row["request"] for row in self.rows("taken") if row["request"]["action"] == action]

    def reports(self) -> list[Json]:
        """The events that it has reported, with the answers that it got."""
        reports: list[Json] = self._journal()["reports"]
        return reports

    def settles(self) -> None:
        """Returns when every run has reported what there is to report."""
        assert self._client.get(self._at("idle")).json()["idle"], "a report was not taken in"

    def _journal(self) -> Json:
        found: Json = self._client.get(self._at("journal")).raise_for_status().json()
        return found

    def _at(self, name: str) -> str:
        return f"http://127.0.0.1:{self.port}/{name}"

    def _end(self, how: signal.Signals) -> None:
        self._process.send_signal(how)
        self._process.wait(10)
        if self._process.stdout is not None:
            self._process.stdout.close()
