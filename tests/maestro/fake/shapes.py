"""The fake's records as Maestro's JSON: snake case, instants in milliseconds, nothing where there is nothing."""

from itertools import islice

from tests.maestro.fake.aggregation import dag_of, overview, views
from tests.maestro.fake.crons import upcoming
from tests.maestro.fake.engine import Engine, Signal
from tests.maestro.fake.records import Attempt, Json, Run, Version, Workflow, millis
from tests.maestro.fake.statuses import ALIVE, TIMES, restartable


def present(**fields: object) -> Json:
    """Without what is None."""
    return {name: value for name, value in fields.items() if value is not None}


def definition(engine: Engine, workflow: Workflow, version: Version, *, enriched: bool) -> Json:
    metadata = present(
        workflow_id=workflow.id,
        workflow_version_id=version.number,
        create_time=version.created_at,
        version_author=version.author,
        git_info=version.git,
    )
    active = workflow.active == version.number
    return present(
        properties_snapshot=workflow.properties[-1],
        metadata=metadata,
        workflow=version.workflow,
        is_active=active,
        activate_time=version.activated_at if active else None,
        activated_by=version.activated_by if active else None,
        is_latest=workflow.latest is version,
        is_default=version.number == (workflow.active or workflow.latest.number),
        modify_time=workflow.modified_at,
        internal_id=workflow.internal_id,
        enriched_extras=_extras(engine, workflow) if enriched else None,
    )


def _extras(engine: Engine, workflow: Workflow) -> Json:
    times = sorted(millis(tick.at) for tick in islice(upcoming(engine, workflow, engine.clock.now), 5))
    return present(
        workflow_params={},
        step_params={},
        next_execution_time=times[0] if times else None,
        next_execution_times=times or None,
    )


def workflow_overview(workflow: Workflow) -> Json:
    alive = {status: sum(run.status == status for run in workflow.runs) for status in ALIVE}
    return present(
        workflow_id=workflow.id,
        active_version_id=workflow.active,
        latest_version_id=workflow.latest.number,
        default_version_id=workflow.active or workflow.latest.number,
        properties_snapshot=workflow.properties[-1],
        step_concurrency=workflow.properties[-1].get("step_concurrency"),
        nonterminal_instances=alive,
        failed_instances=sum(run.db_status == "FAILED" for run in workflow.runs),
        latest_instance_id=workflow.newest_instance,
    )


def instance(run: Run, *, enriched: bool, aggregated: bool) -> Json:
    properties = run.properties
    shown = present(
        workflow_id=run.workflow.id,
        workflow_instance_id=run.instance_id,
        workflow_run_id=run.run_id,
        workflow_uuid=run.uuid,
        correlation_id=run.correlation_id,
        workflow_version_id=run.version.number,
        group_info=3,
        internal_id=run.workflow.internal_id,
        execution_id=run.execution_id,
        run_config=present(policy=run.policy, restart_config=run.restart_config),
        run_params=run.run_params,
        step_run_params={},
        run_properties=present(
            create_time=properties["create_time"],
            owner=properties.get("owner"),
            alerting=_evaluated(properties.get("alerting"), run),
            step_concurrency=properties.get("step_concurrency"),
            tags=properties.get("tags"),
        ),
        runtime_workflow=run.version.workflow,
        runtime_dag=dag_of(run),
        timeout_in_millis=_millis(run.version.workflow.get("timeout")),
        params=run.params,
        initiator=run.initiator,
        status=run.status,
        request_time=run.requested_at,
        create_time=run.created_at,
        start_time=run.started_at,
        end_time=run.ended_at,
        modify_time=run.modified_at,
        runtime_overview=overview(run),
        artifacts=run.artifacts or None,
        timeline=_timeline(run) if enriched else list(run.timeline.entries),
    )
    if aggregated:
        shown["aggregated_info"] = {"workflow_instance_status": run.status, "step_aggregated_views": views(run)}
    return shown


def _evaluated(alerting: object, run: Run) -> object:
    """The target as an instant, evaluated when the run was made; nobody acts on it."""
    if not isinstance(alerting, dict) or "tct" not in alerting:
        return alerting
    tct: Json = dict(alerting["tct"])
    run_ts = run.params["RUN_TS"]["evaluated_result"]
    if "duration_minutes" in tct:
        tct["completed_by_ts"] = run_ts + tct["duration_minutes"] * 60_000
    elif "completed_by_hour" in tct:
        tct["completed_by_ts"] = run_ts - run_ts % 86_400_000 + tct["completed_by_hour"] * 3_600_000 - 1000
    return alerting | {"tct": tct}


def _timeline(run: Run) -> list[Json]:
    marks = [(run.created_at, "CREATED"), (run.started_at, "IN_PROGRESS"), (run.ended_at, run.status)]
    statuses = [{"type": "STATUS", "timestamp": at, "status": status} for at, status in marks if at is not None]
    return sorted([*run.timeline.entries, *statuses], key=lambda entry: int(entry["timestamp"]))


def step(attempt: Attempt, *, enriched: bool) -> Json:
    run = attempt.run
    kind, definition = run.steps[attempt.step_id]
    timeline = list(attempt.timeline.entries)
    if enriched:
        marks = [(status, attempt.times[name]) for status, name in TIMES.items() if name in attempt.times]
        marks += [(attempt.status, attempt.ended_at)] if attempt.ended_at else []
        timeline += [{"type": "STATUS", "timestamp": at, "status": status} for status, at in marks]
        timeline.sort(key=lambda entry: int(entry["timestamp"]))
    return present(
        workflow_id=run.workflow.id,
        workflow_instance_id=run.instance_id,
        workflow_run_id=run.run_id,
        step_id=attempt.step_id,
        step_attempt_id=attempt.number,
        workflow_uuid=run.uuid,
        step_uuid=attempt.uuid,
        correlation_id=run.correlation_id,
        step_instance_id=list(run.steps).index(attempt.step_id) + 1,
        workflow_version_id=run.version.number,
        owner=run.properties.get("owner"),
        definition={kind: definition},
        tags=definition.get("tags", []),
        params={},
        step_retry=_retry(attempt),
        timeout_in_millis=_millis(definition.get("timeout")),
        runtime_state=present(
            status=attempt.status, **attempt.times, end_time=attempt.ended_at, modify_time=attempt.modified_at
        ),
        signal_dependencies={"dependencies": attempt.dependencies} if attempt.dependencies else None,
        signal_outputs={"outputs": attempt.outputs} if attempt.outputs else None,
        artifacts=attempt.artifacts or None,
        timeline=timeline,
    )


def _retry(attempt: Attempt) -> Json:
    counters = {f"{kind}_retries": attempt.retries[kind] for kind in ("error", "platform", "timeout", "manual")}
    limits = {f"{kind}_retry_limit": limit for kind, limit in attempt.limits.items()}
    backoff = (
        attempt.run.steps[attempt.step_id][1].get("retry_policy", {}).get("backoff", {"type": "EXPONENTIAL_BACKOFF"})
    )
    return counters | limits | {"retryable": not restartable(attempt.status), "backoff": backoff}


def signal_instance(signal: Signal) -> Json:
    own = {
        "name": signal.name,
        "seq_id": signal.seq,
        "instance_id": signal.request_id,
        "create_time": signal.created_at,
    }
    return own | {"params": signal.params} | ({"payload": signal.payload} if signal.payload else {})


def _millis(written: object) -> int | None:
    """A duration as Maestro writes it: seconds as a number, or `3 hours`, `30min`, `45s`."""
    if written is None:
        return None
    if isinstance(written, int | float):
        return int(written * 1000)
    text = str(written).replace(" ", "")
    number = "".join(letter for letter in text if letter.isdigit())
    unit = text.removeprefix(number)
    seconds = {"s": 1, "sec": 1, "min": 60, "minutes": 60, "h": 3600, "hour": 3600, "hours": 3600, "days": 86400}
    return int(number or 0) * seconds.get(unit, 0) * 1000
