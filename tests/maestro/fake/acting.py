"""What the API's actions do: restart with its climb to the root, stop, kill, unblock, and the actions on a step."""

from tests.maestro.fake.engine import Engine
from tests.maestro.fake.records import Attempt, Json, No, Run, Workflow, log_entry
from tests.maestro.fake.running import terminate, tried_by_hand
from tests.maestro.fake.starting import INCOMPLETE, SPECIFIC, Begun, restart, told
from tests.maestro.fake.statuses import STEP, restartable
from tests.maestro.fake.steps import runs, terminated

NAMES = {INCOMPLETE: INCOMPLETE, "RESTART_FROM_BEGINNING": "RESTART_FROM_BEGINNING"}


def begun_answer(engine: Engine, begun: Begun, *, fresh: bool) -> Json:
    """A duplicate's answer names no number that was not asked for: it never got one."""
    run, duplicated = begun.run, begun.status == "DUPLICATED"
    return {
        "workflow_id": run.workflow.id,
        "workflow_version_id": run.version.number,
        "workflow_instance_id": 0 if duplicated and fresh else run.instance_id,
        "workflow_run_id": 0 if duplicated else run.run_id,
        "workflow_uuid": run.uuid,
        "status": begun.status,
        "timeline_event": log_entry(told(run.initiator), engine.clock.tick()),
    }


def restarted(engine: Engine, last: Run, body: Json, user: str) -> Json:
    """An instance's restart: from its root, or by its step where an ancestor still runs."""
    target, path = climbed(last)
    if target.alive:
        if not path:
            why = "does not support restart action as it is in a non-terminal status"
            raise No(400, f"workflow instance {last.identity} {why} [{target.status}]")
        attempt = by_hand(engine, target, path[0]["step_id"])
        return _delegated(engine, attempt, user)
    policy = _policy(body)
    begun = restart(
        engine,
        target,
        policy=SPECIFIC if path else policy,
        user=user,
        request_id=body.get("request_id"),
        run_params=body.get("run_params"),
        step_id=path[0]["step_id"] if path else None,
        path=[*path, {"workflow_id": last.workflow.id, "instance_id": last.instance_id}] if path else None,
        downstream=policy,
    )
    begun.run.requested_at = body.get("request_time")
    return begun_answer(engine, begun, fresh=False)


def step_restarted(engine: Engine, last: Run, step_id: str, body: Json, user: str) -> Json:
    """`RESTART_FROM_SPECIFIC`: the step, what follows it, and what is not complete."""
    if step_id not in last.steps:
        raise No(400, f"Invalid restart request: step [{step_id}] is not in the workflow")
    _policy(body)
    target, path = climbed(last)
    if target.alive:
        return _step_answer(engine, by_hand(engine, target, path[0]["step_id"] if path else step_id), user)
    begun = restart(
        engine,
        target,
        policy=SPECIFIC,
        user=user,
        request_id=body.get("request_id"),
        step_id=path[0]["step_id"] if path else step_id,
        path=[*path, {"workflow_id": last.workflow.id, "instance_id": last.instance_id, "step_id": step_id}],
    )
    answer = begun_answer(engine, begun, fresh=False)
    del answer["workflow_uuid"]
    return {name: value for name, value in answer.items() if value not in (0, False)} | {"step_id": step_id}


def climbed(last: Run) -> tuple[Run, list[Json]]:
    """The first ancestor that runs, else the root; and the steps on the way down to the run."""
    target = last
    path: list[Json] = []
    while not target.alive and target.parent is not None:
        step_id = target.parent.step_id
        above = target.parent.run
        target = above.workflow.instances[above.instance_id][-1]
        path.insert(0, {"workflow_id": target.workflow.id, "instance_id": target.instance_id, "step_id": step_id})
    return target, path


def by_hand(engine: Engine, run: Run, step_id: str) -> Attempt:
    """A step of a run that goes on, tried again by a person."""
    attempt = run.newest(step_id)
    if attempt is None:
        raise No(400, f"Cannot manually RESTART the step [{run.identity}][{step_id}] as it does not exist")
    where = f"[{run.workflow.id}][{run.instance_id}][{run.run_id}][{step_id}][{attempt.number}]"
    flags = STEP[attempt.status]
    if not flags.terminal or flags.complete:
        raise No(
            400,
            f"Cannot manually RESTART the step {where} as its status [{attempt.status}] is either non-terminal or complete",
        )
    if attempt.retryable or not restartable(attempt.status):
        raise No(400, f"Cannot manually RESTART the step {where} as the system is still retrying.")
    if attempt.failure_mode != "FAIL_AFTER_RUNNING":
        mode = attempt.failure_mode
        raise No(
            400, f"Cannot manually RESTART the step {where} as step failure mode [{mode}] is not FAIL_AFTER_RUNNING"
        )
    return tried_by_hand(engine, run, step_id)


def terminated_run(engine: Engine, workflow: Workflow, instance: int, which: str, action: str, user: str) -> Json:
    """Stop or kill: at once where it is queued, else accepted; again is the same."""
    run = latest_or_no(engine, workflow.id, instance, which, action)
    becomes = "FAILED" if action == "KILL" else "STOPPED"
    said = f"User [{user}] take an action to {action} the running workflow instance run"
    at = engine.clock.tick()
    if run.queued:
        run.timeline.add(log_entry(f"Workflow instance status becomes [{becomes}] due to reason [{said}]", at, "WARN"))
        run.stopping = (action, user, said)
        terminate(engine, run)
        return instance_answer(run, becomes, log_entry(said, at), completed=True)
    if (run.run_status or run.status) == becomes:
        return instance_answer(run, becomes, log_entry(said, at), completed=True)
    if not run.alive:
        raise No(400, f"Cannot terminate a workflow instance {run.identity} from status [{run.status}] to [{becomes}]")
    run.stopping = (action, user, "manual workflow instance API call")
    return instance_answer(run, becomes, log_entry(said, at), completed=False)


def unblocked(engine: Engine, workflow: Workflow, instance: int, which: str, user: str) -> Json:
    run = latest_or_no(engine, workflow.id, instance, which, "UNBLOCK")
    if run.status != "FAILED":
        raise No(
            400,
            f"Cannot unblock a workflow instance {run.identity} from status [{run.status}] as it is not FAILED status",
        )
    event = unblock_entry(engine, user, "[API] call to UNBLOCK a failed workflow instance run.")
    updated = run.db_status == "FAILED" and run.parent is None
    if updated:
        run.db_status, run.modified_at = "FAILED_1", event["timestamp"]
        run.timeline.add(event)
    return instance_answer(run, run.status, event, completed=updated)


def all_unblocked(engine: Engine, workflow: Workflow, user: str) -> Json:
    event = unblock_entry(engine, user, "[API] call to UNBLOCK all failed workflow instances.")
    for run in workflow.runs:
        if run.db_status == "FAILED":
            run.db_status, run.modified_at = "FAILED_1", event["timestamp"]
            run.timeline.add(event)
    return event


def unblock_entry(engine: Engine, user: str, reason: str) -> Json:
    return {"type": "ACTION", "action": "UNBLOCK", "author": user, "reason": reason, "timestamp": engine.clock.tick()}


def latest_or_no(engine: Engine, name: str, instance: int, which: str, action: str) -> Run:
    run = engine.run(name, instance)
    if which not in ("latest", str(run.run_id)):
        raise No(400, f"Cannot {action} the workflow instance run [{which}] as it is not the latest run [{run.run_id}]")
    return run


def instance_answer(run: Run, status: str, event: Json, *, completed: bool) -> Json:
    """What is only accepted shows the status as it is."""
    waits = "The action is accepted and is still running. Please check it again."
    return {
        "workflow_id": run.workflow.id,
        "workflow_instance_id": run.instance_id,
        "workflow_run_id": run.run_id,
        "workflow_instance_status": status if completed else run.status,
        "completed": completed,
        "info": "The action is done." if completed else waits,
        "timeline_event": event,
    }


def on_step(engine: Engine, run: Run, step_id: str, action: str, user: str) -> Json:
    """Stop, kill, skip, or bypass of signals."""
    attempt = run.newest(step_id)
    if not run.alive or attempt is None:
        raise No(
            400,
            f"Cannot manually {action} the step [{step_id}] as its workflow instance status [{run.status}] is terminal",
        )
    if action == "BYPASS":
        if attempt.status != "WAITING_FOR_SIGNALS":
            why = f"its status [{attempt.status}] is not waiting for signals"
            raise No(400, f"Cannot manually bypass-step-dependencies the step as {why}")
        for dependency in attempt.dependencies:
            dependency["status"] = "SKIPPED" if dependency["status"] == "PENDING" else dependency["status"]
        said = f"User [{user}] take action [BYPASS_STEP_DEPENDENCIES] on the step"
        attempt.timeline.add(log_entry(said, engine.clock.tick()))
        runs(engine, attempt)
    elif attempt.over:
        raise No(400, f"Cannot manually {action} the step [{step_id}] as its status [{attempt.status}] is terminal")
    else:
        terminated(engine, attempt, action, user, "")
    answer = _step_answer(engine, attempt, user) | {"step_runtime_state": {"status": attempt.status}}
    del answer["status"], answer["workflow_version_id"]
    return answer


def _policy(body: Json) -> str:
    given = str(body.get("restart_policy") or "").upper()
    if given not in NAMES:
        raise No(400, f"restart_policy [{body.get('restart_policy')}] must be one of {sorted(NAMES)}")
    return NAMES[given]


def _delegated(engine: Engine, attempt: Attempt, user: str) -> Json:
    answer = _step_answer(engine, attempt, user) | {"workflow_uuid": attempt.run.uuid}
    return {name: value for name, value in answer.items() if name not in ("step_id", "step_attempt_id")}


def _step_answer(engine: Engine, attempt: Attempt, user: str) -> Json:
    return {
        "workflow_id": attempt.run.workflow.id,
        "workflow_version_id": attempt.run.version.number,
        "workflow_instance_id": attempt.run.instance_id,
        "workflow_run_id": attempt.run.run_id,
        "step_id": attempt.step_id,
        "step_attempt_id": attempt.number,
        "status": "CREATED",
        "timeline_event": log_entry(f"User [{user}] take action [RESTART] on the step", engine.clock.tick()),
    }
