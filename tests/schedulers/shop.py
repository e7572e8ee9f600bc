"""A local scheduler over real processes, with a clock that moves by hand and a report that can be told to fail."""

import json
import os
import queue
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bot.evidence.types import ErrorReport
from bot.incidents.keys import Action, JobKey, RunRef
from bot.incidents.policy import Schedule
from bot.ports import SchedulerRequest
from bot.schedulers.local.claims import Claims
from bot.schedulers.local.job import LocalJob
from bot.schedulers.local.scheduler import LocalScheduler
from bot.sources import SourceEvent, SourceKind

HOURLY = Schedule(cron="0 * * * *")
PATIENCE = 30.0
ENDED = (SourceKind.RUN_SUCCEEDED, SourceKind.RUN_FAILED, SourceKind.RUN_CANCELLED, SourceKind.RUN_SKIPPED)


class NotStored(Exception):
    """Intake could not commit."""


@dataclass(slots=True)
class Shop:
    """One state directory, and the schedulers that live over it one after the other."""

    root: Path
    now: datetime = datetime(2026, 11, 30, 1, 59, 30, tzinfo=UTC)
    events: list[SourceEvent] = field(default_factory=list)
    refused: int = 0
    refuse: bool = False
    woken: "queue.SimpleQueue[None]" = field(default_factory=queue.SimpleQueue)
    scheduler: LocalScheduler = field(init=False)
    gates: list[Path] = field(default_factory=list)

    def open(self, jobs: Mapping[str, LocalJob]) -> LocalScheduler:
        """Start a scheduler, as a new process would, and let it look around."""
        self.scheduler = LocalScheduler(
            "cron",
            jobs,
            state=self.root / "state",
            clock=lambda: self.now,
            report=self.report,
            woken=lambda: self.woken.put(None),
        )
        self.scheduler.step(self.now)
        return self.scheduler

    def job(self, command: str | tuple[str, ...], **changes: Any) -> LocalJob:
        fields: dict[str, Any] = {
            "directory": self.root,
            "schedule": HOURLY,
            "kill_after": timedelta(seconds=5),
        } | changes
        return LocalJob(command=command, **fields)

    def report(self, events: Sequence[SourceEvent]) -> None:
        if self.refuse:
            self.refused += 1
            raise NotStored
        self.events.extend(events)

    def at(self, clock: str) -> datetime | None:
        """Move to that time of the day, and step."""
        self.now = datetime.fromisoformat(f"2026-11-30T{clock}+00:00")
        return self.scheduler.step(self.now)

    def until(self, *kinds: SourceKind, count: int = 1) -> SourceEvent:
        """Step whenever the scheduler wakes us, until so many events of these kinds were reported; the newest."""
        return self.until_seen(lambda event: event.kind in kinds, count=count)

    def until_all_ended(self, count: int) -> list[SourceEvent]:
        self.until(*ENDED, count=count)
        return [event for event in self.events if event.kind in ENDED]

    def until_seen(self, wanted: Callable[[SourceEvent], bool], *, count: int = 1) -> SourceEvent:
        while len(found := [event for event in self.events if wanted(event)]) < count:
            self.woken.get(timeout=PATIENCE)
            self.scheduler.step(self.now)
        return found[-1]

    def kinds(self) -> list[str]:
        return [event.kind.removeprefix("run.") for event in self.events]

    def gate(self, name: str) -> Path:
        """A pipe that holds a command (`cat NAME`) until `let_go`."""
        path = self.root / name
        os.mkfifo(path)
        self.gates.append(path)
        return path

    def let_go(self, name: str) -> None:
        (self.root / name).write_bytes(b"")

    def free_gates(self) -> None:
        for path in self.gates:
            with suppress(OSError):
                os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))

    def close(self) -> None:
        """End whatever a test left running."""
        self.free_gates()
        claims = Claims(self.root / "state" / "runs")
        for path in (self.root / "state" / "runs").glob("[!.]*/run.json"):
            claim = path.parent.name
            if claims.is_living(claim):
                os.kill(json.loads(path.read_text())["guard_pid"], signal.SIGKILL)
                claims.wait(claim)
                claims.kill_remains(claim)

    def request(self, action: Action, job: str, **fields: Any) -> SchedulerRequest:
        fields = {"key": f"key-{action}", "requested_by": "ana@example.com"} | fields
        return SchedulerRequest(action=action, job=JobKey(scheduler="cron", name=job), **fields)

    def claims(self) -> list[Path]:
        return sorted(path for path in (self.root / "state" / "runs").iterdir() if not path.name.startswith("."))

    def lines(self, name: str) -> list[str]:
        return (self.root / name).read_text().splitlines()


def error_of(event: SourceEvent) -> ErrorReport:
    assert event.kind is SourceKind.RUN_FAILED
    assert event.error is not None
    return event.error


def run_of(event: SourceEvent) -> RunRef:
    assert event.run is not None
    return event.run


def nominal(clock: str) -> datetime:
    return datetime.fromisoformat(f"2026-11-30T{clock}+00:00")


def scheduled(clock: str, *, generation: int = 0) -> RunRef:
    return RunRef(run_id=f"scheduled__2026-11-30T{clock}:00Z", nominal_time=nominal(clock), generation=generation)
