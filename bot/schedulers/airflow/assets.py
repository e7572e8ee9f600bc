"""Reads all assets, a page at a time: which DAG writes which, and which waits for it or reads it. It must not report.

An asset is called as the lineage door calls the same dataset, so that both speak of one thing; one that is only a name
within this Airflow is called after it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from bot.schedulers.airflow.client import AirflowClient
from bot.schedulers.airflow.shapes import Asset
from bot.schedulers.openlineage.datasets import name_of
from bot.schedulers.openlineage.nodes import Node, Wrong

EVERY = timedelta(minutes=5)
CALL_WITHIN = timedelta(seconds=20)
MOST_OF_A_DAG = 500
TABLES = frozenset({"postgres", "postgresql", "mysql", "mssql", "trino", "teradata", "redshift", "snowflake", "oracle"})
"""Schemes whose paths are the parts of a table's name."""
RENAMED = {"postgresql": "postgres"}


@dataclass(frozen=True, slots=True)
class Uses:
    """What a DAG reads and writes."""

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Round:
    reads: dict[str, set[str]] = field(default_factory=dict)
    writes: dict[str, set[str]] = field(default_factory=dict)
    offset: int = 0


class Assets:
    """`known`: what all DAGs use, as last read to the end; None while that is not known."""

    def __init__(self, client: AirflowClient, *, scheduler: str) -> None:
        self._client = client
        self._scheduler = scheduler
        self._round = _Round()
        self._known: Mapping[str, Uses] | None = None
        self.due_at: datetime | None = None

    def due(self, now: datetime) -> bool:
        return self.due_at is None or now >= self.due_at

    def uses_of(self, dag: str) -> Uses | None:
        """None: it is not known."""
        return self._known.get(dag, Uses()) if self._known is not None else None

    def read(self, now: datetime) -> None:
        """One page. Raises what the client raises."""
        with self._client.within(CALL_WITHIN):
            page = self._client.assets(offset=self._round.offset)
        for asset in page.assets:
            self._note(asset)
        self._round.offset += len(page.assets)
        if not page.assets or self._round.offset >= page.total_entries:
            read, written = self._round.reads, self._round.writes
            self._known = {
                dag: Uses(_bounded(read.get(dag, set())), _bounded(written.get(dag, set())))
                for dag in read.keys() | written.keys()
            }
            self.put_off(now)

    def put_off(self, now: datetime) -> None:
        """Begin anew later."""
        self._round, self.due_at = _Round(), now + EVERY

    def _note(self, asset: Asset) -> None:
        name = dataset_of(asset, scheduler=self._scheduler)
        if name is None:
            return
        for place in (*asset.scheduled_dags, *asset.consuming_tasks):
            self._round.reads.setdefault(place.dag_id, set()).add(name)
        for place in asset.producing_tasks:
            self._round.writes.setdefault(place.dag_id, set()).add(name)


def dataset_of(asset: Asset, *, scheduler: str) -> str | None:
    """The dataset's name, by the naming of OpenLineage where the asset has a URI; None for one that cannot be a name."""
    namespace, name = _parts(asset.uri or asset.name, scheduler)
    try:
        return name_of(Node({"namespace": namespace, "name": name}, "asset"))
    except Wrong:
        return None


def _parts(uri: str, scheduler: str) -> tuple[str, str]:
    scheme, separator, _ = uri.partition("://")
    if not separator or not scheme:
        return f"airflow://{scheduler}", uri
    split = urlsplit(uri)
    scheme, place, path = RENAMED.get(split.scheme, split.scheme), split.netloc, split.path
    if scheme == "file":
        return (f"file://{place}" if place else "file"), path or "/"
    if scheme == "bigquery":
        return "bigquery", ".".join(part for part in (place, *path.split("/")) if part)
    if scheme in TABLES:
        return f"{scheme}://{place}", ".".join(part for part in path.split("/") if part) or "/"
    rest = uri.partition("://")[2].partition("/")[2]
    return f"{split.scheme}://{place}", rest or "/"


def _bounded(names: set[str]) -> tuple[str, ...]:
    return tuple(sorted(names)[:MOST_OF_A_DAG])
