"""What a poller remembers of each workflow from poll to poll and over a restart. A file each, since there may be hundreds.

Losing it costs nothing but work: what was told already is told again under the same keys.
"""

import hashlib
import os
from datetime import datetime, timedelta
from pathlib import Path

import msgspec
from msgspec import Struct, field

KEPT = timedelta(days=3)
MOST_INSTANCES = 500


class Origin(Struct):
    """How an instance came about: what began it, its nominal time (as Maestro writes instants), of whom it is a part."""

    trigger: str
    nominal: int | None = None
    ancestors: list[str] = field(default_factory=list)


class Seen(Struct):
    """An instance as it was last read: its newest run, how that was and since when, and what was told of which run.

    `part`: it is told of by another workflow's run.
    """

    run: int
    status: str
    at: datetime
    since: datetime
    origin: Origin | None = None
    part: bool = False
    told: list[str] = field(default_factory=list)

    def knows(self, run: int, word: str) -> bool:
        return f"{run} {word}" in self.told

    def tell(self, run: int, word: str) -> None:
        if not self.knows(run, word):
            self.told = [*self.told, f"{run} {word}"][-60:]


class Held(Struct):
    """A workflow as its definition was last told: `expected` is the next start that has not been seen yet.

    `filled`: every name of a signal is known.
    """

    version: int | None = None
    properties: int | None = None
    expected: datetime | None = None
    word: str = ""
    strategy: str | None = None
    reads: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    filled: bool = True


class WorkflowSeen(Struct):
    """`read_to`: instances up to it are known; `read_at`: when that was.

    `good_at`: when the last good run ended; `latest_due`: the newest nominal time of a run of the schedule. `standing`: how its
    living run was last said to stand.
    """

    name: str
    latest: int | None = None
    failed: int = 0
    living: dict[str, int] = field(default_factory=dict)
    read_to: int | None = None
    read_at: datetime | None = None
    good_at: datetime | None = None
    latest_due: datetime | None = None
    gone: int = 0
    standing: str = ""
    held: Held | None = None
    instances: dict[int, Seen] = field(default_factory=dict)

    def prune(self, now: datetime) -> None:
        """Forget instances that have ended and of which nothing was heard for long."""
        kept = {number: seen for number, seen in self.instances.items() if now - seen.at <= KEPT or not seen.told}
        if len(kept) > MOST_INSTANCES:
            kept = dict(sorted(kept.items())[-MOST_INSTANCES:])
        self.instances = kept


def recalled(state: Path, name: str) -> WorkflowSeen:
    """What an earlier process left; nothing where there is none, or none that can be read."""
    try:
        found = msgspec.json.decode(_path(state, name).read_bytes(), type=WorkflowSeen)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return WorkflowSeen(name=name)
    return found if found.name == name else WorkflowSeen(name=name)


def keep(state: Path, seen: WorkflowSeen) -> None:
    """Put it in place whole. Raises `OSError`."""
    path = _path(state, seen.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    passing = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    passing.write_bytes(msgspec.json.encode(seen))
    os.replace(passing, path)


def copied(seen: WorkflowSeen) -> WorkflowSeen:
    """One of its own, to be changed while nothing is told yet."""
    return msgspec.json.decode(msgspec.json.encode(seen), type=WorkflowSeen)


def _path(state: Path, name: str) -> Path:
    letters = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:24]
    return state / f"{letters}.json"
