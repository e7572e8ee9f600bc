"""A company's year as the database would hold it: runs, occurrences and reruns, seeded. It measures nothing.

Jobs fail unevenly: the n-th of them as often as 1 / (n + 20). Of the occurrences two in three are rerun by ontrack, two in
five recover without anybody, one in eight comes back, one in a hundred has a clock that is wrong; of the last week one in
twenty is open. The first and the last week are made one by one; those between are copies of the first by the database, moved
by whole weeks (their documents are copied as they are).
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate, islice
from typing import Any

from sqlalchemy import Connection, text

from bot.incidents.effects import RerunResult
from bot.incidents.keys import Cost, JobKey, RunRef
from bot.incidents.measured import Measured
from bot.incidents.memory import JobMemory
from bot.incidents.model import DecisionKind, Failure, Fix, Incident, Outcome, Owed, OwedPlan, OwnerDecision, Status
from bot.incidents.people import By, Person
from bot.incidents.waits import Wait
from storage.database import Database
from storage.incidents import Known, insert_occurrences
from storage.tables import BookingState, jobs, metadata, records, reruns

NOW = datetime(2026, 12, 1, tzinfo=UTC)
WEEK, WEEKS = timedelta(weeks=1), 52
YEAR = WEEKS * WEEK
TEAMS, SCHEDULERS, JOBS = 60, 4, 5000
BATCH = 2000
CAUSES = ("unknown", "network.connection_reset", "platform.spot_reclaimed", "service.throttled", "data.schema_changed")
SAFE = frozenset(CAUSES[1:4])
ANA = Person(id="U0001", name="Ana")


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much there is of it."""

    runs: int
    occurrences: int
    jobs: int = JOBS


def fill(database: Database, size: Size, *, seed: int = 10) -> None:
    """Write it all, and let the database look at its tables."""
    chance = random.Random(seed)
    week = size.occurrences // WEEKS
    with database.write() as connection:
        if not database.sqlite:
            connection.execute(text("SET LOCAL session_replication_role = replica"))
        _jobs(connection, size)
        _runs(connection, size)
        first = _week(chance, size, week, begins=NOW - WEEKS * WEEK, after=0, open_too=False)
        made = _write(connection, first)
        _copy(connection, made=made)
        last = _week(chance, size, week, begins=NOW - WEEK, after=made * (WEEKS - 1), open_too=True)
        _write(connection, last)
        connection.commit()
    with database.writer.connect() as connection:
        connection = connection.execution_options(isolation_level="AUTOCOMMIT")
        connection.execute(text("ANALYZE" if database.sqlite else "VACUUM ANALYZE"))


def job_of(number: int) -> JobKey:
    """The `number`-th job, from 0: the first fails most."""
    return JobKey(scheduler=f"scheduler{number % SCHEDULERS}", name=f"team{number % TEAMS}.job{number}")


def team_of(number: int) -> str:
    return f"team{number % TEAMS}"


def _jobs(connection: Connection, size: Size) -> None:
    memory = JobMemory()
    connection.execute(
        jobs.insert(),
        [
            {
                "id": number + 1,
                "scheduler": job_of(number).scheduler,
                "name": job_of(number).name,
                "created_at": NOW - YEAR,
                "has_occurrences": True,
                "memory": memory,
            }
            for number in range(size.jobs)
        ],
    )


_SERIES = {
    "postgresql": "SELECT n FROM generate_series(CAST(0 AS bigint), :count - 1) AS n",
    "sqlite": "WITH RECURSIVE s(n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM s WHERE n < :count - 1) SELECT n FROM s",
}
_RUNS = """
INSERT INTO runs (job_id, nominal_time, run_id, generation, attempt, trigger, state, at, started_at, ended_at, cost, unit)
SELECT 1 + n % :jobs, due, 'scheduled__' || n, 0, 1, 'schedule',
       CASE WHEN n % 10 = 7 THEN 'failed' ELSE 'succeeded' END,
       due + 600000000, due, due + 600000000, 166667, 'run_hours'
FROM (SELECT n, CAST(:since AS bigint) + n * :gap AS due FROM ({series}) AS numbers) AS of_a_year
"""


def _runs(connection: Connection, size: Size) -> None:
    statement = _RUNS.format(series=_SERIES[connection.dialect.name])
    since = int((NOW - YEAR).timestamp() * 1_000_000)
    gap = YEAR // size.runs // timedelta(microseconds=1)
    connection.execute(text(statement), {"count": size.runs, "jobs": size.jobs, "since": since, "gap": gap})


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """An occurrence to be written, with the rerun that was made of it."""

    known: Known
    rerun: dict[str, Any] | None


def _write(connection: Connection, rows: Iterator[Row]) -> int:
    """Write them; the number of the last record."""
    record = 0
    while batch := list(islice(rows, BATCH)):
        new = [
            {
                "id": row.known.incident.record,
                "job_id": row.known.job_id,
                "fingerprint": row.known.incident.fingerprint,
                "opened_at": row.known.incident.opened_at,
            }
            for row in batch
            if row.known.incident.number == 1
        ]
        record = max(record, *(row.known.incident.record for row in batch))
        connection.execute(records.insert(), new)
        insert_occurrences(connection, [row.known for row in batch])
        connection.execute(reruns.insert(), [row.rerun for row in batch if row.rerun is not None])
    return record


def _copy(connection: Connection, *, made: int) -> None:
    """The weeks between the first and the last, each after the one before it."""
    tables = (
        ("records", {"id": "id + n * :records"}, ("opened_at",)),
        (
            "occurrences",
            {"record": "record + n * :records"},
            ("opened_at", "closed_at", "failed_at", "answered_at", "recovered_at"),
        ),
        ("reruns", {"record": "record + n * :records", "key": "key || ':' || n"}, ("at", "ended_at")),
    )
    for name, changed, moved in tables:
        columns = [column.name for column in metadata.tables[name].c]
        told = changed | {column: f"{column} + n * :week" for column in moved}
        chosen = ", ".join(told.get(column, _quoted(column)) for column in columns)
        weeks = _SERIES[connection.dialect.name]
        statement = text(
            f"INSERT INTO {name} ({', '.join(_quoted(column) for column in columns)}) "
            f"SELECT {chosen} FROM {name}, ({weeks}) AS weeks WHERE n > 0 ORDER BY n, {moved[0]}"
        )
        connection.execute(statement, {"count": WEEKS - 1, "records": made, "week": WEEK // timedelta(microseconds=1)})


def _quoted(column: str) -> str:
    return f'"{column}"'


def _week(
    chance: random.Random, size: Size, count: int, *, begins: datetime, after: int, open_too: bool
) -> Iterator[Row]:
    """One occurrence after the other, so that the table is filled as time fills it; records are numbered from `after` on."""
    weights = list(accumulate(1 / (number + 20) for number in range(size.jobs)))
    last: dict[int, tuple[int, int]] = {}
    unresolved: set[int] = set()
    record = after
    for number in range(count):
        job = chance.choices(range(size.jobs), cum_weights=weights)[0]
        if job in last and chance.random() < 0.2:
            name = (last[job][0], last[job][1] + 1)
        else:
            record += 1
            name = (record, 1)
        last[job] = name
        opened_at = begins + WEEK * number / count + timedelta(microseconds=chance.randrange(1000))
        still_open = open_too and job not in unresolved and chance.random() < 0.05
        incident = _incident(chance, job, name, opened_at, still_open=still_open)
        unresolved |= {job} if still_open else set()
        rerun = _rerun(chance, incident, job) if incident.reruns else None
        yield Row(known=Known(incident=incident, job_id=job + 1), rerun=rerun)


def _incident(
    chance: random.Random, job: int, name: tuple[int, int], opened_at: datetime, *, still_open: bool
) -> Incident:
    """One occurrence with as much of a document as a usual one has."""
    cause = chance.choice(CAUSES)
    late = chance.random() < 0.1
    skewed = timedelta(hours=2) if chance.random() < 0.01 else timedelta()
    failed_at = opened_at - timedelta(seconds=chance.randrange(1, 30)) + skewed
    failure = _failure(job, cause, failed_at, late=late)
    asked = cause not in SAFE or chance.random() < 0.15
    answered_at = opened_at + _span(chance, 900) if asked and (not still_open or chance.random() < 0.5) else None
    closed_at = None if still_open else (answered_at or opened_at) + _span(chance, 3600)
    outcome = None if still_open else Outcome.RECOVERED if cause in SAFE else chance.choice(list(Outcome))
    decided = asked and not still_open and chance.random() < 0.1
    owed = (Owed(nominal_time=failed_at, since=opened_at, failure=failure, plan=OwedPlan.SAME_RUN),)
    by = By(person=ANA, at=answered_at or opened_at)
    return Incident(
        record=name[0],
        number=name[1],
        job=job_of(job),
        status=Status.OPEN if still_open else Status.LEFT if decided else Status.RESOLVED,
        version=5,
        opened_at=opened_at,
        fingerprint=failure.fingerprint,
        failure=failure,
        fingerprints=(failure.fingerprint,),
        owed=owed,
        reason="a good run paid what was owed; its root error and the way there stand in the timeline",
        first_word_at=answered_at,
        reruns=1 if cause in SAFE or chance.random() < 0.1 else 0,
        decision=OwnerDecision(kind=DecisionKind.LEFT, by=by, false_alarm=chance.random() < 0.3) if decided else None,
        fix=Fix(by=by, what="put the column back") if outcome is Outcome.FIXED and not decided else None,
        corrected_cause="data.missing" if chance.random() < 0.03 else None,
        outcome=None if decided else outcome,
        closed_at=closed_at,
        closed_by_run="scheduled__1" if closed_at is not None and not decided else None,
        waits=_waits(chance, opened_at) if chance.random() < 0.2 else (),
        measured=Measured(
            team=team_of(job),
            failed_at=failed_at,
            good_at=closed_at,
            estimate=Cost(amount=chance.randrange(1, 200) / 100),
            late_runs=1 if late else 0,
        ),
    )


def _failure(job: int, cause: str, at: datetime, *, late: bool) -> Failure:
    return Failure(
        run=RunRef(run_id=f"scheduled__{at.isoformat()}", nominal_time=at, url=f"https://jobs.example.com/runs/{job}"),
        at=at,
        fingerprint=f"{cause}:{job % 7:04}",
        cause="late.not_finished" if late else cause,
        title="The other side closed the connection",
        message="psycopg.OperationalError: connection to server was lost while the chunk was written",
        evidence=f"{job:024x}",
        cost=Cost(amount=0.25),
        due_at=at if late else None,
    )


def _waits(chance: random.Random, since: datetime) -> tuple[Wait, ...]:
    return tuple(
        Wait(job=f"scheduler0/reader{number}", nominal_time=since, since=since, delay=_span(chance, 1200))
        for number in range(chance.randrange(1, 4))
    )


def _rerun(chance: random.Random, incident: Incident, job: int) -> dict[str, Any]:
    at = incident.opened_at + timedelta(minutes=5)
    return {
        "key": f"{incident.id}:rerun",
        "job_id": job + 1,
        "record": incident.record,
        "number": incident.number,
        "nominal_times": (incident.failure.run.nominal_time,),
        "cause": incident.failure.cause,
        "automatic": incident.failure.cause in SAFE,
        "first": chance.random() < 0.95,
        "amount": chance.randrange(1, 200) / 100,
        "unit": "run_hours",
        "scopes": (),
        "at": at,
        "state": BookingState.SETTLED,
        "result": RerunResult.SUCCEEDED if chance.random() < 0.8 else RerunResult.FAILED,
        "ended_at": at + timedelta(minutes=10),
        "team": team_of(job),
    }


def _span(chance: random.Random, seconds: float) -> timedelta:
    """Mostly short, at times long."""
    return timedelta(microseconds=int(chance.lognormvariate(0, 1.2) * seconds * 1_000_000))
