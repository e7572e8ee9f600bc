"""The statements behind the figures of a scope and period: each looks once at what opened, settled or was rerun in it.

They are built once for each shape of a scope, not run. A row is for one team or job (`dim`), so that what adds up gives the
table and the whole at once.
"""

from functools import cache
from typing import Any, TypeAlias

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Select,
    and_,
    bindparam,
    case,
    cast,
    func,
    or_,
    select,
    text,
    type_coerce,
    union_all,
)

from bot.incidents.effects import RerunResult
from bot.incidents.model import DecisionKind
from bot.store.health import RowsOf
from storage.columns import Amount, Instant, Span
from storage.health_parts import (
    Shape,
    alone,
    answer_marked,
    answer_rejected,
    during,
    hour_of,
    how_many,
    micros,
    recovery_rejected,
    repeat,
    team,
    unindexed,
)
from storage.tables import IS_UNRESOLVED, BookingState, occurrences, reruns

ANSWER, RECOVERY = "answer", "recovery"
MOST_REPEATING = 5
HELD = (DecisionKind.PAUSED, DecisionKind.RETIRED, DecisionKind.LEFT)
ENDED = (RerunResult.SUCCEEDED, RerunResult.FAILED)

Statement: TypeAlias = Select[*tuple[Any, ...]]


def dim_of(by: RowsOf) -> ColumnElement[Any]:
    """What a row is for: a team's name, or a job's id."""
    return team().label("dim") if by is RowsOf.TEAM else occurrences.c.job_id.label("dim")


@cache
def opened(shape: Shape, by: RowsOf) -> Statement:
    """What is counted of the occurrences that opened in the period, by row and unit of cost."""
    row = occurrences.c
    corrected = or_(row.corrected, row.false_alarm, row.handed)
    rejected, returned = answer_rejected(), recovery_rejected()
    return (
        select(
            dim_of(by),
            row.estimate_unit.label("unit"),
            func.count().label("occurrences"),
            how_many(alone()).label("alone"),
            how_many(row.answered_at.is_not(None)).label("answered"),
            how_many(row.closed_at < bindparam("until")).label("settled"),
            how_many(corrected).label("corrected"),
            how_many(row.corrected).label("cause_changed"),
            how_many(row.false_alarm).label("false_alarm"),
            how_many(row.handed).label("wrong_team"),
            how_many(row.observed).label("observed"),
            how_many(row.fixed).label(DecisionKind.FIXED),
            *(how_many(row.decided == kind).label(kind) for kind in HELD),
            how_many(repeat()).label("repeats"),
            func.coalesce(func.sum(row.late_runs), 0).label("late"),
            (how_many(rejected) + how_many(returned)).label("rejected"),
            how_many(and_(answer_marked(shape), ~rejected)).label("marked"),
            type_coerce(cast(func.coalesce(func.sum(micros(row.delay)), 0), BigInteger), Span()).label("delay"),
            func.coalesce(func.sum(row.delayed), 0).label("delayed"),
            type_coerce(func.sum(type_coerce(row.estimate, BigInteger)), Amount()).label("estimate"),
        )
        .where(during(row.opened_at), *shape.occurrences())
        .group_by(text("dim"), row.estimate_unit)
    )


@cache
def cases(shape: Shape) -> Statement:
    """How what was settled in the period ended."""
    ended = func.coalesce(occurrences.c.outcome, occurrences.c.status)
    return (
        select(ended.label("ended"), func.count().label("n"))
        .where(during(occurrences.c.closed_at), *shape.occurrences())
        .group_by(ended)
    )


@cache
def hours(shape: Shape, name: str) -> Statement:
    """How many opened (`opened_at`), or settled (`closed_at`), in each hour of the period."""
    column = occurrences.c[name]
    return (
        select(hour_of(column).label("hour"), func.count().label("n"))
        .where(during(column), *shape.occurrences())
        .group_by(text("hour"))
    )


@cache
def ages(shape: Shape, by: RowsOf, *, over: bool) -> Statement:
    """How old those are that were open at that instant, of all and of those that nobody had answered.

    `over`: it is not the present one, so that some were settled since.
    """
    at: ColumnElement[Any] = bindparam("at", type_=Instant)
    still = [_open_still(shape, by), _settled_since(shape, by)] if over else [_open_still(shape, by)]
    row = union_all(*still).subquery("still").c
    unanswered = or_(row.answered_at.is_(None), row.answered_at >= at)

    def told(label: str, condition: ColumnElement[bool]) -> list[ColumnElement[Any]]:
        return [
            how_many(condition).label(label),
            how_many(and_(condition, row.opened_at > bindparam("day_before", type_=Instant))).label(f"{label}_day"),
            how_many(and_(condition, row.opened_at > bindparam("week_before", type_=Instant))).label(f"{label}_week"),
            type_coerce(func.min(case((condition, row.opened_at))), Instant()).label(f"{label}_oldest"),
        ]

    return select(row.dim, *told("all", row.opened_at.is_not(None)), *told("unanswered", unanswered)).group_by(row.dim)


def _open_still(shape: Shape, by: RowsOf) -> Statement:
    """Few, and held by an index of their own: that on `opened_at` would lead through everything else."""
    row = occurrences.c
    return select(dim_of(by), row.opened_at, row.answered_at).where(
        text(f"occurrences.{IS_UNRESOLVED}"),
        unindexed(row.opened_at) < bindparam("at", type_=Instant),
        *shape.occurrences(),
    )


def _settled_since(shape: Shape, by: RowsOf) -> Statement:
    row = occurrences.c
    return select(dim_of(by), row.opened_at, row.answered_at).where(
        row.closed_at >= bindparam("at"),
        unindexed(row.opened_at) < bindparam("at", type_=Instant),
        *shape.occurrences(),
    )


@cache
def rerun_figures(shape: Shape, by: RowsOf) -> Statement:
    """How the first reruns of owed times went, and what all cost that were asked for in the period, by row and unit."""
    row = reruns.c
    ended = and_(row.first, row.result.in_(ENDED))
    automatic, approved = and_(ended, row.automatic), and_(ended, ~row.automatic)
    worked = row.result == RerunResult.SUCCEEDED
    spent = func.sum(case((row.state == BookingState.SETTLED, type_coerce(row.amount, BigInteger))))
    return (
        select(
            (func.coalesce(row.team, "") if by is RowsOf.TEAM else row.job_id).label("dim"),
            row.unit,
            how_many(automatic).label("automatic"),
            how_many(and_(automatic, worked)).label("automatic_worked"),
            how_many(approved).label("approved"),
            how_many(and_(approved, worked)).label("approved_worked"),
            type_coerce(spent, Amount()).label("spent"),
        )
        .where(during(row.at), *shape.reruns())
        .group_by(text("dim"), row.unit)
    )


@cache
def repeating(shape: Shape) -> Statement:
    """The jobs with most of them."""
    return (
        select(occurrences.c.job_id, func.count().label("n"))
        .where(during(occurrences.c.opened_at), repeat(), *shape.occurrences())
        .group_by(occurrences.c.job_id)
        .order_by(func.count().desc(), occurrences.c.job_id)
        .limit(MOST_REPEATING)
    )
