"""Names that everything else speaks of: a job, a run and a cost. Values only; nothing here decides."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class JobKey:
    """A job as its scheduler names it; written `scheduler/name`."""

    scheduler: str
    name: str

    def __str__(self) -> str:
        return f"{self.scheduler}/{self.name}"


class Trigger(StrEnum):
    """What started a run."""

    SCHEDULE = "schedule"
    MANUAL = "manual"
    BACKFILL = "backfill"
    RERUN = "rerun"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRef:
    """One run of a job: `nominal_time` is the instant at which it was due (None: the job has none), `generation` counts
    its reruns, `attempt` the scheduler's own attempts within a generation."""

    run_id: str
    nominal_time: datetime | None = None
    generation: int = 0
    attempt: int = 1
    trigger: Trigger = Trigger.SCHEDULE
    url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a run used, in `unit`; `run_hours` is wall clock and always known."""

    amount: float
    unit: str = "run_hours"


class Capability(StrEnum):
    """What a scheduler can be asked for; what it cannot is not offered."""

    RERUN = "rerun"
    START = "start"
    FRESH_START = "fresh_start"
    UNBLOCK = "unblock"
    PAUSE = "pause"
    RESUME = "resume"
    RETIRE = "retire"
    STOP = "stop"
    COST = "cost"
    NEXT_RUN = "next_run"


class Action(StrEnum):
    """What ontrack asks of a scheduler; nothing else, ever."""

    RERUN = "rerun"
    START = "start"
    UNBLOCK = "unblock"
    PAUSE = "pause"
    RESUME = "resume"
    RETIRE = "retire"
    STOP = "stop"
