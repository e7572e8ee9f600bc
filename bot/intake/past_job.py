"""One job's past as far as it has been folded: what it remembers, and the occurrence that has not ended yet. It reads nothing."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.incidents import memory as past
from bot.incidents.effects import Note
from bot.incidents.memory import KEEP_SAMPLES, JobMemory, Sample
from bot.incidents.model import Incident
from bot.store import RunRow

KEEP_TIMES, KEEP_ROWS = 10, 20
KEEP_SETTLED = 50
GIVEN_UP_AFTER = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PastNotes:
    """What one decision put down, and to which version of the occurrence it led."""

    version: int
    at: datetime
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPast:
    """An occurrence that has not ended as far as the past was read; nothing of it is stored.

    `opened_by`: the key of the event that opened it. `went_on`: the job had a good run since its last failure.
    """

    incident: Incident
    opened_by: str
    notes: tuple[PastNotes, ...] = ()
    went_on: bool = False

    def given_up_by(self, at: datetime) -> bool:
        """Whether a failure at that instant is another trouble: the job went on, and nobody ran again what was owed."""
        return self.went_on and at - self.incident.opened_at >= GIVEN_UP_AFTER


@dataclass(frozen=True, slots=True, kw_only=True)
class PastJob:
    """`memory` and `runs` are of that past alone, whatever is known of the job since. `settled`: the newest last.

    `heard`: its past ends here, for ontrack listened itself from then on.
    """

    memory: JobMemory = field(default_factory=JobMemory)
    runs: Mapping[datetime | None, tuple[RunRow, ...]] = field(default_factory=dict)
    at: datetime | None = None
    open: OpenPast | None = None
    settled: tuple[Incident, ...] = ()
    heard: bool = False

    def with_settled(self, incident: Incident) -> "PastJob":
        return replace(self, open=None, settled=(*self.settled, incident)[-KEEP_SETTLED:])

    def before(self, fingerprint: str, since: datetime) -> tuple[Incident | None, int]:
        """The newest settled occurrence of that fingerprint since then, and how many there were."""
        same = [
            one
            for one in self.settled
            if one.fingerprint == fingerprint and one.closed_at is not None and one.closed_at >= since
        ]
        return (same[-1] if same else None), len(same)

    def with_runs(self, runs: Mapping[datetime | None, tuple[RunRow, ...]]) -> "PastJob":
        """The runs that later decisions may look at: of what is owed, and the last few; without their facts."""
        owed = {one.nominal_time for one in self.open.incident.owed} if self.open is not None else set()
        last = list(runs)[-KEEP_TIMES:]
        kept = {time: rows for time, rows in runs.items() if time in owed or time in last}
        return replace(self, runs={time: tuple(map(_lean, rows[-KEEP_ROWS:])) for time, rows in kept.items()})


def with_past(memory: JobMemory, good: tuple[RunRow, ...], folded: JobMemory) -> JobMemory:
    """The job's memory with what its past adds; nothing in it moves back.

    `good` are the newest good runs that are known, the oldest first; `folded` is the memory of the past alone.
    """
    learned = JobMemory()
    for row in good:
        ended_at = row.ended_at or row.at
        took = ended_at - row.started_at if row.started_at is not None else None
        sample = Sample(duration=took, cost=row.cost) if took is not None and took >= timedelta() else None
        learned = past.succeeded(learned, row.run, ended_at, sample)
    listened = memory.watched_from is not None
    more = len(memory.samples) < KEEP_SAMPLES and len(learned.samples) > len(memory.samples)
    return replace(
        memory,
        samples=learned.samples if more else memory.samples,
        last_good=memory.last_good if listened and memory.last_good is not None else learned.last_good,
        latest_started=max(filter(None, (memory.latest_started, folded.latest_started, _latest(good))), default=None),
        failures_in_a_row=memory.failures_in_a_row if listened else folded.failures_in_a_row,
        streak=memory.streak if listened else folded.streak,
    )


def _latest(good: tuple[RunRow, ...]) -> datetime | None:
    return max((row.run.nominal_time for row in good if row.run.nominal_time is not None), default=None)


def _lean(row: RunRow) -> RunRow:
    return replace(row, facts={}) if row.facts else row
