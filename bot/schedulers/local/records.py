"""The written shape of a run, of a request and of a job's standing, as they lie in the state directory.

Values and their JSON; nothing here touches a file but through `read` and the two writers that leave whole files only.
"""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from bot.incidents.keys import Action, RunRef, Trigger

LONGEST_SLUG = 60
STAMP = "%Y%m%dT%H%M%S-%fZ"


class Standing(StrEnum):
    """Whether a job's schedule is in force."""

    ACTIVE = "active"
    PAUSED = "paused"
    RETIRED = "retired"


def run_to_json(run: RunRef) -> dict[str, Any]:
    nominal = run.nominal_time
    return {
        "run_id": run.run_id,
        "nominal_time": nominal.isoformat() if nominal is not None else None,
        "generation": run.generation,
        "trigger": run.trigger,
    }


def run_from_json(value: Mapping[str, Any]) -> RunRef:
    nominal = value["nominal_time"]
    return RunRef(
        run_id=value["run_id"],
        nominal_time=datetime.fromisoformat(nominal) if nominal is not None else None,
        generation=value["generation"],
        trigger=Trigger(value["trigger"]),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class JobState:
    """No nominal time at or before `since` is started by the schedule; `key` is the request that made it so."""

    job: str
    standing: Standing
    since: datetime
    key: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {"job": self.job, "standing": self.standing, "since": self.since.isoformat(), "key": self.key}

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> "JobState":
        return JobState(
            job=value["job"],
            standing=Standing(value["standing"]),
            since=datetime.fromisoformat(value["since"]),
            key=value["key"],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """One run as it was claimed. `request_key` names the request that it answers; the schedule's own runs have none."""

    job: str
    run: RunRef
    started_at: datetime
    request_key: str | None = None
    by: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def claim(self) -> str:
        """The name of the run's directory: the same run has the same one, whoever asks for it."""
        return claim_of(self.job, self.run)

    def to_json(self) -> dict[str, Any]:
        return {
            "job": self.job,
            "run": run_to_json(self.run),
            "started_at": self.started_at.isoformat(),
            "request_key": self.request_key,
            "by": self.by,
            "facts": self.facts,
        }

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> "RunRecord":
        return RunRecord(
            job=value["job"],
            run=run_from_json(value["run"]),
            started_at=datetime.fromisoformat(value["started_at"]),
            request_key=value["request_key"],
            by=value["by"],
            facts=value["facts"],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request that was taken, and the runs that it still has to start: those from `begun` on, unless `ended`."""

    key: str
    action: Action
    job: str
    by: str
    asked_at: datetime
    runs: tuple[RunRef, ...] = ()
    begun: int = 0
    ended: bool = False

    @property
    def left(self) -> tuple[RunRef, ...]:
        return () if self.ended else self.runs[self.begun :]

    def to_json(self) -> dict[str, Any]:
        return {
            "key": self.key,
            "action": self.action,
            "job": self.job,
            "by": self.by,
            "asked_at": self.asked_at.isoformat(),
            "runs": [run_to_json(run) for run in self.runs],
            "begun": self.begun,
            "ended": self.ended,
        }

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> "Asked":
        return Asked(
            key=value["key"],
            action=Action(value["action"]),
            job=value["job"],
            by=value["by"],
            asked_at=datetime.fromisoformat(value["asked_at"]),
            runs=tuple(run_from_json(run) for run in value["runs"]),
            begun=value["begun"],
            ended=value["ended"],
        )


def written(at: datetime) -> str:
    """A nominal time as it stands in run ids and in a command's environment."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def stamp(at: datetime) -> str:
    """A nominal time as it stands in a file name; the names sort as the times do."""
    return at.astimezone(UTC).strftime(STAMP)


def stamped(claim: str) -> datetime | None:
    """The nominal time that a claim's name tells."""
    try:
        return datetime.strptime(claim.split(".")[1], STAMP).replace(tzinfo=UTC)
    except (IndexError, ValueError):
        return None


def claim_of(job: str, run: RunRef) -> str:
    return f"{stem(job, run)}.{run.generation}"


def stem(job: str, run: RunRef) -> str:
    """What the claims of a run's generations have in common."""
    middle = digest(run.run_id) if run.nominal_time is None else stamp(run.nominal_time)
    return f"{job_part(job)}.{middle}"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:24]


def job_part(job: str) -> str:
    """A file name for a job that a person can read and that no other job shares; it holds no dot."""
    return f"{re.sub(r'[^A-Za-z0-9_-]', '_', job)[:LONGEST_SLUG]}-{digest(job)[:8]}"


def read(path: Path) -> dict[str, Any] | None:
    """The JSON object in a file, None when there is none; raises `OSError` or `ValueError` when it cannot be told."""
    try:
        value = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    if not isinstance(value, dict):
        raise ValueError(f"{path.name} holds no object")
    return value


def write_whole(path: Path, value: Mapping[str, Any]) -> None:
    """Put a file in place whole, whether or not one was there."""
    passing = _passing(path, value)
    os.replace(passing, path)
    _sync(path.parent)


def write_first(path: Path, value: Mapping[str, Any]) -> bool:
    """Put a file in place whole if none is there; False when another was first."""
    passing = _passing(path, value)
    try:
        os.link(passing, path)
    except FileExistsError:
        return False
    finally:
        with suppress(FileNotFoundError):
            passing.unlink()
    _sync(path.parent)
    return True


def _passing(path: Path, value: Mapping[str, Any]) -> Path:
    passing = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with open(passing, "w", encoding="utf-8") as file:
        json.dump(value, file)
        file.flush()
        os.fsync(file.fileno())
    return passing


def _sync(directory: Path) -> None:
    number = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
