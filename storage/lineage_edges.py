"""Which job reads and writes which dataset, and who is up and down stream by that; what is known of datasets.

A use was seen in a run (`seen_at`), or the job's scheduler itself names it (`told_at`), or both: what was seen is believed
for a while, what is told until it is told no more.

Every look is by index: the uses of one job, then those of its datasets. It walks no graph.
"""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, bindparam, case, false, or_, select, true, tuple_
from sqlalchemy.dialects.postgresql import insert

from bot.incidents.keys import JobKey
from bot.store.lineage import DatasetUse, JobEdge
from storage.columns import AnyRow
from storage.lineage_tables import lineage_datasets, lineage_uses
from storage.part import Part

BELIEVED = timedelta(days=30)
FORGOTTEN = timedelta(days=60)
WRITTEN_AGAIN = timedelta(hours=1)

_USE = insert(lineage_uses)
_NOTE = _USE.on_conflict_do_update(
    index_elements=["scheduler", "job", "writes", "dataset"],
    set_={"seen_at": _USE.excluded.seen_at},
    where=or_(lineage_uses.c.seen_at.is_(None), lineage_uses.c.seen_at < bindparam("fresh_since")),
)
_DATASET = insert(lineage_datasets)
_DESCRIBE = _DATASET.on_conflict_do_update(
    index_elements=["name"],
    set_={"described": _DATASET.excluded.described, "at": _DATASET.excluded.at},
    where=or_(
        lineage_datasets.c.at < bindparam("fresh_since"),
        lineage_datasets.c.described != _DATASET.excluded.described,
    ),
)
_DESCRIBED = select(lineage_datasets).where(lineage_datasets.c.name.in_(bindparam("names", expanding=True)))


def believed(use: Any) -> ColumnElement[bool]:
    """Whether that row of uses counts."""
    return or_(use.c.seen_at >= bindparam("since"), use.c.told_at.is_not(None))


def _believed_at(use: Any) -> ColumnElement[datetime]:
    return case(
        (use.c.seen_at.is_(None), use.c.told_at),
        (use.c.told_at.is_(None), use.c.seen_at),
        (use.c.told_at > use.c.seen_at, use.c.told_at),
        else_=use.c.seen_at,
    )


_WRITER, _READER = lineage_uses.alias("writer"), lineage_uses.alias("reader")
_EDGES = select(
    _WRITER.c.scheduler.label("up_scheduler"),
    _WRITER.c.job.label("up_job"),
    _WRITER.c.dataset,
    _believed_at(_WRITER).label("written_at"),
    _READER.c.scheduler,
    _READER.c.job,
    _believed_at(_READER).label("seen_at"),
).where(
    _WRITER.c.writes == true(),
    _READER.c.writes == false(),
    _READER.c.dataset == _WRITER.c.dataset,
    believed(_WRITER),
    believed(_READER),
    or_(_READER.c.scheduler != _WRITER.c.scheduler, _READER.c.job != _WRITER.c.job),
)


def _of(side: Any) -> Any:
    return and_(side.c.scheduler == bindparam("of_scheduler"), side.c.job == bindparam("of_job"))


def _looked(side: Any, other: Any) -> Select[Any]:
    return _EDGES.where(_of(side)).order_by(other.c.scheduler, other.c.job, _WRITER.c.dataset).limit(bindparam("most"))


_DOWNSTREAM = _looked(_WRITER, _READER)
_UPSTREAM = _looked(_READER, _WRITER)
_ALL = _EDGES.order_by(_WRITER.c.scheduler, _WRITER.c.job, _WRITER.c.dataset).limit(bindparam("most"))

_KEYS = tuple(lineage_uses.primary_key.columns)
_FORGET_USES = lineage_uses.delete().where(
    tuple_(*_KEYS).in_(
        select(*_KEYS)
        .where(lineage_uses.c.seen_at < bindparam("before"), lineage_uses.c.told_at.is_(None))
        .limit(bindparam("most"))
    )
)
_FORGET_DATASETS = lineage_datasets.delete().where(
    lineage_datasets.c.name.in_(
        select(lineage_datasets.c.name).where(lineage_datasets.c.at < bindparam("before")).limit(bindparam("most"))
    )
)


def note_uses(connection: Connection, uses: Collection[DatasetUse], *, now: datetime) -> None:
    """Remember them as seen now; what was noted within the hour is not written again."""
    if uses:
        fresh = now - WRITTEN_AGAIN
        values = [
            {
                "scheduler": use.job.scheduler,
                "job": use.job.name,
                "writes": use.writes,
                "dataset": use.dataset,
                "seen_at": now,
                "fresh_since": fresh,
            }
            for use in sorted(set(uses))
        ]
        connection.execute(_NOTE, values)


def describe(connection: Connection, datasets: Mapping[str, Mapping[str, Any]], *, now: datetime) -> None:
    if datasets:
        fresh = now - WRITTEN_AGAIN
        values = [
            {"name": name, "described": dict(datasets[name]), "at": now, "fresh_since": fresh}
            for name in sorted(datasets)
        ]
        connection.execute(_DESCRIBE, values)


def described(connection: Connection, names: Collection[str]) -> dict[str, Mapping[str, Any]]:
    if not names:
        return {}
    return {row.name: row.described for row in connection.execute(_DESCRIBED, {"names": sorted(names)})}


def prune_edges(connection: Connection, *, now: datetime, limit: int) -> int:
    values = {"before": now - FORGOTTEN, "most": limit}
    return connection.execute(_FORGET_USES, values).rowcount + connection.execute(_FORGET_DATASETS, values).rowcount


class LineageEdges(Part):
    """The part of the storage that tells who is up and down stream."""

    def downstream_of(self, *, job: JobKey, now: datetime, limit: int = 1000) -> tuple[JobEdge, ...]:
        return self._edges(_DOWNSTREAM, now, limit, of_scheduler=job.scheduler, of_job=job.name)

    def upstream_of(self, *, job: JobKey, now: datetime, limit: int = 1000) -> tuple[JobEdge, ...]:
        return self._edges(_UPSTREAM, now, limit, of_scheduler=job.scheduler, of_job=job.name)

    def job_edges(self, *, now: datetime, limit: int = 1_000_000) -> tuple[JobEdge, ...]:
        return self._edges(_ALL, now, limit)

    def _edges(self, statement: Select[Any], now: datetime, limit: int, **of: str) -> tuple[JobEdge, ...]:
        with self._database.read() as connection:
            rows = connection.execute(statement, {"since": now - BELIEVED, "most": limit, **of})
            return tuple(_edge(row) for row in rows)


def _edge(row: AnyRow) -> JobEdge:
    return JobEdge(
        upstream=JobKey(scheduler=row.up_scheduler, name=row.up_job),
        downstream=JobKey(scheduler=row.scheduler, name=row.job),
        dataset=row.dataset,
        seen_at=min(row.written_at, row.seen_at),
    )
