"""Two hundred occurrences of a small company, worked out by their number so that they can be checked by hand.

Number `i` opened (200 - i) * 5 hours before NOW, of job `i % 25`. What else holds of it stands in `occurrence`, one rule a
line; `write` stores them as intake would.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from bot.incidents.effects import RerunResult
from bot.incidents.keys import Cost, JobKey, RunRef
from bot.incidents.measured import Measured
from bot.incidents.model import DecisionKind, Failure, Fix, Incident, Outcome, OwnerDecision, Status
from bot.incidents.people import By, Handover, Person
from bot.incidents.waits import Wait
from bot.store import Booking
from storage.opening import SqlStorage

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
MANY, JOBS = 200, 25
TEAMS = ("finance", "growth", "")
CAUSES = ("unknown", "network.connection_reset", "data.missing", "service.throttled")
OPEN = frozenset({60, 112, 186, *range(188, MANY)})
KINDS = (DecisionKind.PAUSED, DecisionKind.RETIRED, DecisionKind.LEFT)
HELD = {DecisionKind.PAUSED: Status.PAUSED, DecisionKind.RETIRED: Status.RETIRED, DecisionKind.LEFT: Status.LEFT}
RESULTS = (RerunResult.SUCCEEDED, RerunResult.FAILED, RerunResult.SUCCEEDED, RerunResult.CANCELLED, None)
AWAY = (
    (NOW - timedelta(days=20), NOW - timedelta(days=20) + timedelta(hours=30)),
    (NOW - timedelta(days=3), NOW - timedelta(days=3) + timedelta(minutes=200)),
    (NOW - timedelta(days=31), NOW - timedelta(days=30) + timedelta(hours=1)),
)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
ANA = Person(id="U0ANA", name="Ana Ruiz")


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A rerun of an occurrence; `result` None: it has not ended, or gave its reservation back (`released`)."""

    key: str
    automatic: bool
    first: bool
    at: datetime
    amount: float
    unit: str
    result: RerunResult | None
    released: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """An occurrence as written, with its reruns."""

    incident: Incident
    reruns: tuple[Made, ...]


def job(number: int) -> JobKey:
    return JobKey(scheduler=("cron", "airflow")[number % 2], name=f"job{number}")


def occurrence(i: int) -> Incident:
    opened_at = NOW - (MANY - i) * 5 * HOUR
    failed_at = opened_at - (i % 5) * MINUTE
    failed_at = opened_at + 10 * MINUTE if i % 31 == 7 else opened_at + MINUTE / 2 if i % 31 == 8 else failed_at
    late = i % 9 == 0
    cause = "late.not_finished" if late else CAUSES[i % 4]
    answered_at = opened_at + (i % 50) * 7 * MINUTE if i % 3 else None
    answered_at = failed_at - 5 * MINUTE if i % 31 == 9 else answered_at
    is_open, is_held = i in OPEN, i % 13 == 0
    kind = KINDS[(i // 13) % 3]
    closed_at = None if is_open else opened_at + (30 + i % 70) * 7 * MINUTE
    outcome = None if is_open or is_held else list(Outcome)[i % 5]
    by_run = outcome is not None and outcome is not Outcome.NOT_NEEDED
    good_at = closed_at - MINUTE if closed_at is not None and by_run else None
    good_at = failed_at - HOUR if good_at is not None and i % 37 == 5 else good_at
    by = By(person=ANA, at=answered_at or opened_at)
    handed = (Handover(team="platform", came_from=TEAMS[i % JOBS % 3], by=by),) if i % 29 == 3 else ()
    return Incident(
        record=0,
        number=1,
        job=job(i % JOBS),
        status=Status.OPEN if is_open else HELD[kind] if is_held else Status.RESOLVED,
        version=1,
        opened_at=opened_at,
        fingerprint=f"f{i % 7}",
        failure=Failure(
            run=RunRef(run_id=f"run-{i}", nominal_time=opened_at),
            at=failed_at,
            fingerprint=f"f{i % 7}",
            cause=cause,
            title="It failed",
            due_at=failed_at if late else None,
        ),
        first_word_at=answered_at,
        decision=OwnerDecision(kind=kind, by=by, false_alarm=kind is DecisionKind.LEFT and i % 2 == 0)
        if is_held
        else None,
        fix=Fix(by=by, what="mended") if outcome is Outcome.FIXED else None,
        corrected_cause="other.cause" if i % 23 == 0 else cause if i % 23 == 1 else None,
        outcome=outcome,
        closed_at=closed_at,
        closed_by_run=f"run-{i}" if by_run else None,
        observed=i % 40 == 0,
        handed=handed,
        waits=_waits(i, opened_at),
        measured=Measured(
            team="platform" if handed else TEAMS[i % JOBS % 3],
            failed_at=failed_at,
            good_at=good_at,
            estimate=None if i % 10 == 9 else Cost(amount=1 + i / 4, unit="credits" if i % 10 == 8 else "run_hours"),
            late_runs=1 + i % 2 if late else 0,
        ),
    )


def _waits(i: int, since: datetime) -> tuple[Wait, ...]:
    delays = ((i % 4) * 10 * MINUTE, None, 5 * MINUTE) if i % 6 == 0 else ()
    return tuple(
        Wait(job=f"cron/reader{number}", nominal_time=since, since=since, delay=delay)
        for number, delay in enumerate(delays)
    )


def reruns(i: int, one: Incident) -> tuple[Made, ...]:
    """Every fourth is rerun by licence, every fourth by approval; every eighth a second time, some days later."""
    if i % 4 not in (1, 2):
        return ()
    unit = "credits" if i % 10 == 8 else "run_hours"
    made = Made(
        key=f"rerun-{i}",
        automatic=i % 4 == 1,
        first=i % 16 != 1,
        at=one.opened_at + 5 * MINUTE,
        amount=i / 8,
        unit=unit,
        result=RESULTS[i % 5],
        released=i % 25 == 4,
    )
    again = Made(
        key=f"again-{i}",
        automatic=False,
        first=False,
        at=one.opened_at + 100 * HOUR,
        amount=2.0,
        unit=unit,
        result=RerunResult.SUCCEEDED,
    )
    return (made, again) if i % 8 == 1 else (made,)


def write(storage: SqlStorage) -> tuple[Case, ...]:
    """Store all of them, and when ontrack was away; what came back follows the record before it."""
    for began, ended in sorted(AWAY):
        storage.be_there(now=began - MINUTE, longest=30 * 24 * HOUR)
        storage.be_there(now=began, longest=30 * 24 * HOUR)
        storage.be_there(now=ended, longest=MINUTE)
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        rows = uow.lock_jobs(keys=[job(number) for number in range(JOBS)], now=NOW)
        last: dict[JobKey, Incident] = {}
        cases = []
        for i in range(MANY):
            one = occurrence(i)
            before = last.get(one.job)
            if before is not None and i % 7 == 0:
                one = replace(one, record=before.record, number=before.number + 1)
            last[one.job] = stored = uow.save_incident(one, expected=None)
            cases.append(Case(incident=stored, reruns=reruns(i, one)))
            for rerun in cases[-1].reruns:
                assert uow.reserve(_booking(stored, rows[one.job].id, rerun), limits={})
        uow.commit()
    _end([rerun for case in cases for rerun in case.reruns], storage)
    return tuple(cases)


def _end(made: list[Made], storage: SqlStorage) -> None:
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        for rerun in made:
            if rerun.released:
                uow.release_booking(key=rerun.key, at=rerun.at + HOUR)
            elif rerun.result is not None:
                uow.settle_booking(key=rerun.key, amount=rerun.amount, result=rerun.result, at=rerun.at + HOUR)
        uow.commit()


def _booking(one: Incident, job_id: int, rerun: Made) -> Booking:
    return Booking(
        key=rerun.key,
        job_id=job_id,
        record=one.record,
        number=one.number,
        nominal_times=(one.failure.run.nominal_time,),
        cause=one.failure.cause,
        automatic=rerun.automatic,
        first=rerun.first,
        amount=99.0,
        unit=rerun.unit,
        scopes=(),
        at=rerun.at,
    )
