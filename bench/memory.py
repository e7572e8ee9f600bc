"""Resident memory of each process of the product at rest: started, ready, with nothing to do. Needs Linux's /proc."""

import re
import tempfile
import time
from pathlib import Path
from statistics import median

from bench.databases import HOW, POSTGRESQL, SQLITE, Databases, databases
from bench.figures import emit, say
from bench.processes import LOOPBACK, environment, free_port, running, wait_for, wait_until_said
from bench.samples import policies
from storage.migrating import migrate

RUNS = 3
LOOK_EVERY, LOOKS = 1.0, 90
AT_REST, APART = 5, 0.5
TEAMS = 10
PROCESSES = ((SQLITE, "run"), (POSTGRESQL, "run"), (POSTGRESQL, "web"), (POSTGRESQL, "worker"), (POSTGRESQL, "clock"))
STARTED = '"event": "started"'
_RESIDENT = re.compile(r"^VmRSS:\s+(\d+) kB$", re.MULTILINE)


def measure() -> None:
    """`run` on either database, and each of the split processes on PostgreSQL, alone on an empty database."""
    with tempfile.TemporaryDirectory() as folder, databases(Path(folder)) as pool:
        place = Path(folder)
        (place / "policies.yaml").write_text(policies(TEAMS))
        for kind, role in PROCESSES:
            say(f"memory at rest, {role} on {kind}: {RUNS} runs")
            found = [_at_rest(pool, place, kind, role) for _ in range(RUNS)]
            emit("memory_at_rest", median(found), "MiB", db=HOW[kind]["db"], process=role, teams=TEAMS, runs=RUNS)


def _at_rest(pool: Databases, place: Path, kind: str, role: str) -> float:
    """MiB that the process holds once it has started and come to rest."""
    database, sink, port = pool.new(kind, place), free_port(), free_port()
    migrate(database)
    env = environment(database=database, place=place, port=port, sink=sink)
    log = place / f"{role}.log"
    with running("bench.sink", str(sink), log=place / "sink.log"):
        wait_for(f"http://{LOOPBACK}:{sink}/seen")
        with running("bot", role, log=log, env=env) as pid:
            wait_until_said(STARTED, log)
            return _settled(pid)


def _settled(pid: int) -> float:
    """Its memory, once several looks in a row found the same."""
    looks: list[float] = []
    while len(looks) < LOOKS:
        time.sleep(LOOK_EVERY)
        looks.append(resident(pid))
        last = looks[-AT_REST:]
        if len(last) == AT_REST and max(last) - min(last) < APART:
            return looks[-1]
    raise RuntimeError(f"process {pid} does not come to rest: {looks[-AT_REST:]} MiB")


def resident(pid: int) -> float:
    """The MiB of memory that the process has in use, what it shares with others included."""
    found = _RESIDENT.search(Path(f"/proc/{pid}/status").read_text())
    if found is None:
        raise RuntimeError(f"process {pid} is not there")
    return int(found[1]) / 1024
