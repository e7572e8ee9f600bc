"""Two periods' durations ranked together, all kinds of them by one look at the occurrences of both. Runs no statement.

They are ranked by whole seconds: that is fine enough, and a hundred times fewer values.
"""

from functools import cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    String,
    case,
    func,
    literal,
    or_,
    select,
    type_coerce,
    union_all,
)

from storage.health_parts import Shape, during, micros, to_answer, to_recover
from storage.health_statements import ANSWER, RECOVERY, Statement
from storage.tables import occurrences

DELAY = "delay"
_SECOND = 1_000_000


@cache
def ranks(shape: Shape) -> Statement:
    """By kind of duration what `comparing.Ranks` needs: twice the sum of the first period's mid-ranks, and how much is tied."""
    opened_at = occurrences.c.opened_at
    early, late = during(opened_at, since="before_since", until="before_until"), during(opened_at)
    seconds: dict[str, ColumnElement[Any]] = {
        ANSWER: to_answer(shape),
        RECOVERY: to_recover(),
        DELAY: func.coalesce(micros(occurrences.c.delay), 0),
    }
    both = (
        select(
            case((early, 1), else_=0).label("before"),
            case((late, 1), else_=0).label("after"),
            *((micros(value) // literal(_SECOND, BigInteger)).label(kind) for kind, value in seconds.items()),
        )
        .where(during(opened_at, since="first", until="last"), or_(early, late), *shape.occurrences())
        .cte("both")
    )
    tied = union_all(
        *(
            select(
                literal(kind, String).label("kind"),
                both.c[kind].label("value"),
                func.sum(both.c.before).label("before"),
                func.sum(both.c.after).label("after"),
            )
            .where(both.c[kind].is_not(None))
            .group_by(both.c[kind])
            for kind in seconds
        )
    ).subquery("tied")
    equal = tied.c.before + tied.c.after
    passed = func.sum(equal).over(partition_by=tied.c.kind, order_by=tied.c.value, rows=(None, -1))
    of = select(tied, equal.label("equal"), func.coalesce(passed, 0).label("passed")).subquery("passed").c
    return select(
        of.kind,
        _sum(of.before).label("before"),
        _sum(of.after).label("after"),
        _sum(of.before * (2 * of.passed + of.equal + 1)).label("doubled_sum"),
        _sum(of.equal * of.equal * of.equal - of.equal).label("ties"),
    ).group_by(of.kind)


def _sum(amount: ColumnElement[Any]) -> ColumnElement[int]:
    return func.sum(type_coerce(amount, BigInteger))
