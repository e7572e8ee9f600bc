"""What Airflow's REST API v2 answers, as far as it is read here; more fields may come along. Values only."""

from datetime import datetime
from typing import Annotated, Any

from msgspec import Meta, Struct, field

Instant = Annotated[datetime, Meta(tz=True)]


class Version(Struct, frozen=True):
    version_number: int | None = None
    bundle_name: str | None = None
    bundle_version: str | None = None


class DagRun(Struct, frozen=True):
    """A DAG run. `queued_at` moves with every clear, which is all that the API tells of Airflow's clear number."""

    dag_run_id: str
    dag_id: str
    state: str
    run_type: str = "scheduled"
    logical_date: Instant | None = None
    queued_at: Instant | None = None
    start_date: Instant | None = None
    end_date: Instant | None = None
    data_interval_end: Instant | None = None
    run_after: Instant | None = None
    triggering_user_name: str | None = None
    conf: dict[str, Any] | None = None
    note: str | None = None
    dag_versions: tuple[Version, ...] = ()
    bundle_version: str | None = None

    @property
    def nominal_time(self) -> datetime | None:
        """As the lineage door names it: the end of the data interval, else the logical date."""
        return self.data_interval_end or self.logical_date


class TaskInstance(Struct, frozen=True):
    task_id: str
    state: str | None = None
    map_index: int = -1
    try_number: int = 1
    max_tries: int | None = None
    start_date: Instant | None = None
    end_date: Instant | None = None

    @property
    def called(self) -> str:
        return self.task_id if self.map_index < 0 else f"{self.task_id}[{self.map_index}]"


class LogPage(Struct, frozen=True):
    content: list[Any] = field(default_factory=list)
    continuation_token: str | None = None


class Audited(Struct, frozen=True):
    """A row of Airflow's audit log: who asked its API or UI for what."""

    event_log_id: int
    when: Instant
    event: str
    dag_id: str | None = None
    run_id: str | None = None
    owner: str | None = None
    extra: str | None = None


class Slot(Struct, frozen=True):
    """A run that the schedule will begin: what Airflow itself would give it."""

    logical_date: datetime
    starts_at: datetime
    ends_at: datetime
    run_after: datetime


class Tag(Struct, frozen=True):
    name: str


class Dag(Struct, frozen=True):
    dag_id: str
    is_paused: bool = False
    is_stale: bool = False
    timetable_summary: str | None = None
    next_dagrun_logical_date: Instant | None = None
    next_dagrun_data_interval_start: Instant | None = None
    next_dagrun_data_interval_end: Instant | None = None
    next_dagrun_run_after: Instant | None = None
    owners: tuple[str, ...] = ()
    tags: tuple[Tag, ...] = ()

    @property
    def next_slot(self) -> Slot | None:
        """The next run of its schedule; None where it has none, or none of a known interval."""
        logical, starts = self.next_dagrun_logical_date, self.next_dagrun_data_interval_start
        ends, after = self.next_dagrun_data_interval_end, self.next_dagrun_run_after
        if logical is None or starts is None or ends is None or after is None:
            return None
        return Slot(logical_date=logical, starts_at=starts, ends_at=ends, run_after=after)


class Place(Struct, frozen=True):
    """Where an asset is spoken of."""

    dag_id: str


class Asset(Struct, frozen=True):
    """What tasks produce, what DAGs are scheduled on and tasks read; one without a URI has its name for it."""

    name: str
    uri: str = ""
    scheduled_dags: tuple[Place, ...] = ()
    producing_tasks: tuple[Place, ...] = ()
    consuming_tasks: tuple[Place, ...] = ()


class Release(Struct, frozen=True):
    """Which Airflow it is."""

    version: str


class RunPage(Struct, frozen=True):
    dag_runs: tuple[DagRun, ...]
    total_entries: int = 0


class TaskPage(Struct, frozen=True):
    task_instances: tuple[TaskInstance, ...]
    total_entries: int = 0


class AuditPage(Struct, frozen=True):
    event_logs: tuple[Audited, ...]
    total_entries: int = 0


class DagPage(Struct, frozen=True):
    dags: tuple[Dag, ...]
    total_entries: int = 0


class AssetPage(Struct, frozen=True):
    assets: tuple[Asset, ...]
    total_entries: int = 0
