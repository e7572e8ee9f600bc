"""Statements about allowances and the reruns ledger. They run inside a caller's transaction and commit nothing.

The guard of an allowance is the WHERE of its own write, so that no two transactions pass it together.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Connection, bindparam, func, literal, select, tuple_
from sqlalchemy.dialects.postgresql import insert

from bot.incidents.canary import Stage
from bot.store import Booking, Scope
from storage.columns import Amount, AnyRow, millionths
from storage.locks import key_of
from storage.tables import BookingState, budgets, reruns

_KEY = ("scope", "unit", "period_start")
_INSERT = insert(budgets)
_ADD = _INSERT.on_conflict_do_update(
    index_elements=_KEY,
    set_={
        "automatic_used": budgets.c.automatic_used + _INSERT.excluded.automatic_used,
        "approved_used": budgets.c.approved_used + _INSERT.excluded.approved_used,
    },
)
_ADD_IF_WITHIN = _INSERT.on_conflict_do_update(
    index_elements=_KEY,
    set_={"automatic_used": budgets.c.automatic_used + _INSERT.excluded.automatic_used},
    where=budgets.c.automatic_used + _INSERT.excluded.automatic_used <= bindparam("most", type_=Amount),
).returning(budgets.c.id)
_BOOKED = select(budgets.c.scope, budgets.c.unit, budgets.c.period_start, budgets.c.automatic_used).where(
    tuple_(budgets.c.scope, budgets.c.unit, budgets.c.period_start).in_(bindparam("scopes", expanding=True))
)
_BOOK = reruns.insert()
_TURN = select(func.pg_advisory_xact_lock(literal(key_of("budgets"), BigInteger)))
_BOOKING = select(reruns).where(reruns.c.key == bindparam("key"))
_END_IF_RESERVED = (
    reruns.update()
    .where(reruns.c.key == bindparam("of_key"), reruns.c.state == BookingState.RESERVED)
    .values(
        state=bindparam("state"),
        amount=bindparam("amount"),
        result=bindparam("result"),
        ended_at=bindparam("ended_at"),
        stage=None,
    )
)


def take_turn(connection: Connection) -> None:
    """Before a batch writes its first allowance: two batches that met the same teams in another order would wait for each
    other. A single decision writes its job, then its team, and needs no turn.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(_TURN)


def booked(connection: Connection, scopes: Collection[Scope]) -> dict[Scope, float]:
    """The automatic amounts used or reserved; a period in which nothing was booked has 0."""
    found = dict.fromkeys(scopes, 0.0)
    if found:
        wanted = [(scope.name, scope.unit, scope.period_start) for scope in found]
        for row in connection.execute(_BOOKED, {"scopes": wanted}):
            found[Scope(name=row.scope, unit=row.unit, period_start=row.period_start)] = row.automatic_used
    return found


def job_first(scope: Scope) -> tuple[bool, str, str, datetime]:
    """The order in which budget rows are written: jobs, then teams."""
    return not scope.name.startswith("job:"), scope.name, scope.unit, scope.period_start


def reserve_if_within(connection: Connection, booking: Booking, limits: Mapping[Scope, float]) -> bool:
    """Add the amount to every scope, all or nothing; False when one of them has not enough left."""
    amount = booking.amount or 0.0
    taken: list[Scope] = []
    for scope in sorted(booking.scopes, key=job_first):
        if not _add_if_within(connection, scope, amount, limits.get(scope)):
            for given_back in taken:
                add(connection, given_back, amount=-amount, automatic=True)
            return False
        taken.append(scope)
    return True


def _add_if_within(connection: Connection, scope: Scope, amount: float, limit: float | None) -> bool:
    if limit is None:
        add(connection, scope, amount=amount, automatic=True)
        return True
    if millionths(amount) > millionths(limit):
        return False
    values = _row(scope, amount, automatic=True) | {"most": limit}
    return connection.execute(_ADD_IF_WITHIN, values).scalar_one_or_none() is not None


def add(connection: Connection, scope: Scope, *, amount: float, automatic: bool) -> None:
    """Add to a scope without any guard: an approved rerun, or the difference to what was really used."""
    connection.execute(_ADD, _row(scope, amount, automatic=automatic))


def _row(scope: Scope, amount: float, *, automatic: bool) -> dict[str, Any]:
    return {
        "scope": scope.name,
        "unit": scope.unit,
        "period_start": scope.period_start,
        "automatic_used": amount if automatic else 0.0,
        "approved_used": 0.0 if automatic else amount,
    }


def book(connection: Connection, booking: Booking, *, team: str | None) -> None:
    """Write it down; `team` answers the occurrence."""
    connection.execute(
        _BOOK,
        {
            "key": booking.key,
            "job_id": booking.job_id,
            "record": booking.record,
            "number": booking.number,
            "nominal_times": booking.nominal_times,
            "cause": booking.cause,
            "automatic": booking.automatic,
            "first": booking.first,
            "amount": booking.amount,
            "unit": booking.unit,
            "scopes": booking.scopes,
            "at": booking.at,
            "by": booking.by,
            "state": BookingState.RESERVED,
            "stage": booking.stage,
            "team": team,
        },
    )


def booking(connection: Connection, key: str) -> Booking | None:
    row = connection.execute(_BOOKING, {"key": key}).one_or_none()
    return booking_of(row) if row else None


def booking_of(row: AnyRow) -> Booking:
    return Booking(
        key=row.key,
        job_id=row.job_id,
        record=row.record,
        number=row.number,
        nominal_times=row.nominal_times,
        cause=row.cause,
        automatic=row.automatic,
        first=row.first,
        amount=row.amount,
        unit=row.unit,
        scopes=row.scopes,
        at=row.at,
        by=row.by,
        result=row.result,
        stage=Stage(row.stage) if row.stage else None,
    )


def end_if_reserved(
    connection: Connection, known: Booking, *, state: BookingState, amount: float | None, result: str, at: datetime
) -> bool:
    """Replace the estimate by `amount`; False: the booking had ended before."""
    values = {"of_key": known.key, "state": state, "amount": amount, "result": result, "ended_at": at}
    return connection.execute(_END_IF_RESERVED, values).rowcount == 1
