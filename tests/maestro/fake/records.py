"""What the fake Maestro keeps: workflows with their versions, instances with their runs, steps with their attempts."""

import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from tests.maestro.fake.statuses import ALIVE, STEP

Json = dict[str, Any]
LONGEST_TIMELINE = 32


class No(Exception):
    """An answer that is a refusal, with the HTTP status that Maestro gives it."""

    def __init__(self, status: int, message: str, errors: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.errors = errors


@dataclass(slots=True)
class Clock:
    """The fake's own time, which the test moves; nothing happens twice at one millisecond."""

    now: datetime

    def tick(self) -> int:
        self.now += timedelta(milliseconds=1)
        return millis(self.now)

    def moves(self, by: timedelta) -> None:
        self.now += by

    def moves_to(self, at: datetime) -> None:
        """Forward only."""
        self.now = max(self.now, at)


@dataclass(slots=True)
class Timeline:
    """The last 32 entries, an entry that says the same as the one before it left out."""

    entries: list[Json] = field(default_factory=list)

    def add(self, entry: Json) -> None:
        if self.entries and _said(self.entries[-1]) == _said(entry):
            return
        self.entries.append(entry)
        del self.entries[:-LONGEST_TIMELINE]


@dataclass(slots=True)
class Version:
    number: int
    workflow: Json
    created_at: int
    author: str
    git: Json | None = None
    activated_at: int | None = None
    activated_by: str | None = None

    @property
    def steps(self) -> dict[str, tuple[str, Json]]:
        """Step id -> its kind (`step`, `subworkflow`, `foreach`) and its definition."""
        return {body["id"]: (kind, body) for wrapped in self.workflow["steps"] for kind, body in wrapped.items()}


@dataclass(slots=True)
class Workflow:
    """`next_ticks` overrides what the crons say; `broken_params`: its parameters cannot be evaluated."""

    id: str
    internal_id: int
    versions: list[Version] = field(default_factory=list)
    active: int | None = None
    properties: list[Json] = field(default_factory=list)
    changes: list[Json] = field(default_factory=list)
    instances: dict[int, list["Run"]] = field(default_factory=dict)
    modified_at: int = 0
    watermark: datetime | None = None
    next_ticks: list[datetime] = field(default_factory=list)
    broken_params: str = ""

    @property
    def latest(self) -> Version:
        return self.versions[-1]

    @property
    def newest_instance(self) -> int:
        return max(self.instances, default=0)

    @property
    def runs(self) -> list["Run"]:
        return [run for runs in self.instances.values() for run in runs]

    @property
    def strategy(self) -> tuple[str, int]:
        """The rule and how many may run at once."""
        given = self.properties[-1].get("run_strategy") or {"rule": "SEQUENTIAL"}
        return given["rule"], given.get("workflow_concurrency", 20 if given["rule"] == "PARALLEL" else 1)

    def changed(self, author: str, log: str, at: int) -> None:
        self.changes.insert(0, {"author": author, "log": log, "timestamp": at})
        del self.changes[300:]


@dataclass(slots=True)
class Attempt:
    """One attempt of a step in one run. `retry_at`: when the engine tries again, in milliseconds."""

    run: "Run"
    step_id: str
    number: int
    uuid: str
    status: str = "CREATED"
    times: dict[str, int] = field(default_factory=dict)
    ended_at: int | None = None
    modified_at: int = 0
    retries: dict[str, int] = field(default_factory=dict)
    retryable: bool = False
    retry_at: int | None = None
    timeline: Timeline = field(default_factory=Timeline)
    artifacts: Json = field(default_factory=dict)
    dependencies: list[Json] = field(default_factory=list)
    outputs: list[Json] = field(default_factory=list)
    children: list["Run"] = field(default_factory=list)

    @property
    def over(self) -> bool:
        """Ended, and nobody tries again."""
        return STEP[self.status].terminal and not self.retryable

    @property
    def limits(self) -> dict[str, int]:
        policy = self.run.steps[self.step_id][1].get("retry_policy", {})
        defaults = {"error": 2, "platform": 10, "timeout": 0}
        return {kind: int(policy.get(f"{kind}_retry_limit", limit)) for kind, limit in defaults.items()}

    @property
    def failure_mode(self) -> str:
        return str(self.run.steps[self.step_id][1].get("failure_mode", "FAIL_AFTER_RUNNING"))


@dataclass(slots=True)
class Run:
    """A row of `maestro_workflow_instance`; `db_status` may be FAILED_1 (unblocked) or FAILED_2 (restarted)."""

    workflow: Workflow
    instance_id: int
    run_id: int
    uuid: str
    correlation_id: str
    version: Version
    properties: Json
    initiator: Json
    policy: str
    run_params: Json
    params: Json
    dag: list[str]
    created_at: int
    requested_at: int | None = None
    restart_config: Json | None = None
    status: str = "CREATED"
    db_status: str = "CREATED"
    run_status: str | None = None
    execution_id: str | None = None
    started_at: int | None = None
    ended_at: int | None = None
    modified_at: int = 0
    timeline: Timeline = field(default_factory=Timeline)
    attempts: dict[str, list[Attempt]] = field(default_factory=dict)
    baseline: dict[str, Json] | None = None
    parent: Attempt | None = None
    runtime_tags: list[Json] = field(default_factory=list)
    artifacts: Json = field(default_factory=dict)
    stopping: tuple[str, str, str] | None = None

    @property
    def identity(self) -> str:
        return f"[{self.workflow.id}][{self.instance_id}][{self.run_id}]"

    @property
    def alive(self) -> bool:
        return self.status in ALIVE

    @property
    def queued(self) -> bool:
        return self.status == "CREATED" and self.execution_id is None

    @property
    def steps(self) -> dict[str, tuple[str, Json]]:
        return self.version.steps

    @property
    def depth(self) -> int:
        return int(self.initiator["depth"])

    def newest(self, step_id: str) -> Attempt | None:
        return self.attempts[step_id][-1] if self.attempts.get(step_id) else None


def millis(at: datetime) -> int:
    return round(at.timestamp() * 1000)


def instant(value: int) -> datetime:
    return datetime.fromtimestamp(value / 1000, tz=UTC)


def named_uuid(text: str) -> str:
    """As Java's `UUID.nameUUIDFromBytes`."""
    return str(UUID(bytes=hashlib.md5(text.encode(), usedforsecurity=False).digest(), version=3))


def log_entry(message: str, at: int, level: str = "INFO") -> Json:
    return {"type": "LOG", "level": level, "message": message, "timestamp": at}


def details_entry(message: str, errors: tuple[str, ...], at: int, *, retryable: bool, status: str) -> Json:
    entry: Json = {"type": "DETAILS", "status": status, "message": message, "timestamp": at}
    entry |= {"errors": list(errors)} if errors else {}
    return entry | ({"retryable": True} if retryable else {})


def _said(entry: Json) -> Json:
    return {name: value for name, value in entry.items() if name != "timestamp"}
