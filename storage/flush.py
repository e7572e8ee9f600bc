"""What a unit of work has gathered, and the one order in which it is written: jobs, runs, threads, occurrences, what
hangs on them, the ledger, and budgets last. Reads nothing that a decision could depend on.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from bot.evidence.types import Evidence
from bot.incidents.effects import Note
from bot.incidents.model import Incident
from bot.incidents.waits import Wait
from bot.store import (
    Booking,
    Committed,
    EffectRow,
    Gate,
    JobRow,
    JobTimer,
    NewEffect,
    RunRow,
    Scope,
    StaleIncident,
    ViewRow,
)
from storage import budgets, effects, gates, incidents, jobs, ledger, storms, timers, waits
from storage.columns import AnyRow
from storage.effects import BORN_LEASED_MOST, Asked, Lease, Thread
from storage.incidents import Known, Name
from storage.ledger import Taken
from storage.storms import Joining


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """A thread to be opened, or an earlier occurrence's thread that goes on."""

    channel: str
    continue_from: int | None


@dataclass(slots=True)
class Gathered:
    """What is written at the commit."""

    jobs: dict[int, JobRow] = field(default_factory=dict)
    runs: list[RunRow] = field(default_factory=list)
    evidence: dict[str, Evidence] = field(default_factory=dict)
    saved: dict[Name, Known] = field(default_factory=dict)
    expected: dict[Name, int | None] = field(default_factory=dict)
    openings: dict[Name, Opening] = field(default_factory=dict)
    notes: list[tuple[Incident, Note, str, datetime]] = field(default_factory=list)
    effects: list[tuple[Incident, NewEffect]] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    deadlines: list[tuple[int, tuple[JobTimer, ...], tuple[str, ...]]] = field(default_factory=list)
    outcomes: dict[str, Taken] = field(default_factory=dict)
    batch: int = 0
    differences: dict[tuple[Scope, bool], float] = field(default_factory=dict)
    gates: dict[str, Gate] = field(default_factory=dict)
    let: dict[str, int] = field(default_factory=dict)
    stopped: list[str] = field(default_factory=list)
    joining: list[Joining] = field(default_factory=list)
    storms: set[str] = field(default_factory=set)
    waits: dict[tuple[Name, str, datetime | None], tuple[Known, Wait]] = field(default_factory=dict)

    def book_difference(self, booking: Booking, amount: float) -> None:
        """What an ended rerun used beyond its reservation, or less than it."""
        for scope in booking.scopes if amount else ():
            key = (scope, booking.automatic)
            self.differences[key] = self.differences.get(key, 0.0) + amount

    @property
    def new(self) -> frozenset[Name]:
        return frozenset(name for name, version in self.expected.items() if version is None)


def flush(
    connection: Connection, gathered: Gathered, *, known: Mapping[Name, Known], now: datetime, lease: Lease | None
) -> Committed:
    """Write everything, in the order in which all transactions write."""
    _write_jobs(connection, gathered)
    placed = _Placed(known=dict(known), now=now, lease=lease)
    placed.open_threads(connection, gathered)
    _write_occurrences(connection, gathered, placed)
    waits.put(connection, gathered.waits.values())
    in_storms = _write_storms(connection, gathered, placed)
    views = _write_views(connection, gathered, placed)
    placed.look_up_threads(connection, gathered)
    shown = (*views.new, *(placed.leased_view(row) for row in views.raised))
    due = _write_timers(connection, gathered, placed)
    due += _write_gates(connection, gathered, now=now)
    _write_notes(connection, gathered)
    rows = _write_effects(connection, gathered, placed)
    if gathered.outcomes and not ledger.remember_if_new(connection, gathered.outcomes, batch=gathered.batch):
        raise StaleIncident("another transaction took one of these events in")
    for scope, automatic in sorted(gathered.differences, key=lambda key: budgets.job_first(key[0])):
        budgets.add(connection, scope, amount=gathered.differences[scope, automatic], automatic=automatic)
    more = lease is not None and (in_storms or views.more or len(rows) >= BORN_LEASED_MOST)
    return Committed(effects=rows, views=shown, next_timer_at=min(due, default=None), more=more)


@dataclass(slots=True, kw_only=True)
class _Placed:
    """Which occurrence speaks in which thread."""

    known: dict[Name, Known]
    now: datetime
    lease: Lease | None
    opened: dict[Name, Thread] = field(default_factory=dict)
    threads: dict[int, Thread] = field(default_factory=dict)
    storms: dict[str, int] = field(default_factory=dict)

    def open_threads(self, connection: Connection, gathered: Gathered) -> None:
        for name, opening in gathered.openings.items():
            earlier = self._earlier(connection, name[0], opening.continue_from)
            if earlier is None:
                self.opened[name] = effects.open_conversation(connection, channel=opening.channel, at=self.now)
                earlier = self.opened[name].id
            self.known[name] = replace(self.known[name], conversation_id=earlier)

    def _earlier(self, connection: Connection, record: int, number: int | None) -> int | None:
        if number is None:
            return None
        known = self.known.get((record, number))
        return known.conversation_id if known else effects.thread_of(connection, record=record, number=number)

    def look_up_threads(self, connection: Connection, gathered: Gathered) -> None:
        """How the threads stand in which something may go out at once.

        Read after the views were leased: until then another process may settle a root, and whoever leases its view next
        must know of it.
        """
        self.threads = {thread.id: thread for thread in self.opened.values()}
        if self.lease:
            names = {
                *gathered.saved,
                *((one.record, one.number) for one, effect in gathered.effects if effect.in_thread),
            }
            ids = {self.known[name].conversation_id for name in names} - {None, *self.threads}
            self.threads |= effects.threads(connection, [id for id in ids if id is not None])

    def leased_view(self, row: AnyRow) -> ViewRow:
        thread = self.threads[row.conversation_id]
        return effects.view_row(row, channel=thread.channel, root_ts=thread.root_ts)


def _write_jobs(connection: Connection, gathered: Gathered) -> None:
    troubled = {gathered.saved[name].job_id for name in gathered.new}
    jobs.save_jobs(connection, gathered.jobs.values(), troubled=troubled)
    if gathered.runs:
        jobs.save_runs(connection, gathered.runs)
    if gathered.evidence:
        incidents.add_evidence(connection, gathered.evidence)


def _write_occurrences(connection: Connection, gathered: Gathered, placed: _Placed) -> None:
    new = gathered.new
    threads_moved = {name for name in gathered.openings if name not in gathered.saved}
    if threads_moved:
        raise ValueError(f"a thread is opened for an occurrence that is not saved: {sorted(threads_moved)}")
    expected = {name: version for name, version in gathered.expected.items() if version is not None}
    if expected:
        changed = sorted((placed.known[name] for name in expected), key=_unresolved_last)
        incidents.update_occurrences_if_unchanged(connection, changed, expected)
    if new:
        incidents.insert_occurrences(connection, [placed.known[name] for name in gathered.saved if name in new])


def _unresolved_last(known: Known) -> bool:
    """What was settled makes room for what is open, since a job has one unresolved occurrence."""
    return known.incident.status.unresolved


def _write_storms(connection: Connection, gathered: Gathered, placed: _Placed) -> bool:
    """New rows, and what shows the rows that changed; True when there is something to claim."""
    if gathered.joining:
        storms.join(connection, gathered.joining, now=placed.now)
    asked_in = {effect.in_storm for _, effect in gathered.effects if effect.in_storm is not None}
    placed.storms = storms.threads_of(connection, asked_in)
    raised = storms.raise_views(connection, [placed.known[name] for name in gathered.saved])
    return storms.raise_all(connection, gathered.storms) or raised or bool(asked_in)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Views:
    """The views that are to be sent at once: those of new threads, and the rows of those that must show a newer version.

    `more`: some were left for a claim.
    """

    new: tuple[ViewRow, ...]
    raised: tuple[AnyRow, ...]
    more: bool


def _write_views(connection: Connection, gathered: Gathered, placed: _Placed) -> _Views:
    views: list[ViewRow] = []
    for name, thread in placed.opened.items():
        lease = placed.lease if len(views) < BORN_LEASED_MOST else None
        incident = placed.known[name].incident
        view = effects.add_view(connection, incident=incident, thread=thread, now=placed.now, lease=lease)
        views += [view] if lease else []
    raised = [name for name in gathered.saved if name not in placed.opened and placed.known[name].conversation_id]
    for name in raised:
        thread_id = placed.known[name].conversation_id
        if name in gathered.openings and thread_id is not None:
            incident = placed.known[name].incident
            effects.repoint_view(connection, conversation=thread_id, incident=incident, now=placed.now)
    if not raised:
        return _Views(new=tuple(views), raised=(), more=len(placed.opened) > len(views))
    lease = placed.lease if len(raised) + len(views) <= BORN_LEASED_MOST else None
    shown = effects.raise_views(connection, raised, now=placed.now, lease=lease)
    return _Views(new=tuple(views), raised=shown, more=lease is None or len(placed.opened) > len(views))


def _write_timers(connection: Connection, gathered: Gathered, placed: _Placed) -> list[datetime]:
    due: list[datetime] = []
    if gathered.saved:
        due += timers.set_timers(connection, [placed.known[name] for name in gathered.saved], new=gathered.new)
    for job, deadlines, kinds in gathered.deadlines:
        due += timers.set_job_timers(connection, job=job, deadlines=deadlines, kinds=kinds)
    return due


def _write_gates(connection: Connection, gathered: Gathered, *, now: datetime) -> list[datetime]:
    """The gates, and whom they let go or stopped: those are told by timers that are due at once."""
    if gathered.gates:
        gates.save(connection, gathered.gates)
    told = [gates.stop_held(connection, cause=cause, now=now) for cause in gathered.stopped]
    told += [
        gates.let_longest_held(connection, cause=cause, most=most, now=now) for cause, most in gathered.let.items()
    ]
    return [now] if any(told) else []


def _write_notes(connection: Connection, gathered: Gathered) -> None:
    rows: list[dict[str, Any]] = [
        {
            "record": incident.record,
            "number": incident.number,
            "version": incident.version,
            "key": key,
            "at": at,
            "kind": note.kind,
            "reason": note.reason,
            "by": note.by,
            "facts": dict(note.facts),
        }
        for incident, note, key, at in gathered.notes
    ]
    if rows:
        incidents.append_notes(connection, rows)


def _write_effects(connection: Connection, gathered: Gathered, placed: _Placed) -> tuple[EffectRow, ...]:
    if gathered.cancelled:
        effects.cancel_if_waiting(connection, gathered.cancelled, at=placed.now)
    if not gathered.effects:
        return ()
    asked = [_asked(placed, placed.known[one.record, one.number], effect) for one, effect in gathered.effects]
    return effects.put(connection, asked, now=placed.now, lease=placed.lease, threads=placed.threads)


def _asked(placed: _Placed, known: Known, effect: NewEffect) -> Asked:
    thread = known.conversation_id if effect.in_storm is None else placed.storms[effect.in_storm]
    conversation = thread if effect.in_thread else None
    return Asked(effect=effect, incident=known.incident, job_id=known.job_id, conversation_id=conversation)
