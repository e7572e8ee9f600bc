"""The storage port: what the use cases may ask of the database, in the words of the product. No SQL, no driver.

`storage/` implements it for SQLite and PostgreSQL alike. Instants are aware UTC. Guards are named in the method and told
by the return value; nothing here commits but `UnitOfWork.commit`.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from bot.evidence.types import Evidence
from bot.incidents.effects import Note
from bot.incidents.keys import Cost, JobKey, RunRef
from bot.incidents.memory import JobMemory
from bot.incidents.model import Incident, Timer


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
    """A job, locked by this transaction."""

    id: int
    key: JobKey
    memory: JobMemory


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
    """What an outbox row does. ROOT and its updates are views; all others freeze their content."""

    REPLY = "reply"
    FILE = "file"
    DIRECT = "direct"
    EMAIL = "email"
    REQUEST = "request"
    LOOK = "look"


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

    `uncertain_at`: since when it may have been sent. `attempt` counts the sends begun.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEffect:
    """An effect to be written; `lane` orders kinds across threads (lower first)."""

    key: str
    kind: EffectKind
    content: Mapping[str, Any]
    due_at: datetime
    in_thread: bool = False
    lane: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewRow:
    """A message that shows an occurrence's newest state; posted when `root_ts` is None, else updated in place."""

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
    created_at: datetime | None = None


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
    """A rerun's row in the reruns ledger. `first`: the first rerun of these owed times."""

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


class UnitOfWork(Protocol):
    """One write transaction. Reads first, in the order below; writes are gathered and flushed set-based by `commit`."""

    def outcomes(self, *, keys: Collection[str]) -> dict[str, Mapping[str, Any]]:
        """The stored outcomes of events that were taken in before, by idempotency key."""

    def job_keys_of(self, *, occurrences: Collection[tuple[int, int]]) -> dict[tuple[int, int], JobKey]:
        """Whose occurrences these are; unknown ones are left out."""

    def lock_jobs(self, *, keys: Collection[JobKey], now: datetime) -> dict[JobKey, JobRow]:
        """Create what is missing and lock all rows in ascending id."""

    def incidents_of(self, *, jobs: Collection[int]) -> dict[int, JobIncidents]: ...

    def occurrence(self, *, record: int, number: int) -> Incident | None: ...

    def run_rows(self, *, wanted: Collection[tuple[int, datetime | None]]) -> dict[tuple[int, datetime | None], tuple[RunRow, ...]]:
        """All generations known of these nominal times, oldest first, without their facts."""

    def previous(self, *, job: int, fingerprint: str, since: datetime) -> tuple[Incident | None, int]:
        """The newest settled occurrence whose record has this fingerprint, closed since then, and how many there were."""

    def booked(self, *, scopes: Collection[Scope]) -> dict[Scope, float]:
        """The automatic amounts used or reserved in these periods."""

    def booking(self, *, key: str) -> Booking | None: ...

    def consume_timer(self, *, id: int, due_at: datetime) -> bool:
        """Delete the timer; False: somebody else did, or it was moved."""

    def settle_effect(self, *, id: int, state: EffectState, result: Mapping[str, Any]) -> bool:
        """Settle an outbox row that is waiting or sending; False: it is not."""

    def save_job(self, row: JobRow) -> None: ...

    def save_run(self, row: RunRow) -> None:
        """Insert or advance one generation of a run; a terminal state never regresses."""

    def save_evidence(self, *, key: str, evidence: Evidence) -> None: ...

    def save_incident(self, incident: Incident, *, expected: int | None) -> Incident:
        """Write the occurrence and replace its timers by `timers_of`; `expected` is the version that was read (None: new).

        A new record gets its number here, so that the returned incident is the one to go on with. Every save raises
        `wanted_version` of the occurrence's view to the incident's version. Raises `StaleIncident`.
        """

    def open_thread(self, *, incident: Incident, channel: str, continue_from: int | None) -> None:
        """Make the occurrence's conversation and view; `continue_from` is the occurrence number whose thread goes on."""

    def add_notes(self, *, incident: Incident, notes: Sequence[Note], key: str, at: datetime) -> None:
        """Append to the timeline of the occurrence."""

    def add_effects(self, *, incident: Incident, effects: Sequence[NewEffect], now: datetime) -> None: ...

    def cancel_effect(self, *, key: str) -> None:
        """Cancel a row that is still waiting; one that is being sent is left alone."""

    def set_job_timers(self, *, job: int, timers: Sequence[JobTimer], kinds: Collection[str]) -> None:
        """Replace the job's timers of these kinds."""

    def reserve(self, booking: Booking, *, limits: Mapping[Scope, float]) -> bool:
        """Book within every limit; False (nothing written): the allowance is gone, decide again. Not automatic: no limits."""

    def settle_booking(self, *, key: str, amount: float | None, result: str, at: datetime) -> None:
        """Replace the reserved amount by the actual one and record the result; a second settlement changes nothing."""

    def release_booking(self, *, key: str, at: datetime) -> None: ...

    def remember_outcome(self, *, key: str, outcome: Mapping[str, Any], at: datetime) -> None: ...

    def commit(self) -> "Committed":
        """Flush and commit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """What the commit left to do at once: rows born leased by this process, and the earliest timer it wrote."""

    effects: tuple[EffectRow, ...] = ()
    views: tuple[ViewRow, ...] = ()
    next_timer_at: datetime | None = None


class Storage(Protocol):
    """The database as the use cases know it."""

    def begin_write(self, *, born_leased: bool, now: datetime) -> AbstractContextManager[UnitOfWork]:
        """A write transaction; leaving the block without `commit` rolls back. Raises `StorageDown`."""

    # the queue (bot.delivery)
    def claim_effects(self, *, now: datetime, limit: int) -> tuple[EffectRow, ...]:
        """Lease due rows: a thread's in order and only once its root is there, by lane, one a conversation at a time."""

    def claim_views(self, *, now: datetime, limit: int) -> tuple[ViewRow, ...]: ...

    def begin_sending(self, *, id: int, now: datetime) -> bool:
        """Commit `sending` before the call (compare-and-set on our lease); False: it is not ours any more."""

    def settle_view(self, *, id: int, version: int, root_ts: str, now: datetime) -> None:
        """The message at `root_ts` shows `version`; the first settlement writes the conversation's `root_ts`."""

    def retry_view(self, *, id: int, at: datetime, uncertain: bool, code: str) -> None: ...

    def move_conversation(self, *, conversation: int, channel: str, now: datetime) -> None:
        """Go on in another channel with a new root (archived, bot removed)."""

    def settle(self, *, id: int, result: Mapping[str, Any], now: datetime) -> bool: ...

    def retry(self, *, id: int, at: datetime, uncertain: bool, code: str) -> bool: ...

    def bury(self, *, id: int, code: str, now: datetime) -> bool: ...

    def take_pace(self, *, method: str, scope: str, now: datetime, gap_us: int) -> datetime:
        """Reserve the next free instant of that lane at or after now, and move it on by the gap."""

    def hold_pace(self, *, method: str, scope: str, until: datetime) -> None: ...

    def release_leases(self) -> None:
        """Hand this process's leases back (clean shutdown)."""

    def void_leases(self, *, now: datetime) -> int:
        """Return rows whose lease lapsed or whose holder is gone; those that were `sending` become uncertain."""

    def next_effect_at(self, *, now: datetime) -> datetime | None:
        """When the next row or view becomes due (the net under direct dispatch)."""

    # timers (bot.timers)
    def due_timers(self, *, now: datetime, limit: int) -> tuple[TimerRow, ...]: ...

    def next_timer_at(self) -> datetime | None: ...

    def postpone_timer(self, *, id: int, to: datetime) -> None:
        """A poison timer steps aside."""

    # directory and policies
    def save_people(self, *, people: Sequence["PersonRow"], groups: Sequence["GroupRow"], now: datetime) -> None: ...

    def load_people(self) -> tuple[tuple["PersonRow", ...], tuple["GroupRow", ...]]: ...

    def publish_policies(self, *, version: str, text: str, now: datetime) -> None: ...

    def close(self) -> None: ...


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


class StaleIncident(Exception):
    """The occurrence was changed since it was read; read again and decide again."""


class StorageDown(Exception):
    """The database cannot be reached or is busy beyond the deadline; nothing was stored."""
