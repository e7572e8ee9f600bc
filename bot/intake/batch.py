"""A list of events on its way into a transaction: what was read before it, which jobs it is about, which runs matter to it.

It decides nothing and writes nothing.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.incidents.keys import JobKey
from bot.intake.changes import renamed
from bot.intake.graph import Dependents
from bot.intake.inbound import DeadlinePassed, DownstreamStuck, Inbound, PolicyChanged
from bot.intake.reading import ReadEvent
from bot.intake.surroundings import Read
from bot.sources import SourceEvent
from bot.store import JobRow, UnitOfWork

NOBODY = Dependents()


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """An inbound event, read before the transaction."""

    inbound: Inbound
    source: ReadEvent | None = None
    downstream: Dependents = field(default=NOBODY)


class JobsMoved(Exception):
    """Jobs of the events have another name by now: take them in under that."""

    def __init__(self, names: Mapping[JobKey, JobKey]) -> None:
        super().__init__(", ".join(f"{was} is {now}" for was, now in names.items()))
        self.names = names


def jobs_of(batch: Sequence[Prepared], uow: UnitOfWork) -> dict[str, JobKey]:
    """Which job each event is about, by its key; events about an unknown occurrence are left out."""
    named = {one.inbound.occurrence for one in batch if one.inbound.occurrence is not None}
    known = uow.job_keys_of(occurrences=named) if named else {}
    found = {}
    for one in batch:
        event, occurrence = one.inbound.event, one.inbound.occurrence
        if isinstance(event, SourceEvent | DeadlinePassed | PolicyChanged | DownstreamStuck):
            found[one.inbound.key] = event.job
        elif occurrence in known:
            found[one.inbound.key] = known[occurrence]
    return found


def new_names(batch: Sequence[Prepared]) -> set[JobKey]:
    """What jobs are to be called from now on: those names are locked as well."""
    sources = (one.source.source for one in batch if one.source is not None)
    return {to for source in sources if (to := renamed(source)) is not None}


def raise_if_moved(jobs: Collection[JobKey], rows: Mapping[JobKey, JobRow]) -> None:
    """Raise `JobsMoved` where one of the jobs is only an old name."""
    moved = {key: replace(key, name=row.renamed_to) for key, row in rows.items() if row.renamed_to is not None}
    if not moved.keys().isdisjoint(jobs):
        raise JobsMoved(moved)


def times_of(
    batch: Sequence[Prepared], jobs: Mapping[str, JobKey], reads: Mapping[JobKey, Read]
) -> set[tuple[str, datetime | None]]:
    """The nominal times whose runs matter: of the events, and what is owed."""
    found: set[tuple[str, datetime | None]] = set()
    for one in batch:
        key = one.inbound.key
        if key not in jobs:
            continue
        event = one.inbound.event
        if isinstance(event, SourceEvent) and event.run is not None:
            found.add((key, event.run.nominal_time))
        if isinstance(event, DeadlinePassed | DownstreamStuck):
            found.add((key, event.nominal_time))
        for incident in reads[jobs[key]].near:
            found.add((key, incident.failure.run.nominal_time))
            found.update((key, owed.nominal_time) for owed in incident.owed)
    return found
