"""Reads all DAGs, a page at a time, and tells of those that changed: next run, owners, assets, paused, gone.

It must not report, and nothing counts as told before whoever drives it says so.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from bot.schedulers.airflow.assets import Uses
from bot.schedulers.airflow.client import PAGE, AirflowClient
from bot.schedulers.airflow.events import changed
from bot.schedulers.airflow.memory import DagSeen, Memory
from bot.schedulers.airflow.shapes import Dag
from bot.sources import SourceEvent

EVERY, SELDOM = timedelta(minutes=1), timedelta(minutes=5)
"""Between two readings of all DAGs: a minute for each page that they fill, up to five."""
CALL_WITHIN = timedelta(seconds=20)
MOST_TAGS = 50
GONE_AFTER = 2
"""A DAG that leaves while the pages are read shifts the others: what is missed once may only have been skipped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DagBatch:
    """`now_known`: what holds of these DAGs once the events were taken; None for one that is gone."""

    events: tuple[SourceEvent, ...]
    now_known: Mapping[str, DagSeen | None]


class Dags:
    """`read`, report, `done`: in this order, from one thread."""

    def __init__(
        self, client: AirflowClient, memory: Memory, *, scheduler: str, uses_of: Callable[[str], Uses | None]
    ) -> None:
        """`uses_of`: which assets a DAG uses; None where that is not known."""
        self._client = client
        self._memory = memory
        self._scheduler = scheduler
        self._uses_of = uses_of
        self._offset = 0
        self._met: set[str] = set()
        self.due_at: datetime | None = None

    def read(self, now: datetime) -> DagBatch:
        """One page; after the last one, what is missing is told too. Raises what the client raises."""
        with self._client.within(CALL_WITHIN):
            page = self._client.dags(offset=self._offset)
        known: dict[str, DagSeen | None] = {}
        events = []
        for dag in page.dags:
            self._met.add(dag.dag_id)
            before = self._memory.dags.get(dag.dag_id)
            seen = _with_assets_of(seen_of(dag, self._uses_of(dag.dag_id)), before)
            known[dag.dag_id] = seen
            if before is None or _told(before) != _told(seen):
                events.append(changed(dag.dag_id, seen, scheduler=self._scheduler, at=now))
        self._offset += len(page.dags)
        if not page.dags or self._offset >= page.total_entries:
            for name, still in self._missing():
                known[name] = still
                if still is None:
                    gone = DagSeen(owner=self._memory.dags[name].owner)
                    events.append(changed(name, gone, scheduler=self._scheduler, at=now, deleted=True))
            self.put_off(now)
        return DagBatch(events=tuple(events), now_known=known)

    def done(self, batch: DagBatch) -> None:
        for name, seen in batch.now_known.items():
            if seen is None:
                self._memory.dags.pop(name, None)
            else:
                self._memory.dags[name] = seen

    def put_off(self, now: datetime) -> None:
        """Begin anew later: all were read, or they are not shown to us."""
        wait = min(EVERY * max(1, -(-self._offset // PAGE)), SELDOM)
        self._offset, self._met, self.due_at = 0, set(), now + wait

    def next_runs(self) -> dict[str, datetime | None]:
        return {name: seen.next_run_at for name, seen in self._memory.dags.items()}

    def _missing(self) -> list[tuple[str, DagSeen | None]]:
        found: list[tuple[str, DagSeen | None]] = []
        for name, seen in self._memory.dags.items():
            if name in self._met:
                continue
            missed = seen.missed + 1
            found.append((name, None if missed >= GONE_AFTER else replace(seen, missed=missed)))
        return found


def seen_of(dag: Dag, uses: Uses | None = None) -> DagSeen:
    next_run_at = dag.next_dagrun_run_after
    runs_next = next_run_at is not None and not dag.is_paused
    return DagSeen(
        next_run_at=next_run_at.astimezone(UTC) if next_run_at is not None and runs_next else None,
        owner=", ".join(dict.fromkeys(filter(None, dag.owners)))[:200],
        schedule=dag.timetable_summary,
        paused=dag.is_paused,
        tags=sorted(tag.name for tag in dag.tags)[:MOST_TAGS],
        reads=list(uses.reads) if uses is not None else None,
        writes=list(uses.writes) if uses is not None else None,
    )


def _told(seen: DagSeen) -> tuple[object, ...]:
    return seen.next_run_at, seen.owner, seen.paused, seen.reads, seen.writes


def _with_assets_of(seen: DagSeen, before: DagSeen | None) -> DagSeen:
    """What is not known just now is as it was told last."""
    if seen.reads is not None or before is None:
        return seen
    return replace(seen, reads=before.reads, writes=before.writes)
