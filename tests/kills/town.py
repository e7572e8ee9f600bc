"""The product beside both stand-ins, each in a process of its own; the product dies and is born again, they stay.

It plays no part in what happens there.
"""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

import httpx

from bot.sandbox.slack.client import Workspace
from tests.kills import company
from tests.kills.edge import Moment, Trap
from tests.kills.journals import Seen, Tail

ROOT = Path(__file__).resolve().parents[2]
LOOPBACK = "127.0.0.1"
PATIENCE = 30.0
PORTS = (20_000, 32_000)
ALONE = ("run",)
FRONTS = ("run", "web")


@dataclass(slots=True)
class StandIn:
    """A stand-in's process, and the trap at its edge."""

    which: str
    options: Mapping[str, str]
    log: Path
    url: str = ""
    _process: "subprocess.Popen[str]" = field(init=False, repr=False)
    _client: httpx.Client = field(init=False, repr=False)

    def __post_init__(self) -> None:
        options = [part for name, value in self.options.items() for part in (f"--{name}", value)]
        self._process = _python("tests.kills.edges", self.which, *options, errors=self.log)
        self.url = _line(self._process)
        self._client = httpx.Client(base_url=self.url, timeout=2 * PATIENCE, trust_env=False)

    def set_trap(self, trap: Trap | None) -> None:
        self._client.post("/edge/trap", content=json.dumps(asdict(trap) if trap else None)).raise_for_status()

    def has_sprung(self, *, within: float) -> bool:
        return bool(self._client.get("/edge/sprung", params={"within": within}).json()["sprung"])

    def is_idle(self) -> bool:
        """Whether every run of the scheduler has reported what there is to report."""
        return bool(self._client.get("/idle").json()["idle"])

    def faults_met(self) -> int:
        return sum(fault["met"] for fault in self._client.get("/control/faults").json()["faults"])

    def stop(self) -> None:
        self._client.close()
        _end(self._process)


@dataclass(slots=True)
class Town:
    """`roles` are the product's processes; `pids` those that live. `died` counts the kills, `lives` the births."""

    place: Path
    database_url: str
    teams: Sequence[str]
    roles: Sequence[str] = ALONE
    local: bool = True
    port: int = 0
    pids: dict[str, int] = field(default_factory=dict)
    died: int = 0
    lives: int = 0
    up: threading.Event = field(default_factory=threading.Event)
    slack: StandIn = field(init=False)
    scheduler: StandIn = field(init=False)
    workspace: Workspace = field(init=False)
    seen: Seen = field(init=False)
    _nursery: "subprocess.Popen[str]" = field(init=False, repr=False)
    _http: httpx.Client = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.port = self.port or free_port()
        seed = self.place / "seed.json"
        seed.write_text(json.dumps(company.seed(self.teams)))
        slack, shop = self.place / "slack.jsonl", self.place / "scheduler.jsonl"
        given = {"product": self.url, "secret": company.SECRET, "journal": str(slack), "seed": str(seed)}
        self.slack = StandIn("slack", given, self.place / "slack.log")
        asked = {"secret": company.SHOP_SECRET, "token": company.SHOP_TOKEN, "journal": str(shop)}
        self.scheduler = StandIn("scheduler", {"product": self.url, **asked}, self.place / "scheduler.log")
        self.write_policies()
        self.workspace = Workspace(self.slack.url)
        self.seen = Seen(Tail(slack), Tail(shop))
        self._http = httpx.Client(base_url=self.url, timeout=PATIENCE, trust_env=False)
        env = company.environment(
            database_url=self.database_url, place=self.place, slack=self.slack.url, port=self.port
        )
        self._nursery = _python("tests.kills.nursery", str(self.log), errors=self.log, env=env)
        _line(self._nursery)

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    @property
    def log(self) -> Path:
        return self.place / "product.log"

    @property
    def ledger(self) -> Path:
        """Where the local job writes each run of its own."""
        return self.place / company.LOCAL_RUNS

    def write_policies(self, remark: str = "") -> None:
        """Other bytes are another version; replaced at once, as editors do."""
        text = company.policies(self.teams, scheduler=f"{self.scheduler.url}/ontrack", local=self.local)
        new = self.place / "policies.new"
        new.write_text(f"{text}# {remark}\n")
        new.replace(self.place / "policies.yaml")

    def begin(self, role: str) -> int:
        """A new process of that role; it may not be ready yet.

        A command that the dead one was just about to start holds its sockets for a moment, until it is another program.
        """
        if role in FRONTS:
            self._until_free()
        self.pids[role] = int(self._ordered(f"born {role}"))
        self.lives += 1
        return self.pids[role]

    def migrate(self) -> None:
        """The `release` of the split processes."""
        assert self._ordered(f"ended {int(self._ordered('born migrate'))}") == "0"

    def start(self) -> None:
        """All processes that do not live; returns when the doors answer."""
        for role in self.roles:
            if role not in self.pids:
                self.begin(role)
        self.wait_ready()

    def wait_ready(self) -> None:
        front = next(role for role in self.roles if role in FRONTS)
        while True:
            try:
                self._http.get("/healthz").raise_for_status()
                break
            except httpx.TransportError:
                if _is_gone(self.pids[front]):
                    raise RuntimeError(f"{front} ended by itself:\n{self.log.read_text()[-4000:]}") from None
                self.up.wait(0.01)
        self.up.set()

    def kill(self, role: str | None = None) -> None:
        """SIGKILL, at once."""
        for name in (role,) if role else tuple(self.pids):
            os.kill(self.pids[name], signal.SIGKILL)
            self.buried(name)

    def buried(self, role: str) -> int:
        """Wait for the end of the process, however it came, and return its exit status."""
        self.up.clear()
        status = int(self._ordered(f"ended {self.pids.pop(role)}"))
        self.died += status == -signal.SIGKILL
        return status

    def tell(self, role: str, number: signal.Signals) -> None:
        os.kill(self.pids[role], number)

    def trap(self, where: StandIn, path: str, moment: Moment, *, role: str = "", **calls: tuple[str, ...]) -> None:
        """The next such call to the stand-in kills its caller."""
        pid = self.pids[role or next(iter(self.pids))]
        where.set_trap(Trap(pid=pid, path=path, moment=moment, **calls))

    def answers(self) -> bool:
        """Whether anybody listens at the product's address."""
        with socket.socket() as tried:
            return tried.connect_ex((LOOPBACK, self.port)) == 0

    def stop(self) -> None:
        for name in tuple(self.pids):
            self.kill(name)
        self.seen.stop()
        self.workspace.close()
        self._http.close()
        _end(self._nursery)
        self.scheduler.stop()
        self.slack.stop()

    def _until_free(self) -> None:
        ends = time.monotonic() + PATIENCE
        while time.monotonic() < ends:
            with suppress(OSError), socket.create_server((LOOPBACK, self.port)):
                return
            self.up.wait(0.01)
        raise RuntimeError(f"port {self.port} does not come free")

    def _ordered(self, order: str) -> str:
        assert self._nursery.stdin is not None
        self._nursery.stdin.write(f"{order}\n")
        self._nursery.stdin.flush()
        return _line(self._nursery)


@contextmanager
def opened(town: Town) -> Iterator[Town]:
    try:
        yield town
    finally:
        town.stop()


def free_port() -> int:
    """A port below those that the system hands out, so that it is still free for the next life."""
    dice = random.SystemRandom()
    while True:
        port = dice.randrange(*PORTS)
        with socket.socket() as tried:
            if tried.connect_ex((LOOPBACK, port)):
                return port


def _python(
    module: str, *arguments: str, errors: Path, env: Mapping[str, str] | None = None
) -> "subprocess.Popen[str]":
    with errors.open("ab") as told:
        return subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            cwd=ROOT,
            env={**os.environ, **(env or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=told,
            text=True,
        )


def _line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    line = process.stdout.readline().strip()
    if not line:
        raise RuntimeError(f"a process did not answer: {process.args!r}")
    return line


def _end(process: "subprocess.Popen[str]") -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


def _is_gone(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return True
    return stat.rpartition(") ")[2][0] == "Z"
