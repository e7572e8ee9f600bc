"""What the statements of health share: which occurrences a scope and a period mean, and the values measured of each.

It runs no statement. Every value is worked out by the database, the same on both.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Integer,
    SQLColumnExpression,
    and_,
    bindparam,
    case,
    exists,
    false,
    func,
    literal,
    not_,
    or_,
    select,
    text,
    type_coerce,
)

from bot.incidents.absence import Absence
from bot.incidents.health import Period, Scope
from bot.incidents.model import Outcome
from storage.columns import Span
from storage.tables import jobs, occurrences, reruns
from storage.watch import absences

TOLERANCE = timedelta(minutes=1)
"""So far two clocks may differ before what they say together is rejected."""
ALONE = (Outcome.RECOVERED, Outcome.RECOVERED_ALONE)

Truth = ColumnElement[bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Which parts of a scope are named, and whether ontrack was ever `away` in the period: what a statement is built by."""

    team: bool
    job: bool
    scheduler: bool
    cause: bool
    away: bool

    def occurrences(self) -> list[Truth]:
        """What occurrences of the scope have in common."""
        found: list[Truth] = []
        if self.job:
            found.append(occurrences.c.job_id == bindparam("job"))
        if self.team:
            found.append(team() == bindparam("team"))
        if self.cause:
            found.append(occurrences.c.cause == bindparam("cause"))
        if self.scheduler:
            of_scheduler = select(jobs.c.id).where(jobs.c.scheduler == bindparam("scheduler"))
            found.append(occurrences.c.job_id.in_(of_scheduler))
        return found

    def reruns(self) -> list[Truth]:
        """What reruns of the scope have in common; the cause is that of their occurrence, which may be corrected."""
        found: list[Truth] = []
        if self.job:
            found.append(reruns.c.job_id == bindparam("job"))
        if self.team:
            found.append(func.coalesce(reruns.c.team, "") == bindparam("team"))
        if self.cause:
            of, about = (
                occurrences.c,
                and_(occurrences.c.record == reruns.c.record, occurrences.c.number == reruns.c.number),
            )
            found.append(exists().where(about, of.cause == bindparam("cause")))
        if self.scheduler:
            found.append(reruns.c.job_id.in_(select(jobs.c.id).where(jobs.c.scheduler == bindparam("scheduler"))))
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Within:
    """A scope as the database knows it: `job` is the id of its job (0: there is none such)."""

    scope: Scope
    job: int | None
    away: Sequence[Absence]

    @property
    def shape(self) -> Shape:
        return Shape(
            team=self.scope.team is not None,
            job=self.job is not None,
            scheduler=self.scope.scheduler is not None,
            cause=self.scope.cause is not None,
            away=bool(self.away),
        )

    def values(self, period: Period, **more: Any) -> dict[str, Any]:
        """What the statements of its shape are run with."""
        named = {"team": self.scope.team, "job": self.job, "scheduler": self.scope.scheduler, "cause": self.scope.cause}
        known = {name: value for name, value in named.items() if value is not None}
        return known | {"since": period.since, "until": period.until} | more


def team() -> ColumnElement[str]:
    """Who answers the occurrence; empty: nobody in policies.yaml."""
    return func.coalesce(occurrences.c.team, "")


def during(column: SQLColumnExpression[Any], *, since: str = "since", until: str = "until") -> Truth:
    return and_(column >= bindparam(since), column < bindparam(until))


def unindexed(column: SQLColumnExpression[datetime]) -> ColumnElement[int]:
    """The instant where no index on it may be used."""
    return micros(column) + text("0")


def told_early() -> Truth:
    """The failure is said to have ended later than it was told: its clock is not ours."""
    return _after(occurrences.c.failed_at, occurrences.c.opened_at)


def answer_rejected() -> Truth:
    """There is an answer, and a clock that contradicts it."""
    known = and_(occurrences.c.answered_at.is_not(None), occurrences.c.failed_at.is_not(None))
    return and_(known, or_(occurrences.c.answered_at < occurrences.c.failed_at, told_early()))


def recovery_rejected() -> Truth:
    """There is a good run, and a clock that contradicts it."""
    known = and_(occurrences.c.recovered_at.is_not(None), occurrences.c.failed_at.is_not(None))
    late = _after(occurrences.c.recovered_at, occurrences.c.closed_at)
    return and_(known, or_(occurrences.c.recovered_at < occurrences.c.failed_at, told_early(), late))


def answer_marked(shape: Shape) -> Truth:
    """ontrack itself was away between the failure and its answer."""
    if not shape.away:
        return false()
    fell = exists().where(
        absences.c.began_at < occurrences.c.answered_at, absences.c.ended_at > occurrences.c.failed_at
    )
    return and_(occurrences.c.failed_at.is_not(None), occurrences.c.answered_at.is_not(None), fell)


def to_answer(shape: Shape) -> ColumnElement[timedelta]:
    """From the failure to the first act of its team; NULL where there is none, or where it does not count."""
    counts = not_(or_(answer_rejected(), answer_marked(shape)))
    return _span_if(counts, occurrences.c.answered_at, occurrences.c.failed_at)


def to_recover() -> ColumnElement[timedelta]:
    """From the failure to the good run that settled it; NULL where there is none, or where it does not count."""
    return _span_if(not_(recovery_rejected()), occurrences.c.recovered_at, occurrences.c.failed_at)


def alone() -> Truth:
    """Settled by a rerun, or by the scheduler's own attempt, without any act of its team."""
    return and_(occurrences.c.outcome.in_(ALONE), occurrences.c.answered_at.is_(None))


def repeat() -> Truth:
    """The same failure of the job had been settled lately: it is not the first occurrence of its record."""
    return occurrences.c.number > 1


def how_many(condition: Truth) -> ColumnElement[int]:
    """Of how many rows this is so; what a process of the version before left empty is not."""
    return func.coalesce(func.sum(case((condition, 1), else_=0)), 0, type_=Integer())


def hour_of(column: SQLColumnExpression[Any]) -> ColumnElement[int]:
    """Hours since 1970, each beginning `phase` microseconds after the full hour."""
    return (micros(column) - bindparam("phase", type_=BigInteger)) // literal(_HOUR, BigInteger)


def micros(column: SQLColumnExpression[Any]) -> ColumnElement[int]:
    """An instant or a span as the number that is stored."""
    return type_coerce(column, BigInteger)


def _after(column: SQLColumnExpression[Any], other: SQLColumnExpression[Any]) -> Truth:
    return micros(column) > micros(other) + literal(TOLERANCE // _MICROSECOND, BigInteger)


def _span_if(
    condition: Truth, until: SQLColumnExpression[Any], since: SQLColumnExpression[Any]
) -> ColumnElement[timedelta]:
    return type_coerce(case((condition, micros(until) - micros(since))), Span())


_MICROSECOND = timedelta(microseconds=1)
_HOUR = timedelta(hours=1) // _MICROSECOND
