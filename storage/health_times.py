"""The percentiles of what is measured in durations, of all and of each row, by nearest rank. Changes nothing.

PostgreSQL has an aggregate for just that, which is three times as fast as window functions are there; SQLite has not.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    String,
    func,
    literal,
    or_,
    select,
    tuple_,
    type_coerce,
    union_all,
)

from bot.incidents.health import Times
from bot.store.health import RowsOf
from storage.columns import AnyRow, Span
from storage.health_parts import Shape, during, micros, to_answer, to_recover
from storage.health_statements import ANSWER, RECOVERY, Statement, dim_of
from storage.tables import occurrences

MEDIAN, NINTH_DECILE = 0.5, 0.9
KINDS = (ANSWER, RECOVERY)


@dataclass(slots=True, kw_only=True)
class FoundTimes:
    """By kind: of all together, and of each row by its `dim`."""

    whole: dict[str, Times] = field(default_factory=dict)
    rows: dict[tuple[Any, str], Times] = field(default_factory=dict)


def times(connection: Connection, shape: Shape, by: RowsOf, values: Mapping[str, Any]) -> FoundTimes:
    """The times of the occurrences that opened in the period."""
    if connection.dialect.name == "postgresql":
        return _told(connection.execute(_by_aggregate(shape, by), values))
    return _placed(connection.execute(_by_rank(shape, by), values))


@cache
def _by_aggregate(shape: Shape, by: RowsOf) -> Statement:
    cohort = _cohort(shape, by).subquery("cohort")
    found: list[ColumnElement[Any]] = []
    for kind in KINDS:
        value = micros(cohort.c[kind])
        found.append(func.count(value).label(f"{kind}_n"))
        for name, share in (("p50", MEDIAN), ("p90", NINTH_DECILE)):
            ranked = func.percentile_disc(share).within_group(value)
            found.append(type_coerce(ranked, Span()).label(f"{kind}_{name}"))
    dim = cohort.c.dim
    return select(dim, func.grouping(dim).label("whole"), *found).group_by(func.grouping_sets(tuple_(dim), tuple_()))


def _told(rows: Iterable[AnyRow]) -> FoundTimes:
    found = FoundTimes()
    for row in rows:
        for kind in KINDS:
            n, p50, p90 = (row._mapping[f"{kind}_{part}"] for part in ("n", "p50", "p90"))
            told = Times(n=n, p50=p50, p90=p90)
            if row.whole:
                found.whole[kind] = told
            else:
                found.rows[row.dim, kind] = told
    return found


@cache
def _by_rank(shape: Shape, by: RowsOf) -> Statement:
    """Only the two ranks of each kind, of all and of each row, that count."""
    cohort = _cohort(shape, by).cte("cohort")
    values = union_all(
        *(
            select(literal(kind, String).label("kind"), cohort.c.dim, cohort.c[kind].label("value")).where(
                cohort.c[kind].is_not(None)
            )
            for kind in KINDS
        )
    ).subquery("measured")
    of_all, of_row = (values.c.kind,), (values.c.kind, values.c.dim)
    ranked = select(
        values,
        func.row_number().over(partition_by=of_all, order_by=values.c.value).label("rank"),
        func.count().over(partition_by=of_all).label("n"),
        func.row_number().over(partition_by=of_row, order_by=values.c.value).label("row_rank"),
        func.count().over(partition_by=of_row).label("row_n"),
    ).subquery("ranked")
    of = ranked.c
    return select(ranked).where(
        or_(
            of.rank.in_([_median(of.n), _ninth_decile(of.n)]),
            of.row_rank.in_([_median(of.row_n), _ninth_decile(of.row_n)]),
        )
    )


def _placed(rows: Iterable[AnyRow]) -> FoundTimes:
    found = FoundTimes()
    for row in rows:
        key = (row.dim, row.kind)
        found.whole[row.kind] = _with(found.whole.get(row.kind), row.value, rank=row.rank, n=row.n)
        found.rows[key] = _with(found.rows.get(key), row.value, rank=row.row_rank, n=row.row_n)
    return found


def _with(known: Times | None, value: timedelta, *, rank: int, n: int) -> Times:
    """The times with this value, where it is one of the two that count."""
    return Times(
        n=n,
        p50=value if rank == _median(n) else known.p50 if known else None,
        p90=value if rank == _ninth_decile(n) else known.p90 if known else None,
    )


def _cohort(shape: Shape, by: RowsOf) -> Statement:
    return select(dim_of(by), to_answer(shape).label(ANSWER), to_recover().label(RECOVERY)).where(
        during(occurrences.c.opened_at), *shape.occurrences()
    )


def _median(n: Any) -> Any:
    """The rank of the median among so many: the ceil(0.5 n)-th."""
    return (n + 1) // 2


def _ninth_decile(n: Any) -> Any:
    return (9 * n + 9) // 10
