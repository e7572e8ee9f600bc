"""Statements about records, occurrences, their evidence and timeline. They run inside a caller's transaction."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, and_, bindparam, func, select, text, tuple_, union_all
from sqlalchemy.dialects.postgresql import insert

from bot.evidence.types import Evidence
from bot.incidents.keys import JobKey
from bot.incidents.model import Incident, Outcome, Status
from bot.store import JobIncidents, StaleIncident
from storage.columns import AnyRow
from storage.measured_columns import measured_values
from storage.tables import MATTERS, evidence, jobs, occurrences, records, timeline

RECOVERIES = 12
Name = tuple[int, int]
"""An occurrence: its record and its number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """An occurrence as this transaction knows it, with its thread."""

    incident: Incident
    job_id: int
    conversation_id: int | None = None


_COLUMNS = (occurrences.c.document, occurrences.c.job_id, occurrences.c.conversation_id)
_CLOSED = occurrences.alias("closed")
_NEWEST_CLOSED_AT = (
    select(func.max(_CLOSED.c.closed_at))
    .where(_CLOSED.c.job_id == jobs.c.id, _CLOSED.c.closed_at.is_not(None))
    .correlate(jobs)
    .scalar_subquery()
)
_OF_JOBS = union_all(
    select(*_COLUMNS).where(
        occurrences.c.job_id.in_(bindparam("jobs", expanding=True)), text(f"occurrences.{MATTERS}")
    ),
    select(*_COLUMNS)
    .select_from(jobs)
    .join(occurrences, and_(occurrences.c.job_id == jobs.c.id, occurrences.c.closed_at == _NEWEST_CLOSED_AT))
    .where(jobs.c.id.in_(bindparam("jobs", expanding=True))),
)
_ONE: Select[Any] = select(*_COLUMNS).where(
    occurrences.c.record == bindparam("record"), occurrences.c.number == bindparam("number")
)
_PREVIOUS = (
    select(*_COLUMNS, func.count().over().label("times"))
    .where(
        occurrences.c.job_id == bindparam("job"),
        occurrences.c.fingerprint == bindparam("fingerprint"),
        occurrences.c.closed_at >= bindparam("since"),
    )
    .order_by(occurrences.c.closed_at.desc(), occurrences.c.record.desc(), occurrences.c.number.desc())
    .limit(1)
)
_RECOVERED = (
    select(occurrences.c.closed_at)
    .where(
        occurrences.c.job_id == bindparam("job"),
        occurrences.c.fingerprint == bindparam("fingerprint"),
        occurrences.c.closed_at >= bindparam("since"),
        occurrences.c.outcome == Outcome.RECOVERED,
    )
    .order_by(occurrences.c.closed_at.desc())
    .limit(RECOVERIES)
)
_JOB_KEYS = (
    select(occurrences.c.record, occurrences.c.number, jobs.c.scheduler, jobs.c.name)
    .join(jobs, jobs.c.id == occurrences.c.job_id)
    .where(tuple_(occurrences.c.record, occurrences.c.number).in_(bindparam("names", expanding=True)))
)


def of_jobs(connection: Connection, ids: Collection[int]) -> tuple[Known, ...]:
    """Everything that is not resolved, and the newest settled of each job; one may come twice."""
    if not ids:
        return ()
    return tuple(_known(row) for row in connection.execute(_OF_JOBS, {"jobs": list(ids)}))


def sorted_out(known: Collection[Known]) -> JobIncidents:
    """One job's occurrences by what they are to a decision."""
    incidents = {(one.incident.record, one.incident.number): one.incident for one in known}
    settled = sorted((one for one in incidents.values() if not one.status.unresolved), key=settled_order)
    return JobIncidents(
        unresolved=next((one for one in incidents.values() if one.status.unresolved), None),
        in_force=tuple(one for one in settled if one.status is not Status.RESOLVED),
        newest_settled=settled[-1] if settled else None,
    )


def settled_order(incident: Incident) -> tuple[datetime, int, int]:
    """The later it was settled, the greater."""
    return incident.closed_at or incident.opened_at, incident.record, incident.number


def occurrence(connection: Connection, *, record: int, number: int) -> Known | None:
    row = connection.execute(_ONE, {"record": record, "number": number}).one_or_none()
    return _known(row) if row else None


def previous(connection: Connection, *, job: int, fingerprint: str, since: datetime) -> tuple[Known | None, int]:
    """The newest settled occurrence of this fingerprint since then, and how many there were."""
    row = connection.execute(_PREVIOUS, {"job": job, "fingerprint": fingerprint, "since": since}).one_or_none()
    return (_known(row), row.times) if row else (None, 0)


def recovered(connection: Connection, *, job: int, fingerprint: str, since: datetime) -> tuple[datetime, ...]:
    """When occurrences of this fingerprint recovered by a rerun since then, the newest first."""
    values = {"job": job, "fingerprint": fingerprint, "since": since}
    return tuple(connection.execute(_RECOVERED, values).scalars())


def job_keys_of(connection: Connection, names: Collection[Name]) -> dict[Name, JobKey]:
    if not names:
        return {}
    found = connection.execute(_JOB_KEYS, {"names": list(names)})
    return {(row.record, row.number): JobKey(scheduler=row.scheduler, name=row.name) for row in found}


def _known(row: AnyRow) -> Known:
    return Known(incident=row.document, job_id=row.job_id, conversation_id=row.conversation_id)


_NEW_RECORD = records.insert().returning(records.c.id)
_INSERT = occurrences.insert()
_UPDATE = (
    occurrences.update()
    .where(
        occurrences.c.record == bindparam("of_record"),
        occurrences.c.number == bindparam("of_number"),
        occurrences.c.version == bindparam("expected"),
    )
    .values(
        {
            column.name: bindparam(column.name)
            for column in occurrences.c
            if column.name not in ("record", "number", "job_id", "opened_at")
        }
    )
)
_ADD_EVIDENCE = insert(evidence).on_conflict_do_nothing(index_elements=["key"])
_APPEND = timeline.insert()


def new_record(connection: Connection, *, job: int, fingerprint: str, at: datetime) -> int:
    values = {"job_id": job, "fingerprint": fingerprint, "opened_at": at}
    return int(connection.execute(_NEW_RECORD, values).scalar_one())


def insert_occurrences(connection: Connection, known: Iterable[Known]) -> None:
    connection.execute(_INSERT, [_values(one) for one in known])


def update_occurrences_if_unchanged(
    connection: Connection, known: Collection[Known], expected: Mapping[Name, int]
) -> None:
    """Write the new versions over the versions that were read; raises `StaleIncident` when one is not there any more."""
    rows = []
    for one in known:
        name = (one.incident.record, one.incident.number)
        rows.append(_values(one) | {"of_record": name[0], "of_number": name[1], "expected": expected[name]})
    if connection.execute(_UPDATE, rows).rowcount != len(rows):
        raise StaleIncident("an occurrence was changed since it was read")


def _values(known: Known) -> dict[str, Any]:
    incident = known.incident
    word = incident.acknowledgement
    return {
        "record": incident.record,
        "number": incident.number,
        "job_id": known.job_id,
        "conversation_id": known.conversation_id,
        "status": incident.status,
        "version": incident.version,
        "fingerprint": incident.fingerprint,
        "cause": incident.corrected_cause or incident.failure.cause,
        "opened_at": incident.opened_at,
        "closed_at": None if incident.status.unresolved else incident.closed_at,
        "outcome": incident.outcome,
        "acknowledged_by": word.by.person.id if word else None,
        "acknowledged_until": word.until if word else None,
        "document": incident,
    } | measured_values(incident)


def add_evidence(connection: Connection, found: Mapping[str, Evidence]) -> None:
    connection.execute(_ADD_EVIDENCE, [{"key": key, "document": one} for key, one in found.items()])


def append_notes(connection: Connection, rows: list[dict[str, Any]]) -> None:
    connection.execute(_APPEND, rows)
