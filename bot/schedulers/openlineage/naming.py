"""What a run event says of its run: by whom it is known, when it was due, what it is a part of. Airflow has its own words.

It must not look at datasets or decide what a run's end means.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime

from bot.incidents.keys import Trigger
from bot.schedulers.openlineage.nodes import LONGEST_NAME, Facets, Node

DEFAULT = "default"
TRIGGERS = {
    "manual": Trigger.MANUAL,
    "asset_materialization": Trigger.MANUAL,
    "backfill": Trigger.BACKFILL,
    "backfill_job": Trigger.BACKFILL,
}
MOST_FAILING = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class JobType:
    """Who told, what kind of job it is, and whether it goes on without an end."""

    integration: str = ""
    kind: str = ""
    processing: str = ""

    @property
    def is_dag(self) -> bool:
        return (self.integration, self.kind) == ("AIRFLOW", "DAG")

    @property
    def is_spark_application(self) -> bool:
        return (self.integration, self.kind) == ("SPARK", "APPLICATION")

    @property
    def streams(self) -> bool:
        return self.processing == "STREAMING"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parent:
    """The run that this one is a part of, and the root that the event names beside it."""

    run_id: str
    root: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DagRun:
    """What Airflow says of a DAG run; `task` is there where the event is of one of its tasks."""

    dag: str
    run_id: str | None = None
    nominal_time: datetime | None = None
    logical_time: datetime | None = None
    trigger: Trigger = Trigger.SCHEDULE
    generation: int = 0
    started_at: datetime | None = None
    ended_at: datetime | None = None
    by: str | None = None
    task: str | None = None
    attempt: int = 1
    tries: int | None = None
    url: str | None = None


def read_job_type(facets: Facets) -> JobType:
    def read(facet: Node) -> JobType:
        words = [(facet.text(name, most=80) or "").upper() for name in ("integration", "jobType", "processingType")]
        return JobType(integration=words[0], kind=words[1], processing=words[2])

    return facets.read("jobType", read, JobType())


def read_parent(facets: Facets, own_id: str) -> Parent | None:
    """None where no other run is named."""

    def read(facet: Node) -> Parent | None:
        parent = facet.need_node("run").need_name("runId")
        root = facet.node("root")
        root_run = root.node("run") if root is not None else None
        root_id = root_run.name("runId") if root_run is not None else None
        if parent == own_id:
            return Parent(run_id=root_id, root=root_id) if root_id not in (None, own_id) and root_id else None
        return Parent(run_id=parent, root=root_id if root_id != own_id else None)

    return facets.read("parent", read, None)


def read_dag_run(facets: Facets) -> DagRun | None:
    """What `airflowDagRun` (of a DAG) or `airflow` (of a task) says; None where there is neither."""

    def of_dag(facet: Node) -> DagRun:
        return _dag_run(facet)

    return facets.read("airflowDagRun", of_dag, None) or facets.read("airflow", _task, None)


def _dag_run(facet: Node) -> DagRun:
    dag, run = facet.node("dag"), facet.need_node("dagRun")
    name = run.name("dag_id") or (dag.name("dag_id") if dag is not None else None) or run.need_name("dag_id")
    trigger = TRIGGERS.get((run.text("run_type", most=40) or "").lower(), Trigger.SCHEDULE)
    cleared = min(run.count("clear_number") or 0, 1_000_000_000)
    if cleared and trigger is Trigger.SCHEDULE:
        trigger = Trigger.RERUN
    return DagRun(
        dag=name,
        run_id=run.name("run_id"),
        nominal_time=run.instant("data_interval_end"),
        logical_time=run.instant("logical_date") or run.instant("execution_date"),
        trigger=trigger,
        generation=cleared,
        started_at=run.instant("start_date"),
        ended_at=run.instant("end_date"),
        by=run.text("triggering_user_name", most=200) if trigger is Trigger.MANUAL else None,
    )


def _task(facet: Node) -> DagRun | None:
    task = facet.node("task")
    if task is None:
        return None
    known, instance = _dag_run(facet), facet.node("taskInstance") or Node({}, facet.at("taskInstance"))
    index = instance.get("map_index")
    mapped = f"[{index}]" if isinstance(index, int) and index >= 0 else ""
    retries = task.count("retries")
    return DagRun(
        dag=known.dag,
        run_id=known.run_id,
        trigger=known.trigger,
        generation=known.generation,
        started_at=instance.instant("start_date"),
        ended_at=instance.instant("end_date"),
        task=f"{task.need_name('task_id')}{mapped}",
        attempt=min(instance.count("try_number") or 1, 1_000_000),
        tries=min(retries, 1_000_000) + 1 if retries is not None else None,
        url=instance.text("log_url"),
    )


def read_failing(facets: Facets) -> tuple[str, ...]:
    """The tasks of which Airflow itself says, at the end of a DAG run, that they failed."""

    def read(facet: Node) -> tuple[str, ...]:
        states = facet.node("tasksState")
        found = states.value.items() if states is not None else ()
        return tuple(task for task, state in found if state == "failed")[:MOST_FAILING]

    return facets.read("airflowState", read, ())


def read_nominal_time(facets: Facets) -> tuple[datetime | None, datetime | None]:
    """The nominal start and end of a run."""

    def read(facet: Node) -> tuple[datetime | None, datetime | None]:
        return facet.instant("nominalStartTime"), facet.instant("nominalEndTime")

    nothing: tuple[datetime | None, datetime | None] = (None, None)
    return facets.read("nominalTime", read, nothing)


def read_upstream(facets: Facets, source: str, *, bare: bool) -> tuple[str, ...]:
    """The jobs that this run waited for, as its producer names them."""

    def read(facet: Node) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for one in facet.nodes("upstream", most=MOST_FAILING):
            job = one.need_node("job")
            found[job.need_name("name") if bare else job_name(job, source)] = None
        return tuple(found)

    return facets.read("jobDependencies", read, ())


def job_name(job: Node, source: str) -> str:
    """How we call a job: its name, with its namespace before it unless that says nothing. What is too long is cut."""
    namespace, name = job.raw_text("namespace") or DEFAULT, job.need_name("name")
    namespace = namespace if namespace in (DEFAULT, source) else (job.name("namespace") or DEFAULT)
    whole = name if namespace in (DEFAULT, source) else f"{namespace}:{name}"
    if len(whole) <= LONGEST_NAME and len(whole.encode("utf-8", "replace")) <= 2 * LONGEST_NAME:
        return whole
    return f"{whole[: LONGEST_NAME // 4]}~{hashlib.sha256(whole.encode('utf-8', 'replace')).hexdigest()[:16]}"
