"""The rows of the storage port: jobs, runs, budgets, effects, views, timers, people, in the words of the product.

Values only: nothing here reads or writes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from bot.incidents.canary import Canary, Stage
from bot.incidents.keys import Cost, JobKey, RunRef
from bot.incidents.memory import JobMemory
from bot.incidents.model import Incident, Timer
from bot.incidents.storm import Storm


class RunState(StrEnum):
    """Where a run stands; the last four are terminal."""

    STARTED = "started"
    RETRYING = "retrying"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRow:
    """A job, locked by this transaction. `renamed_to`: it is only an old name, which leads to that one of its scheduler.

    `created_at`: when it was first heard of.
    """

    id: int
    key: JobKey
    memory: JobMemory
    renamed_to: str | None = None
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """One generation of a run, as last told. `facts` are masked; those of good runs are what later failures are compared with."""

    job_id: int
    run: RunRef
    state: RunState
    at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None
    cost: Cost | None = None
    rerun_key: str | None = None
    by: str | None = None
    fingerprint: str | None = None
    cause: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobIncidents:
    """A job's occurrences that still matter: the unresolved one, those in force (paused, retired, left), the newest settled."""

    unresolved: Incident | None = None
    in_force: tuple[Incident, ...] = ()
    newest_settled: Incident | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """A budget row: `name` is `job:<scheduler>/<job>` or `team:<team>`, for the period that began at `period_start`."""

    name: str
    unit: str
    period_start: datetime


class EffectKind(StrEnum):
    """What an outbox row does. ROOT and its updates are views; all others freeze their content.

    A NOTICE is a message of ontrack itself to a channel, about no single occurrence.
    """

    REPLY = "reply"
    FILE = "file"
    DIRECT = "direct"
    EMAIL = "email"
    REQUEST = "request"
    LOOK = "look"
    NOTICE = "notice"


class EffectState(StrEnum):
    """`sending` is committed before the call; a row found so after its lease lapsed may have been sent: look first."""

    WAITING = "waiting"
    SENDING = "sending"
    SETTLED = "settled"
    REFUSED = "refused"
    BURIED = "buried"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectRow:
    """One row of the outbox. `conversation` is set for what goes into a thread; `content` is JSON-able and final.

    A notice speaks of no occurrence: `record` and `number` are 0, and its job has no name.

    `uncertain_at`: since when it may have been sent; `resent`: another send was begun since, and may have arrived as well.
    `attempt` counts the sends begun. `paced`: it waited for its slot in its lane, and this is the slot.
    """

    id: int
    key: str
    kind: EffectKind
    record: int
    number: int
    job: JobKey
    content: Mapping[str, Any]
    due_at: datetime
    state: EffectState
    conversation: int | None = None
    channel: str | None = None
    root_ts: str | None = None
    attempt: int = 0
    created_at: datetime | None = None
    uncertain_at: datetime | None = None
    resent: bool = False
    paced: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEffect:
    """An effect to be written; `lane` orders kinds across threads (lower first).

    What is `in_thread` stands in the thread of its occurrence, or in that of the storm that it names.
    """

    key: str
    kind: EffectKind
    content: Mapping[str, Any]
    due_at: datetime
    in_thread: bool = False
    in_storm: str | None = None
    lane: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class NewNotice:
    """A message of ontrack itself to be written; `content` has its `kind`, and is JSON-able and final."""

    key: str
    channel: str
    content: Mapping[str, Any]
    due_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewRow:
    """A message that shows an occurrence's newest state; posted when `root_ts` is None, else updated in place.

    Of a storm (then `record` and `number` are those of its first row): its root, `page` 0, or a page of its rows, which
    stands in the thread of that root, `thread_ts`.
    """

    id: int
    conversation: int
    record: int
    number: int
    channel: str
    root_ts: str | None
    wanted_version: int
    shown_version: int
    key: str
    attempt: int = 0
    uncertain_at: datetime | None = None
    paced: bool = False
    created_at: datetime | None = None
    storm: str | None = None
    page: int | None = None
    thread_ts: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerRow:
    """A due timer: of an occurrence (`timer`), or of a job (`kind` names a deadline, `nominal_time` the run that it is about)."""

    id: int
    job: JobKey
    due_at: datetime
    record: int | None = None
    number: int | None = None
    timer: Timer | None = None
    kind: str | None = None
    nominal_time: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTimer:
    """A deadline of a job to be written: `kind` is `start_by` or `finish_by`."""

    kind: str
    nominal_time: datetime | None
    due_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Booking:
    """A rerun's row in the reruns ledger. `first`: the first rerun of these owed times.

    `stage`: where an automatic one stands to the canary of its cause, until it has ended.
    """

    key: str
    job_id: int
    record: int
    number: int
    nominal_times: tuple[datetime | None, ...]
    cause: str
    automatic: bool
    first: bool
    amount: float | None
    unit: str
    scopes: tuple[Scope, ...]
    at: datetime
    by: str | None = None
    result: str | None = None
    stage: Stage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """What many jobs share and take turns at: the canary of a cause (`cause:<cause>`), the storm of a channel
    (`channel:<channel>`)."""

    name: str
    canary: Canary | None = None
    storm: Storm | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """What the commit left to do at once: rows leased by this process, and the earliest timer it wrote.

    `more`: rows that could go as well were left for a claim, since this process took its fill.
    """

    effects: tuple[EffectRow, ...] = ()
    views: tuple[ViewRow, ...] = ()
    next_timer_at: datetime | None = None
    more: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """Calls of one method in one scope (a channel, or "" for the workspace) keep this distance.

    `gives_way`: whoever asks takes no slot while others have theirs, and comes again so long after the last of those.
    """

    method: str
    scope: str
    gap: timedelta
    gives_way: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonRow:
    """A chat user as last read: `active` False for deactivated users, guests, strangers and bots."""

    id: str
    name: str
    email: str | None
    active: bool
    read_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRow:
    """A user group as last read; `exists` False when it is disabled or gone."""

    id: str
    members: tuple[str, ...]
    exists: bool
    read_at: datetime
