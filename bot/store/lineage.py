"""The part of the storage port that knows lineage: runs and their parts as OpenLineage tells them, datasets, edges. No SQL."""

from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from bot.incidents.keys import JobKey, Trigger


class Told(StrEnum):
    """What a run was last told to be."""

    HEARD = "heard"
    STARTED = "started"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class PartError:
    """What a failing run or part said of itself: masked, of bounded size."""

    message: str = ""
    trace: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """All that the events of one run told, put together; later words stand over earlier ones.

    `name`, `generation`, `nominal_time` and `trigger` are how its scheduler calls it; they stay once they were `told`.
    `part` is what it is called within its root run, whatever the try; `tries` how often it may be tried in all. `failing`
    names the parts that the scheduler itself calls failed. `inner`: a part by nature, never a run of its own. `silent`:
    its producer never tells that it failed. `heard` holds the keys of the events that were taken lately.
    """

    heard: tuple[str, ...] = ()
    told: bool = False
    name: str | None = None
    generation: int = 0
    nominal_time: datetime | None = None
    trigger: Trigger = Trigger.SCHEDULE
    by: str | None = None
    url: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    error: PartError | None = None
    part: str = ""
    tries: int | None = None
    failing: tuple[str, ...] = ()
    inner: bool = False
    silent: bool = False
    streaming: bool = False
    facts: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    kept: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class LineageRun:
    """A run of its own or a part of one, by the id that its producer gave it; ids are told apart by source.

    `root` is the run that it is a part of, as far as that is known: its own id where it is `own`. `due_at`: its end is to
    be passed on then at the latest, with what is known.
    """

    source: str
    run_id: str
    job: str
    root: str
    seen_at: datetime
    state_at: datetime
    state: Told = Told.HEARD
    parent: str | None = None
    own: bool = False
    attempt: int = 1
    known: Known = field(default_factory=Known)
    due_at: datetime | None = None

    @property
    def is_known(self) -> bool:
        """Whether any event of it was taken: otherwise it was only just made room for."""
        return bool(self.known.heard)


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class DatasetUse:
    """A job writes a dataset, or reads it."""

    job: JobKey
    writes: bool
    dataset: str


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class JobEdge:
    """A job reads what another one writes; `seen_at` is when the older of both was last seen."""

    upstream: JobKey
    downstream: JobKey
    dataset: str
    seen_at: datetime


class LineageUnit(Protocol):
    """One write transaction; leaving it without `commit` rolls back."""

    def lock_runs(
        self, *, source: str, create: Collection[str], also: Collection[str], now: datetime
    ) -> dict[str, LineageRun]:
        """The runs of these ids, locked in their order. Those of `create` are there in any case, of `also` where known."""

    def save_runs(self, runs: Collection[LineageRun]) -> None:
        """Write locked runs."""

    def follow_parents(self, *, source: str, parents: Collection[str]) -> None:
        """The parts of these runs, and theirs, belong to the root that their parent belongs to."""

    def parts_of(self, *, source: str, roots: Collection[str]) -> dict[str, tuple[LineageRun, ...]]:
        """The parts of each root, those that failed first, then the newest; of a very large run not all."""

    def note_uses(self, uses: Collection[DatasetUse], *, now: datetime) -> None: ...

    def describe(self, datasets: Mapping[str, Mapping[str, Any]], *, now: datetime) -> None:
        """Remember what is known of datasets: the newest word stands."""

    def described(self, names: Collection[str]) -> dict[str, Mapping[str, Any]]: ...

    def commit(self) -> None: ...


class LineageStore(Protocol):
    """Raises `StorageDown`, and `StaleIncident` from inside `lineage`: begin again. Edges not seen for long are not believed."""

    def lineage(self) -> AbstractContextManager[LineageUnit]: ...

    def settle_lineage(self, ends: Collection[tuple[str, str, datetime]]) -> None:
        """These ends (source, run, due instant) were passed on."""

    def postpone_lineage(self, ends: Collection[tuple[str, str, datetime]], *, to: datetime) -> None:
        """These ends step aside: they are due then."""

    def due_lineage(self, *, now: datetime, limit: int) -> tuple[LineageRun, ...]: ...

    def next_lineage_at(self) -> datetime | None: ...

    def prune_lineage(self, *, now: datetime, limit: int) -> int:
        """Forget parts, runs and edges that are too old to matter, at most so many of each; returns how many went."""

    def downstream_of(self, *, job: JobKey, now: datetime, limit: int = 1000) -> tuple[JobEdge, ...]:
        """Who reads what this job writes."""

    def upstream_of(self, *, job: JobKey, now: datetime, limit: int = 1000) -> tuple[JobEdge, ...]:
        """Who writes what this job reads."""

    def job_edges(self, *, now: datetime, limit: int = 1_000_000) -> tuple[JobEdge, ...]:
        """Every edge that is believed, by upstream job; several where two jobs share several datasets."""
