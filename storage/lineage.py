"""Lineage as the use case asks for it: runs locked and written, parts looked up by root, what is due, what is too old.

It decides nothing: which run is a part of which, and what an end means, it is told. Edges stand in `storage.lineage_edges`.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Select, and_, bindparam, case, func, select, text, tuple_
from sqlalchemy.dialects.postgresql import insert

from bot.store.lineage import DatasetUse, Known, LineageRun, Told
from storage.columns import AnyRow
from storage.lineage_edges import describe, described, note_uses, prune_edges
from storage.lineage_tables import IS_DUE, IS_PART, lineage_runs
from storage.part import Part

PARTS_KEPT = timedelta(days=7)
RUNS_KEPT = timedelta(days=30)
MOST_PARTS = 1000
MOST_AT_ONCE = 10
DEEPEST = 8

_R = lineage_runs.c
_OURS = and_(_R.source == bindparam("of_source"), _R.run_id.in_(bindparam("ids", expanding=True)))
_LOCK = select(lineage_runs).where(_OURS).order_by(_R.run_id).with_for_update()
_MAKE_ROOM = insert(lineage_runs).on_conflict_do_nothing(index_elements=["source", "run_id"])
_SAVED = ("job", "parent", "root", "own", "state", "state_at", "attempt", "known", "seen_at", "due_at")
_SAVE = (
    lineage_runs.update()
    .where(_R.source == bindparam("of_source"), _R.run_id == bindparam("of_run"))
    .values({name: bindparam(f"new_{name}") for name in _SAVED})
)
_PARENT = lineage_runs.alias("above")
_ROOT_ABOVE = (
    select(_PARENT.c.root)
    .where(_PARENT.c.source == _R.source, _PARENT.c.run_id == _R.parent)
    .correlate(lineage_runs)
    .scalar_subquery()
)
_FOLLOW = (
    lineage_runs.update()
    .where(
        _R.source == bindparam("of_source"),
        _R.parent.in_(bindparam("parents", expanding=True)),
        text(IS_PART),
        _R.root != _ROOT_ABOVE,
    )
    .values(root=_ROOT_ABOVE)
    .returning(_R.run_id)
)
_PARTS = (
    select(lineage_runs)
    .where(_R.source == bindparam("of_source"), _R.root.in_(bindparam("roots", expanding=True)), text(IS_PART))
    .order_by(case((_R.state == Told.FAILED, 0), else_=1), _R.state_at.desc(), _R.run_id)
    .limit(bindparam("most"))
)
_DUE_ANEW = (
    lineage_runs.update()
    .where(_R.source == bindparam("of_source"), _R.run_id == bindparam("of_run"), _R.due_at == bindparam("was_due_at"))
    .values(due_at=bindparam("new_due_at"))
)
_DUE = (
    select(lineage_runs)
    .where(text(IS_DUE), _R.due_at <= bindparam("now"))
    .order_by(_R.due_at, _R.source, _R.run_id)
    .limit(bindparam("most"))
)
_NEXT = select(func.min(_R.due_at)).where(text(IS_DUE))


def _too_old(own: bool) -> Select[Any]:
    kind = _R.own if own else text(IS_PART)
    return select(_R.source, _R.run_id).where(_R.seen_at < bindparam("before"), kind).limit(bindparam("most"))


def _forget(own: bool) -> Any:
    return lineage_runs.delete().where(tuple_(_R.source, _R.run_id).in_(_too_old(own)))


_FORGET_PARTS, _FORGET_RUNS = _forget(False), _forget(True)


class SqlLineageUnit:
    """Implements `bot.store.lineage.LineageUnit` on one write transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def lock_runs(
        self, *, source: str, create: Collection[str], also: Collection[str], now: datetime
    ) -> dict[str, LineageRun]:
        ids = sorted({*create, *also})
        found = self._locked(source, ids)
        missing = [_room(source, id, now) for id in sorted(set(create) - found.keys())]
        if missing:
            self._connection.execute(_MAKE_ROOM, missing)
            found = self._locked(source, ids)
        return found

    def save_runs(self, runs: Collection[LineageRun]) -> None:
        if runs:
            self._connection.execute(_SAVE, [_values(run) for run in sorted(runs, key=_place)])

    def follow_parents(self, *, source: str, parents: Collection[str]) -> None:
        above = sorted(parents)
        for _ in range(DEEPEST):
            if not above:
                return
            moved = self._connection.execute(_FOLLOW, {"of_source": source, "parents": above})
            above = sorted(moved.scalars())

    def parts_of(self, *, source: str, roots: Collection[str]) -> dict[str, tuple[LineageRun, ...]]:
        found: dict[str, list[LineageRun]] = {root: [] for root in roots}
        if roots:
            most = MOST_PARTS * min(len(roots), MOST_AT_ONCE)
            values = {"of_source": source, "roots": sorted(roots), "most": most}
            for row in self._connection.execute(_PARTS, values):
                found[row.root].append(_run(row))
        return {root: tuple(parts) for root, parts in found.items()}

    def note_uses(self, uses: Collection[DatasetUse], *, now: datetime) -> None:
        note_uses(self._connection, uses, now=now)

    def describe(self, datasets: Mapping[str, Mapping[str, Any]], *, now: datetime) -> None:
        describe(self._connection, datasets, now=now)

    def described(self, names: Collection[str]) -> dict[str, Mapping[str, Any]]:
        return described(self._connection, names)

    def commit(self) -> None:
        self._connection.commit()

    def _locked(self, source: str, ids: Collection[str]) -> dict[str, LineageRun]:
        if not ids:
            return {}
        return {row.run_id: _run(row) for row in self._connection.execute(_LOCK, {"of_source": source, "ids": ids})}


class LineageRoom(Part):
    """The part of the storage that implements `bot.store.lineage.LineageStore`, but for the look at edges."""

    @contextmanager
    def lineage(self) -> Iterator[SqlLineageUnit]:
        with self._database.write() as connection:
            yield SqlLineageUnit(connection)

    def settle_lineage(self, ends: Collection[tuple[str, str, datetime]]) -> None:
        self._due_anew(ends, None)

    def postpone_lineage(self, ends: Collection[tuple[str, str, datetime]], *, to: datetime) -> None:
        self._due_anew(ends, to)

    def due_lineage(self, *, now: datetime, limit: int) -> tuple[LineageRun, ...]:
        with self._database.read() as connection:
            return tuple(_run(row) for row in connection.execute(_DUE, {"now": now, "most": limit}))

    def next_lineage_at(self) -> datetime | None:
        with self._database.read() as connection:
            found: datetime | None = connection.execute(_NEXT).scalar_one()
        return found

    def prune_lineage(self, *, now: datetime, limit: int) -> int:
        gone = 0
        for statement, kept in ((_FORGET_PARTS, PARTS_KEPT), (_FORGET_RUNS, RUNS_KEPT)):
            with self._database.transaction() as connection:
                gone += connection.execute(statement, {"before": now - kept, "most": limit}).rowcount
        with self._database.transaction() as connection:
            gone += prune_edges(connection, now=now, limit=limit)
        return gone

    def _due_anew(self, ends: Collection[tuple[str, str, datetime]], to: datetime | None) -> None:
        values = [
            {"of_source": source, "of_run": run, "was_due_at": due, "new_due_at": to}
            for source, run, due in sorted(ends)
        ]
        if values:
            with self._database.transaction() as connection:
                connection.execute(_DUE_ANEW, values)


def _place(run: LineageRun) -> tuple[str, str]:
    return run.source, run.run_id


def _room(source: str, id: str, now: datetime) -> dict[str, Any]:
    return {
        "source": source,
        "run_id": id,
        "job": "",
        "root": id,
        "own": False,
        "state": Told.HEARD,
        "state_at": now,
        "attempt": 1,
        "known": Known(),
        "seen_at": now,
    }


def _values(run: LineageRun) -> dict[str, Any]:
    return {"of_source": run.source, "of_run": run.run_id} | {f"new_{name}": getattr(run, name) for name in _SAVED}


def _run(row: AnyRow) -> LineageRun:
    return LineageRun(
        source=row.source,
        run_id=row.run_id,
        job=row.job,
        root=row.root,
        seen_at=row.seen_at,
        state_at=row.state_at,
        state=Told(row.state),
        parent=row.parent,
        own=row.own,
        attempt=row.attempt,
        known=row.known,
        due_at=row.due_at,
    )
