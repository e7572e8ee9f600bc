"""How a run comes to be: started afresh or restarted, admitted by the run strategy; it runs nothing."""

from datetime import UTC
from typing import NamedTuple
from uuid import UUID

from tests.maestro.fake.aggregation import reachable, views
from tests.maestro.fake.engine import Engine
from tests.maestro.fake.events import workflow_event
from tests.maestro.fake.records import Attempt, Json, No, Run, Version, Workflow, details_entry, instant, log_entry
from tests.maestro.fake.statuses import STEP

FRESH = "START_FRESH_NEW_RUN"
INCOMPLETE, BEGINNING = "RESTART_FROM_INCOMPLETE", "RESTART_FROM_BEGINNING"
SPECIFIC = "RESTART_FROM_SPECIFIC"


class Begun(NamedTuple):
    """`status`: CREATED, DUPLICATED or STOPPED, as the answers have it."""

    status: str
    run: Run


def checked_uuid(given: str | None) -> str | None:
    """As Java's `UUID.fromString`, which takes no other text."""
    if given is None:
        return None
    try:
        return str(UUID(given))
    except ValueError as wrong:
        raise No(400, f"Invalid UUID string: {given}") from wrong


def start(
    engine: Engine,
    workflow: Workflow,
    version: Version,
    initiator: Json,
    *,
    request_id: str | None = None,
    run_params: Json | None = None,
    persist_failed: bool = False,
    parent: Attempt | None = None,
    **more: object,
) -> Begun:
    """A new instance with its first run."""
    at = engine.clock.tick()
    number = workflow.newest_instance + 1
    run = Run(
        workflow=workflow,
        instance_id=number,
        run_id=1,
        uuid=checked_uuid(request_id) or engine.new_uuid(),
        correlation_id=parent.run.correlation_id if parent else f"{workflow.id}:{number}:1",
        version=version,
        properties=workflow.properties[-1],
        initiator=initiator,
        policy=FRESH,
        run_params=run_params or {},
        params=evaluated(version.workflow.get("params", {}), run_params or {}, initiator, at),
        dag=list(version.steps),
        created_at=at,
        modified_at=at,
        parent=parent,
    )
    for name, value in more.items():
        setattr(run, name, value)
    duplicate = _duplicate(workflow, run.uuid)
    if duplicate:
        return Begun("DUPLICATED", duplicate)
    if workflow.broken_params and not persist_failed:
        raise No(400, workflow.broken_params)
    run.timeline.add(log_entry(told(initiator), at))
    return _admitted(engine, run)


def restart(
    engine: Engine,
    last: Run,
    *,
    policy: str,
    user: str,
    request_id: str | None = None,
    run_params: Json | None = None,
    step_id: str | None = None,
    path: list[Json] | None = None,
    downstream: str | None = None,
    only: tuple[str, ...] | None = None,
    parent: Attempt | None = None,
) -> Begun:
    """One more run of the instance, by the definition that it was started with.

    `only`: the steps of a customised run, which no public endpoint asks for; it is how a good run can lie beside a failure.
    """
    if last.alive:
        where = f"[{last.workflow.id}][{last.instance_id}]"
        raise No(
            400, f"Cannot restart workflow instance {where} as the latest run status is [{last.status}] (non-terminal)."
        )
    at = engine.clock.tick()
    before = views(last)
    uuid = checked_uuid(request_id) or engine.new_uuid()
    duplicate = _duplicate(last.workflow, uuid)
    if duplicate:
        return Begun("DUPLICATED", duplicate)
    initiator: Json = {"type": "MANUAL", "depth": 0, "user": user} if parent is None else last.initiator
    run = Run(
        workflow=last.workflow,
        instance_id=last.instance_id,
        run_id=last.run_id + 1,
        uuid=uuid,
        correlation_id=last.correlation_id,
        version=last.version,
        properties=last.properties,
        initiator=initiator,
        policy=policy,
        run_params=run_params or {},
        params=last.params | overridden(run_params or {}, at),
        dag=list(only) if only is not None else _dag(last, before, policy, step_id),
        created_at=at,
        modified_at=at,
        baseline=before,
        parent=parent,
        restart_config={"restart_path": path or [_node(last, step_id)], "restart_policy": downstream or policy},
    )
    run.timeline.add(log_entry(told(initiator), at))
    for earlier in last.workflow.instances[last.instance_id]:
        earlier.db_status = "FAILED_2" if earlier.db_status == "FAILED" else earlier.db_status
    return _admitted(engine, run)


def _node(run: Run, step_id: str | None) -> Json:
    node: Json = {"workflow_id": run.workflow.id, "instance_id": run.instance_id}
    return node | ({"step_id": step_id} if step_id else {})


def _dag(last: Run, before: dict[str, Json], policy: str, step_id: str | None) -> list[str]:
    if policy == BEGINNING:
        return list(last.steps)
    starts = [name for name, view in before.items() if _incomplete(view["status"])]
    return reachable(last.steps, starts + ([step_id] if step_id else []))


def _incomplete(status: str) -> bool:
    return status == "NOT_CREATED" or (STEP[status].terminal and not STEP[status].complete)


def _duplicate(workflow: Workflow, uuid: str) -> Run | None:
    return next((run for run in workflow.runs if run.uuid == uuid), None)


def _admitted(engine: Engine, run: Run) -> Begun:
    workflow, at = run.workflow, run.created_at
    workflow.instances.setdefault(run.instance_id, [])
    others = [one for one in workflow.runs if one.alive]
    workflow.instances[run.instance_id].append(run)
    if workflow.broken_params:
        run.status = run.db_status = "FAILED"
        run.ended_at = at
        text = "Failed to initiate workflow params and properties"
        run.timeline.add(details_entry(text, (workflow.broken_params,), at, retryable=False, status="INTERNAL_ERROR"))
        engine.events.append(workflow_event(run, "FAILED", "FAILED", at))
        return Begun("CREATED", run)
    if run.parent is not None:
        return Begun("CREATED", run)
    rule = workflow.strategy[0]
    if rule == "FIRST_ONLY" and others:
        run.started_at = at
        _stopped(
            engine,
            run,
            f"With FIRST_ONLY run strategy, this run is stopped due to a running one [{others[0].identity}].",
        )
        return Begun("STOPPED", run)
    if rule in ("LAST_ONLY", "SERIAL_LATEST_ONLY"):
        for other in others:
            if other.queued:
                _stopped(engine, other, f"With {rule} run strategy, this run is stopped due to starting a new run.")
    if rule == "LAST_ONLY":
        reason = f"Stopped due to LAST_ONLY run strategy to start a new instance: {run.identity}"
        for other in others:
            if other.alive:
                other.stopping = ("STOP", "maestro_run_strategy", reason)
    return Begun("CREATED", run)


def _stopped(engine: Engine, run: Run, why: str) -> None:
    at = engine.clock.tick()
    old, run.status, run.db_status = run.status, "STOPPED", "STOPPED"
    run.started_at, run.ended_at, run.modified_at = run.started_at or at, at, at
    run.timeline.add(log_entry(why, at))
    engine.events.append(workflow_event(run, old, "STOPPED", at))


def told(initiator: Json) -> str:
    """The first line of a run's timeline."""
    match initiator["type"]:
        case "MANUAL":
            return f"Manually run a new workflow instance by a user [{initiator.get('user', 'unknown')}]"
        case "TIME" | "SIGNAL":
            return f"A {initiator['type']} trigger [{initiator['trigger_uuid']}] starts a new workflow instance"
        case kind:
            return f"A {kind} step starts a new workflow instance"


def evaluated(defined: Json, given: Json, initiator: Json, at: int) -> Json:
    """Parameters with their results; the dates follow `RUN_TS`."""
    run_ts = given.get("RUN_TS", {}).get("value", initiator.get("trigger_time", at))
    day = instant(int(run_ts)).astimezone(UTC).strftime("%Y%m%d")
    own = {
        "RUN_TS": {"type": "LONG", "value": int(run_ts)},
        "TARGET_RUN_DATE": {"type": "STRING", "value": day},
        "TARGET_RUN_HOUR": {"type": "STRING", "value": instant(int(run_ts)).strftime("%H")},
    }
    return overridden(own | defined | {name: value for name, value in given.items() if name != "RUN_TS"}, at)


def overridden(given: Json, at: int) -> Json:
    return {
        name: {"type": param["type"], "evaluated_result": param.get("value"), "evaluated_time": at}
        for name, param in given.items()
    }
