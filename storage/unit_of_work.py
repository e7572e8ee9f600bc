"""One write transaction: eager reads and guards, everything else gathered and flushed set-based by `commit`.

It decides nothing; what the statements are stands in the files by table family.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError

from bot.evidence.types import Evidence
from bot.incidents.canary import Stage
from bot.incidents.effects import Note
from bot.incidents.keys import JobKey
from bot.incidents.model import Incident
from bot.incidents.storm import StormPlace
from bot.incidents.waits import Hung
from bot.store import (
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
    Share,
    StaleIncident,
)
from bot.store.waits import WaitRow
from bot.store.watch import Watched
from storage import (
    budgets,
    effects,
    gates,
    incidents,
    jobs,
    ledger,
    notices,
    past,
    queue,
    renaming,
    timers,
    told_uses,
    waits,
    watch,
)
from storage.flush import Gathered, Opening, flush
from storage.incidents import Known, Name
from storage.leases import Holders
from storage.ledger import Taken
from storage.naming import named
from storage.storms import Joining
from storage.tables import BookingState


class SqlUnitOfWork:
    """Implements `bot.store.UnitOfWork` on one connection."""

    def __init__(
        self, connection: Connection, *, holders: Holders, born_leased: Share | None, now: datetime, batch: int = 0
    ) -> None:
        """`batch`: the how manieth transaction of this process it is."""
        self._connection = connection
        self._holders = holders
        self._me = holders.me
        self._now = now
        self._lease = effects.lease_of(self._me, now, born_leased) if born_leased and self._me else None
        self._ids: dict[JobKey, int] = {}
        self._untroubled: set[int] = set()
        self._waiting: set[JobKey] = set()
        self._known: dict[Name, Known] = {}
        self._open_before: set[Name] = set()
        self._gathered = Gathered(batch=batch)

    def outcomes(self, *, keys: Collection[str]) -> dict[str, Mapping[str, Any]]:
        return ledger.outcomes(self._connection, keys)

    def job_keys_of(self, *, occurrences: Collection[Name]) -> dict[Name, JobKey]:
        return incidents.job_keys_of(self._connection, occurrences)

    def lock_jobs(self, *, keys: Collection[JobKey], now: datetime) -> dict[JobKey, JobRow]:
        locked = jobs.lock_jobs(self._connection, keys=keys, now=now)
        self._ids |= {key: row.id for key, row in locked.rows.items()}
        self._untroubled |= {row.id for row in locked.rows.values()} - locked.troubled
        self._waiting |= locked.waiting
        return locked.rows

    def rename_job(self, *, job: JobKey, to: JobKey) -> bool:
        mine, theirs = self._ids[job], self._ids[to]
        if renaming.has_history(self._connection, job=theirs):
            return False
        renaming.rename(self._connection, job=mine, was=job, to=to, instead_of=theirs, now=self._now)
        del self._ids[job]
        self._ids[to] = mine
        for name, known in self._known.items():
            if known.job_id == mine:
                self._known[name] = replace(known, incident=replace(known.incident, job=to))
        return True

    def incidents_of(self, *, jobs: Collection[int]) -> dict[int, JobIncidents]:
        found: dict[int, list[Known]] = {job: [] for job in jobs}
        for known in incidents.of_jobs(self._connection, set(jobs) - self._untroubled):
            found[known.job_id].append(self._note(known))
        return {job: incidents.sorted_out(known) for job, known in found.items()}

    def occurrence(self, *, record: int, number: int) -> Incident | None:
        known = incidents.occurrence(self._connection, record=record, number=number)
        return self._note(known).incident if known else None

    def lock_gates(self, *, names: Collection[str]) -> dict[str, Gate]:
        return gates.lock(self._connection, names)

    def stages(self, *, keys: Collection[str]) -> dict[str, Stage]:
        return gates.stages(self._connection, keys)

    def standing(self, *, cause: str) -> dict[Stage, int]:
        return gates.standing(self._connection, cause=cause)

    def waits_of(self, *, job: JobKey) -> tuple[WaitRow, ...]:
        return waits.of_job(self._connection, job) if job in self._waiting else ()

    def hang_wait(self, wait: WaitRow, *, what: Hung, at: datetime) -> None:
        waits.hang_if_not_yet(self._connection, wait, what=what, at=at)

    def run_rows(
        self, *, wanted: Collection[tuple[int, datetime | None]]
    ) -> dict[tuple[int, datetime | None], tuple[RunRow, ...]]:
        return jobs.run_rows(self._connection, wanted=wanted)

    def previous(self, *, job: int, fingerprint: str, since: datetime) -> tuple[Incident | None, int]:
        known, times = None, 0
        if job not in self._untroubled:
            known, times = incidents.previous(self._connection, job=job, fingerprint=fingerprint, since=since)
        found = [self._note(known).incident] if known else []
        for one in self._settled_here(job):
            if one.fingerprint == fingerprint and one.closed_at is not None and one.closed_at >= since:
                found.append(one)
                times += 1
        return max(found, key=incidents.settled_order, default=None), times

    def recovered(self, *, job: int, fingerprint: str, since: datetime) -> tuple[datetime, ...]:
        return incidents.recovered(self._connection, job=job, fingerprint=fingerprint, since=since)

    def _settled_here(self, job: int) -> list[Incident]:
        """What this transaction settled; the database does not know of it yet."""
        saved = [known.incident for known in self._gathered.saved.values() if known.job_id == job]
        return [one for one in saved if not one.status.unresolved and (one.record, one.number) in self._open_before]

    def booked(self, *, scopes: Collection[Scope]) -> dict[Scope, float]:
        return budgets.booked(self._connection, scopes)

    def booking(self, *, key: str) -> Booking | None:
        return budgets.booking(self._connection, key)

    def watched(self, *, sources: Collection[str]) -> Watched:
        return watch.watched(self._connection, names=sources)

    def consume_timer(self, *, id: int, due_at: datetime) -> bool:
        return timers.consume_if_due_at(self._connection, id=id, due_at=due_at)

    def settle_effect(self, *, id: int, state: EffectState, result: Mapping[str, Any]) -> bool:
        return effects.settle_if_unsettled(self._connection, id=id, state=state, result=result, at=self._now)

    def begin_sending(self, *, id: int) -> bool:
        return queue.begin_if_ours(self._connection, id=id, me=self._me, now=self._now)

    def spans(self, *, job: int, since: datetime) -> tuple[tuple[datetime, datetime | None], ...]:
        return past.spans(self._connection, job=job, since=since)

    def newest_good_runs(self, *, job: int, limit: int) -> tuple[RunRow, ...]:
        return past.newest_good_runs(self._connection, job=job, limit=limit)

    def tell_uses(self, *, job: JobKey, writes: bool, datasets: Collection[str]) -> None:
        told_uses.tell(self._connection, job, writes=writes, datasets=datasets, now=self._now)

    def save_job(self, row: JobRow) -> None:
        self._gathered.jobs[row.id] = row

    def save_run(self, row: RunRow) -> None:
        self._gathered.runs.append(row)

    def save_evidence(self, *, key: str, evidence: Evidence) -> None:
        self._gathered.evidence[key] = evidence

    def save_incident(self, incident: Incident, *, expected: int | None) -> Incident:
        job = self._ids.get(incident.job)
        if job is None:
            raise ValueError(f"{incident.job} is not locked by this transaction")
        if incident.record == 0:
            record = incidents.new_record(
                self._connection, job=job, fingerprint=incident.fingerprint, at=incident.opened_at
            )
            incident = replace(incident, record=record)
        name = (incident.record, incident.number)
        before = self._known.get(name)
        if name in self._gathered.saved:
            if expected != self._gathered.saved[name].incident.version:
                raise StaleIncident(f"{incident.id} was changed in this transaction")
        else:
            self._gathered.expected[name] = expected
            if before is None or before.incident.status.unresolved:
                self._open_before.add(name)
        known = Known(incident=incident, job_id=job, conversation_id=before.conversation_id if before else None)
        for wait in waits.changed(before, known):
            self._gathered.waits[name, wait.job, wait.nominal_time] = (known, wait)
        self._known[name] = self._gathered.saved[name] = known
        return incident

    def open_thread(self, *, incident: Incident, channel: str, continue_from: int | None) -> None:
        opening = Opening(channel=channel, continue_from=continue_from)
        self._gathered.openings[incident.record, incident.number] = opening

    def join_storm(self, *, incident: Incident, place: StormPlace, team: str) -> None:
        self._gathered.joining.append(Joining(name=(incident.record, incident.number), place=place, team=team))

    def show_storm(self, *, key: str) -> None:
        self._gathered.storms.add(key)

    def add_notes(self, *, incident: Incident, notes: Sequence[Note], key: str, at: datetime) -> None:
        self._gathered.notes += [(incident, note, key, at) for note in notes]

    def add_effects(self, *, incident: Incident, effects: Sequence[NewEffect], now: datetime) -> None:
        name = (incident.record, incident.number)
        if name not in self._known and self.occurrence(record=name[0], number=name[1]) is None:
            raise ValueError(f"{incident.id} is not stored")
        self._gathered.effects += [(incident, effect) for effect in effects]

    def add_notice(self, notice: NewNotice) -> bool:
        return notices.put_if_new(self._connection, notice, now=self._now)

    def cancel_effect(self, *, key: str) -> None:
        self._gathered.cancelled.append(key)

    def set_job_timers(self, *, job: int, timers: Sequence[JobTimer], kinds: Collection[str]) -> None:
        self._gathered.deadlines.append((job, tuple(timers), tuple(kinds)))

    def reserve(self, booking: Booking, *, limits: Mapping[Scope, float]) -> bool:
        if len(self._ids) > 1:
            budgets.take_turn(self._connection)
        if booking.automatic and not budgets.reserve_if_within(self._connection, booking, limits):
            return False
        if not booking.automatic:
            for scope in sorted(booking.scopes, key=budgets.job_first):
                budgets.add(self._connection, scope, amount=booking.amount or 0.0, automatic=False)
        about = self._known.get((booking.record, booking.number))
        with named():
            budgets.book(self._connection, booking, team=about.incident.measured.team if about is not None else None)
        return True

    def settle_booking(self, *, key: str, amount: float | None, result: str, at: datetime) -> None:
        self._end_booking(key, state=BookingState.SETTLED, amount=amount, result=result, at=at)

    def release_booking(self, *, key: str, at: datetime) -> None:
        self._end_booking(key, state=BookingState.RELEASED, amount=0.0, result="released", at=at)

    def _end_booking(self, key: str, *, state: BookingState, amount: float | None, result: str, at: datetime) -> None:
        known = budgets.booking(self._connection, key)
        if known is None:
            return
        used = known.amount if amount is None else amount
        if budgets.end_if_reserved(self._connection, known, state=state, amount=used, result=result, at=at):
            self._gathered.book_difference(known, (used or 0.0) - (known.amount or 0.0))

    def stage_rerun(self, *, key: str, stage: Stage | None) -> bool:
        return gates.move_if_reserved(self._connection, key=key, to=stage)

    def save_gate(self, gate: Gate) -> None:
        self._gathered.gates[gate.name] = gate

    def let_held(self, *, cause: str, count: int) -> None:
        self._gathered.let[cause] = self._gathered.let.get(cause, 0) + count

    def stop_held(self, *, cause: str) -> None:
        self._gathered.stopped.append(cause)

    def remember_outcome(self, *, key: str, outcome: Mapping[str, Any], at: datetime, event: str | None = None) -> None:
        self._gathered.outcomes[key] = Taken(outcome=outcome, at=at, event=event)

    def commit(self) -> Committed:
        with named():
            committed = flush(self._connection, self._gathered, known=self._known, now=self._now, lease=self._lease)
            self._end()
        return committed

    def _end(self) -> None:
        """Commit. When the answer is lost, nobody knows whether rows were born leased: this process gives up its name."""
        try:
            self._connection.commit()
        except OperationalError:
            self._holders.doubt()
            raise

    def _note(self, known: Known) -> Known:
        name = (known.incident.record, known.incident.number)
        if name not in self._gathered.saved:
            self._known[name] = known
        return self._known[name]
