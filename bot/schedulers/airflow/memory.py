"""What a poller remembers from poll to poll and over a restart: how far it read, and what it knows of each run.

Losing it costs nothing but work: what was told already is told again under the same keys.
"""

import os
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

import msgspec
from msgspec import Struct

from bot.schedulers.airflow.audit import Deed, Done, RunName
from bot.schedulers.airflow.shapes import DagRun

UNCLEARED_KEPT, CLEARED_KEPT = timedelta(days=1), timedelta(days=30)
MOST_RUNS = 20_000


class Deeds(Struct):
    """What the audit log told of one run, the oldest first."""

    done: list[Done] = msgspec.field(default_factory=list)


class Seen(Struct):
    """A run as it was last told of: how often it was cleared, and up to which entry of the audit log that counts."""

    generation: int
    queued_at: datetime | None
    counted: int
    at: datetime
    told: list[str] = msgspec.field(default_factory=list)


class DagSeen(Struct):
    """A DAG as it was last told of; `missed`: in so many whole readings it was not there.

    `reads`, `writes`: its assets by name; None while those are not known.
    """

    next_run_at: datetime | None = None
    owner: str = ""
    schedule: str | None = None
    paused: bool = False
    missed: int = 0
    tags: list[str] = msgspec.field(default_factory=list)
    reads: list[str] | None = None
    writes: list[str] | None = None


class Memory(Struct):
    """`read_to`: runs that changed before were read; `heard_to`: the same of the audit log."""

    read_to: datetime | None = None
    heard_to: datetime | None = None
    runs: dict[str, Seen] = msgspec.field(default_factory=dict)
    deeds: dict[str, Deeds] = msgspec.field(default_factory=dict)
    dags: dict[str, DagSeen] = msgspec.field(default_factory=dict)

    def seen(self, name: RunName) -> Seen | None:
        return self.runs.get(_key(name))

    def done_to(self, name: RunName) -> list[Done]:
        found = self.deeds.get(_key(name))
        return found.done if found is not None else []

    def hear(self, name: RunName, done: Done) -> None:
        """Remember it, once."""
        known = self.deeds.setdefault(_key(name), Deeds()).done
        if all(one.id != done.id for one in known):
            known.append(done)
            known.sort(key=lambda one: one.id)

    def meet(self, run: DagRun, at: datetime) -> Seen:
        """The run with its generation as Airflow counts it: its clears.

        One that is new to us was cleared as often as the audit log tells; one that we know was cleared when `queued_at`
        moved: once, or as often as the log tells, unless all that it tells is that the state was set to queued by hand.
        """
        name = (run.dag_id, run.dag_run_id)
        known, done = self.runs.get(_key(name)), begun_by(run, self.done_to(name))
        newest = max((one.id for one in done), default=0)
        if known is None:
            clears = sum(one.deed is Deed.CLEARED for one in done)
            known = Seen(generation=clears, queued_at=run.queued_at, counted=newest, at=at)
        elif run.queued_at is not None and run.queued_at != known.queued_at:
            new = [one for one in done if one.id > known.counted]
            clears = sum(one.deed is Deed.CLEARED for one in new)
            requeued = any(one.deed is Deed.QUEUED for one in new)
            again = clears if clears or requeued else 1
            told = [] if again else known.told
            generation = known.generation + again
            known = Seen(generation=generation, queued_at=run.queued_at, counted=newest, at=at, told=told)
        known.at = at
        self.runs[_key(name)] = known
        return known

    def prune(self, now: datetime) -> None:
        """Forget runs of which nothing was heard for long, those that were never cleared sooner."""
        kept = {
            name: seen
            for name, seen in self.runs.items()
            if now - seen.at <= (CLEARED_KEPT if seen.generation else UNCLEARED_KEPT)
        }
        if len(kept) > MOST_RUNS:
            kept = dict(sorted(kept.items(), key=lambda one: one[1].at)[-MOST_RUNS:])
        self.runs = kept
        self.deeds = {
            name: deeds
            for name, deeds in self.deeds.items()
            if name in kept or (deeds.done and now - deeds.done[-1].at <= CLEARED_KEPT)
        }


def begun_by(run: DagRun, done: Sequence[Done]) -> list[Done]:
    """What queued the run, as far as the run shows it: a clear is logged before `queued_at` moves to its instant."""
    begun = run.queued_at
    return [one for one in done if one.deed in (Deed.CLEARED, Deed.QUEUED) and (begun is None or one.at <= begun)]


def recalled(path: Path) -> Memory:
    """What an earlier process left; nothing where there is none, or none that can be read."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Memory)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return Memory()


def keep(path: Path, memory: Memory) -> None:
    """Put it in place whole. Raises `OSError`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    passing = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    passing.write_bytes(msgspec.json.encode(memory))
    os.replace(passing, path)


def _key(name: RunName) -> str:
    return f"{name[0]}\n{name[1]}"
