"""The write side of the storage port: one transaction, as intake speaks to it. No SQL, no driver.

Guards are named in the method and told by the return value; nothing here commits but `UnitOfWork.commit`.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from bot.evidence.types import Evidence
from bot.incidents.canary import Stage
from bot.incidents.effects import Note
from bot.incidents.keys import JobKey
from bot.incidents.model import Incident
from bot.incidents.storm import StormPlace
from bot.incidents.waits import Hung
from bot.store.rows import (
    Booking,
    Committed,
    EffectState,
    Gate,
    JobIncidents,
    JobRow,
    JobTimer,
    NewEffect,
    NewNotice,
    RunRow,
    Scope,
)
from bot.store.waits import WaitRow
from bot.store.watch import Watched


class UnitOfWork(Protocol):
    """One write transaction. Reads first, in the order below; writes are gathered and flushed set-based by `commit`."""

    def outcomes(self, *, keys: Collection[str]) -> dict[str, Mapping[str, Any]]:
        """The stored outcomes of events that were taken in before, by idempotency key."""

    def job_keys_of(self, *, occurrences: Collection[tuple[int, int]]) -> dict[tuple[int, int], JobKey]:
        """Whose occurrences these are; unknown ones are left out."""

    def lock_jobs(self, *, keys: Collection[JobKey], now: datetime) -> dict[JobKey, JobRow]:
        """Create what is missing and lock all rows in ascending id."""

    def rename_job(self, *, job: JobKey, to: JobKey) -> bool:
        """All that is kept of `job` goes on under another name; False: a job with runs or occurrences of its own bears it.

        Both are locked, and nothing else was written of `job` in this transaction.
        """

    def incidents_of(self, *, jobs: Collection[int]) -> dict[int, JobIncidents]: ...

    def occurrence(self, *, record: int, number: int) -> Incident | None: ...

    def lock_gates(self, *, names: Collection[str]) -> dict[str, Gate]:
        """Create what is missing and lock all in the order of their names; after the jobs, before any allowance."""

    def stages(self, *, keys: Collection[str]) -> dict[str, Stage]:
        """Where these reruns stand to the canaries of their causes; those that have ended are left out."""

    def standing(self, *, cause: str) -> dict[Stage, int]:
        """How many reruns under this cause back off, and how many are out."""

    def waits_of(self, *, job: JobKey) -> tuple[WaitRow, ...]:
        """For which occurrences runs of the job wait: the farthest up the graph first, then the longest open."""

    def hang_wait(self, wait: WaitRow, *, what: Hung, at: datetime) -> None:
        """The job did that because of what it waits for, and opens nothing of its own; the first word stands."""

    def run_rows(
        self, *, wanted: Collection[tuple[int, datetime | None]]
    ) -> dict[tuple[int, datetime | None], tuple[RunRow, ...]]:
        """All generations known of these nominal times, oldest first, without their facts."""

    def previous(self, *, job: int, fingerprint: str, since: datetime) -> tuple[Incident | None, int]:
        """The newest settled occurrence whose record has this fingerprint, closed since then, and how many there were."""

    def recovered(self, *, job: int, fingerprint: str, since: datetime) -> tuple[datetime, ...]:
        """When occurrences whose record has this fingerprint recovered by a rerun since then, the newest first; the last few."""

    def booked(self, *, scopes: Collection[Scope]) -> dict[Scope, float]:
        """The automatic amounts used or reserved in these periods."""

    def booking(self, *, key: str) -> Booking | None: ...

    def watched(self, *, sources: Collection[str]) -> Watched:
        """What deadlines of jobs of these sources are looked at with."""

    def consume_timer(self, *, id: int, due_at: datetime) -> bool:
        """Delete the timer; False: somebody else did, or it was moved."""

    def settle_effect(self, *, id: int, state: EffectState, result: Mapping[str, Any]) -> bool:
        """Settle an outbox row that is waiting or sending; False: it is not."""

    def begin_sending(self, *, id: int) -> bool:
        """As `Storage.begin_sending`, in this transaction: what licenses the call was read under the same lock."""

    def spans(self, *, job: int, since: datetime) -> tuple[tuple[datetime, datetime | None], ...]:
        """When occurrences of the job opened and were settled, those that were not over before that."""

    def newest_good_runs(self, *, job: int, limit: int) -> tuple[RunRow, ...]:
        """The job's last good runs, backfills aside, the oldest first."""

    def save_job(self, row: JobRow) -> None: ...

    def tell_uses(self, *, job: JobKey, writes: bool, datasets: Collection[str]) -> None:
        """The datasets that the job's scheduler says it writes, or reads: these and no others."""

    def save_run(self, row: RunRow) -> None:
        """Insert or advance one generation of a run; a terminal state never regresses."""

    def save_evidence(self, *, key: str, evidence: Evidence) -> None: ...

    def save_incident(self, incident: Incident, *, expected: int | None) -> Incident:
        """Write the occurrence and replace its timers by `timers_of`; `expected` is the version that was read (None: new).

        A new record gets its number here, so that the returned incident is the one to go on with. Every save raises
        `wanted_version` of the occurrence's view to the incident's version. Raises `StaleIncident`.
        """

    def open_thread(self, *, incident: Incident, channel: str, continue_from: int | None) -> None:
        """Make the occurrence's conversation and view; `continue_from` is the occurrence number whose thread goes on.

        A thread that goes on keeps its conversation and its view, which shows this occurrence from now on.
        """

    def join_storm(self, *, incident: Incident, place: StormPlace, team: str) -> None:
        """The occurrence is that row of the storm; the storm's thread and pages are made as they are needed.

        Every save of the occurrence raises the views of the storm that show it.
        """

    def show_storm(self, *, key: str) -> None:
        """Raise every view of the storm: something is said of it that no save of an occurrence says."""

    def add_notes(self, *, incident: Incident, notes: Sequence[Note], key: str, at: datetime) -> None:
        """Append to the timeline of the occurrence."""

    def add_effects(self, *, incident: Incident, effects: Sequence[NewEffect], now: datetime) -> None: ...

    def add_notice(self, notice: NewNotice) -> bool:
        """Write a notice; False: one with this key is there already, whatever became of it."""

    def cancel_effect(self, *, key: str) -> None:
        """Cancel a row that is still waiting; one that is being sent is left alone."""

    def set_job_timers(self, *, job: int, timers: Sequence[JobTimer], kinds: Collection[str]) -> None:
        """Replace the job's timers of these kinds."""

    def reserve(self, booking: Booking, *, limits: Mapping[Scope, float]) -> bool:
        """Book within every limit; False (nothing written): the allowance is gone, decide again. Not automatic: no limits."""

    def settle_booking(self, *, key: str, amount: float | None, result: str, at: datetime) -> None:
        """Replace the reserved amount by the actual one and record the result; a second settlement changes nothing."""

    def release_booking(self, *, key: str, at: datetime) -> None: ...

    def stage_rerun(self, *, key: str, stage: Stage | None) -> bool:
        """The rerun stands there now; False: it has ended."""

    def save_gate(self, gate: Gate) -> None:
        """Write a locked gate."""

    def let_held(self, *, cause: str, count: int) -> None:
        """Let the longest held reruns of this cause go, so many of them: each of their occurrences is told by a timer."""

    def stop_held(self, *, cause: str) -> None:
        """No held rerun of this cause goes: each of their occurrences is told by a timer."""

    def remember_outcome(self, *, key: str, outcome: Mapping[str, Any], at: datetime, event: str | None = None) -> None:
        """What became of an event; `event` is its record, by which it can be played again."""

    def commit(self) -> Committed:
        """Flush and commit."""


class StaleIncident(Exception):
    """The occurrence was changed since it was read; read again and decide again."""


class KeyTaken(Exception):
    """An effect or a booking with this key is stored already: the same decision was written before."""
