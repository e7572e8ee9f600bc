"""Statements about gates, and about where reruns stand to the canary of their cause. They run inside a caller's transaction.

A gate is locked before it is read, so that what one transaction makes of it no other one misses.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, func, select
from sqlalchemy.dialects.postgresql import insert

from bot.incidents.canary import Stage
from bot.incidents.model import TimerKind
from bot.store import Gate
from storage.columns import AnyRow
from storage.queue_tables import timers
from storage.tables import BookingState, gates, reruns

_LOCK = (
    select(gates)
    .where(gates.c.name.in_(bindparam("names", expanding=True)))
    .order_by(gates.c.name)
    .with_for_update(key_share=True)
)
_CREATE = insert(gates).on_conflict_do_nothing(index_elements=["name"]).returning(gates.c.name)
_SAVE = (
    gates.update()
    .where(gates.c.name == bindparam("of_name"))
    .values(canary=bindparam("canary"), storm=bindparam("storm"))
)
_STAGES = select(reruns.c.key, reruns.c.stage).where(reruns.c.key.in_(bindparam("keys", expanding=True)))
_MOVE = (
    reruns.update()
    .where(reruns.c.key == bindparam("of_key"), reruns.c.state == BookingState.RESERVED)
    .values(stage=bindparam("to_stage"))
)
_STANDING = (
    select(reruns.c.stage, func.count().label("many"))
    .where(reruns.c.cause == bindparam("of_cause"), reruns.c.stage.in_((Stage.PLANNED, Stage.OUT)))
    .group_by(reruns.c.stage)
)
_LONGEST_HELD = (
    select(reruns.c.key)
    .where(reruns.c.cause == bindparam("of_cause"), reruns.c.stage == Stage.HELD)
    .order_by(reruns.c.at, reruns.c.key)
    .limit(bindparam("most"))
)
_RETURNED = (reruns.c.job_id, reruns.c.record, reruns.c.number)
_LET = reruns.update().where(reruns.c.key.in_(_LONGEST_HELD)).values(stage=Stage.LET).returning(*_RETURNED)
_STOP = (
    reruns.update()
    .where(reruns.c.cause == bindparam("of_cause"), reruns.c.stage == Stage.HELD)
    .values(stage=Stage.STOPPED)
    .returning(*_RETURNED)
)
_ADD_TIMER = insert(timers)
_SET_TIMER = _ADD_TIMER.on_conflict_do_update(
    index_elements=["record", "number", "kind"], set_={"due_at": _ADD_TIMER.excluded.due_at}
)


def lock(connection: Connection, names: Collection[str]) -> dict[str, Gate]:
    """The gates by name, locked in the order of their names and created where missing."""
    gates = {row.name: Gate(name=row.name, canary=row.canary, storm=row.storm) for row in _locked(connection, names)}
    missing = sorted(set(names) - set(gates))
    if missing:
        created = connection.execute(_CREATE, [{"name": name} for name in missing]).scalars()
        gates |= {name: Gate(name=name) for name in created}
    if len(gates) < len(set(names)):
        return lock(connection, names)
    return gates


def _locked(connection: Connection, names: Collection[str]) -> Sequence[AnyRow]:
    return connection.execute(_LOCK, {"names": sorted(names)}).all() if names else ()


def save(connection: Connection, changed: Mapping[str, Gate]) -> None:
    rows = [{"of_name": name, "canary": changed[name].canary, "storm": changed[name].storm} for name in sorted(changed)]
    connection.execute(_SAVE, rows)


def stages(connection: Connection, keys: Collection[str]) -> dict[str, Stage]:
    """Where these reruns stand; those that have ended, or that no canary knows, are left out."""
    if not keys:
        return {}
    rows = connection.execute(_STAGES, {"keys": sorted(keys)})
    return {row.key: Stage(row.stage) for row in rows if row.stage is not None}


def move_if_reserved(connection: Connection, *, key: str, to: Stage | None) -> bool:
    return connection.execute(_MOVE, {"of_key": key, "to_stage": to}).rowcount == 1


def standing(connection: Connection, *, cause: str) -> dict[Stage, int]:
    """How many reruns under this cause back off, and how many were asked for."""
    return {Stage(row.stage): row.many for row in connection.execute(_STANDING, {"of_cause": cause})}


def let_longest_held(connection: Connection, *, cause: str, most: int, now: datetime) -> bool:
    """Let so many of the held reruns go, and tell their occurrences; True when there were any."""
    return _tell(connection, connection.execute(_LET, {"of_cause": cause, "most": most}), now)


def stop_held(connection: Connection, *, cause: str, now: datetime) -> bool:
    """None of the held reruns goes; tell their occurrences; True when there were any."""
    return _tell(connection, connection.execute(_STOP, {"of_cause": cause}), now)


def _tell(connection: Connection, rows: Iterable[AnyRow], now: datetime) -> bool:
    due: list[dict[str, Any]] = [
        {
            "job_id": row.job_id,
            "record": row.record,
            "number": row.number,
            "kind": TimerKind.RELEASE,
            "nominal_time": None,
            "due_at": now,
        }
        for row in rows
    ]
    if due:
        connection.execute(_SET_TIMER, due)
    return bool(due)
