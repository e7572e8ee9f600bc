"""What a source reports about its jobs, as every door and every scheduler adapter hands it to intake.

A `SourceEvent` is already decoded and typed, but its texts are still as received: intake cleans, masks and reads them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from bot.evidence.types import ErrorReport
from bot.incidents.keys import Cost, JobKey, RunRef
from bot.incidents.policy import Schedule
from bot.incidents.strategy import RunStrategy
from bot.incidents.target import Target


class SourceKind(StrEnum):
    """The event types of the `POST /api/v1/events` door, without their `io.ontrack.` prefix."""

    RUN_SCHEDULED = "run.scheduled"
    RUN_STARTED = "run.started"
    RUN_SUCCEEDED = "run.succeeded"
    RUN_FAILED = "run.failed"
    RUN_CANCELLED = "run.cancelled"
    RUN_SKIPPED = "run.skipped"
    JOB_CHANGED = "job.changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a run that lives stands, after "it": `waits for the signal db/x`; empty: there is nothing to say.

    `will_fail`: nothing but a person's hand can make it go well.
    """

    words: str = ""
    will_fail: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class JobChange:
    """What `job.changed` says; None means that this part was not mentioned. A target that says nothing ends the one before.

    `reads` and `writes` name the datasets (assets, signals) by which the job waits for others and others for it.
    `quiet`: its owner switched off alerting at the source.
    """

    schedule: Schedule | None = None
    target: Target | None = None
    owner: str | None = None
    run_strategy: RunStrategy | None = None
    reads: tuple[str, ...] | None = None
    writes: tuple[str, ...] | None = None
    quiet: bool | None = None
    standing: Standing | None = None
    deleted: bool = False
    renamed_to: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceEvent:
    """One fact that a source reported, at most one of `run` and `change` being absent.

    `at` is the source's instant of the fact; `error` comes with `run.failed` and may come with `run.cancelled`.
    `by` names the person who cancelled or started a run by hand, where the source knows. `finish_by`: when it wants the
    run done.
    """

    id: str
    kind: SourceKind
    at: datetime
    job: JobKey
    run: RunRef | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    finish_by: datetime | None = None
    will_retry: bool = False
    rerun_key: str | None = None
    error: ErrorReport | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    cost: Cost | None = None
    by: str | None = None
    change: JobChange | None = None

    @property
    def key(self) -> str:
        """The event's idempotency key: run identity and state, else the job and the source's event id."""
        if self.run is None:
            return f"{self.job}|{self.kind}|{self.id}"
        nominal = self.run.nominal_time.isoformat() if self.run.nominal_time else "-"
        attempt = f"|{self.run.attempt}" if self.will_retry or self.kind is SourceKind.RUN_STARTED else ""
        return f"{self.job}|{nominal}|{self.run.run_id}|{self.run.generation}{attempt}|{self.kind}"
