"""What Maestro's workers do when something is due: ticks, queues, retries, steps, ends; each run is moved here alone."""

from tests.maestro.fake.aggregation import status_at_end, successors
from tests.maestro.fake.crons import due_ticks
from tests.maestro.fake.engine import Engine
from tests.maestro.fake.events import workflow_event
from tests.maestro.fake.records import Attempt, Json, Run, Workflow, log_entry, millis
from tests.maestro.fake.signals import due_triggers
from tests.maestro.fake.starting import BEGINNING, INCOMPLETE, SPECIFIC, restart, start
from tests.maestro.fake.statuses import STEP, restartable
from tests.maestro.fake.steps import begun, ended, ended_well, passed_over, taken_up, terminated, tried_again


def works(engine: Engine) -> None:
    """Do all that is due by now, and all that follows from it."""
    for workflow in list(engine.workflows.values()):
        for due in due_ticks(engine, workflow):
            ticked(engine, workflow, millis(due.at), due.uuid, due.timezone, due.request_id)
    busy = True
    while busy:
        triggered = due_triggers(engine)
        for name, trigger, signals in triggered:
            initiator: Json = {"type": "SIGNAL", "trigger_uuid": trigger, "signal_id_map": signals, "depth": 0}
            start(engine, engine.workflow(name), engine.version(name, "active"), initiator, persist_failed=True)
        busy = bool(triggered) or any(_moved(engine, run) for run in list(engine.alive()))


def ticked(engine: Engine, workflow: Workflow, at: int, trigger: str, timezone: str, request_id: str) -> Run:
    """The one instance of a tick."""
    initiator: Json = {
        "type": "TIME",
        "trigger_uuid": trigger,
        "trigger_time": at,
        "timezone": timezone,
        "depth": 0,
    }
    params: Json = {"RUN_TS": {"type": "LONG", "value": at}}
    version = engine.version(workflow.id, "active")
    return start(
        engine, workflow, version, initiator, request_id=request_id, run_params=params, persist_failed=True
    ).run


def _moved(engine: Engine, run: Run) -> bool:
    if run.stopping is not None:
        terminate(engine, run)
        return True
    if run.queued:
        if not _may_begin(run):
            return False
        _begin(engine, run)
        return True
    return _advanced(engine, run)


def _may_begin(run: Run) -> bool:
    workflow = run.workflow
    if run.parent is not None:
        return True
    rule, concurrency = workflow.strategy
    others = [one for one in workflow.runs if one.alive and one is not run]
    if rule == "STRICT_SEQUENTIAL" and any(one.db_status == "FAILED" for one in workflow.runs):
        return False
    if rule == "LAST_ONLY":
        return not any(one.stopping for one in others)
    return sum(not one.queued for one in others) < concurrency


def _begin(engine: Engine, run: Run) -> None:
    at = engine.clock.tick()
    run.execution_id = engine.new_uuid()
    run.status = run.db_status = "IN_PROGRESS"
    run.started_at = run.modified_at = at
    engine.events.append(workflow_event(run, "CREATED", "IN_PROGRESS", at))


def _advanced(engine: Engine, run: Run) -> bool:
    did = False
    for attempts in list(run.attempts.values()):
        did = _attended(engine, attempts[-1]) or did
    newest = [attempts[-1] for attempts in run.attempts.values()]
    failed = [one for one in newest if one.over and not STEP[one.status].complete]
    if any(one.failure_mode == "FAIL_IMMEDIATELY" for one in failed):
        for one in newest:
            if not one.over:
                terminated(engine, one, "STOP", "maestro", "a step failed immediately")
                did = True
    if not failed:
        for step_id in run.dag:
            if step_id not in run.attempts and (satisfied := _due(run, step_id)) is not None:
                _opened(engine, run, step_id) if satisfied else passed_over(engine, run, step_id)
                did = True
    if not did and all(attempts[-1].over for attempts in run.attempts.values()):
        at_end(engine, run, *status_at_end(run, _before(run)))
        return True
    return did


def _due(run: Run, step_id: str) -> bool | None:
    """Whether it runs now or is passed over, since no condition leads to it; None while something before it is not done."""
    before = [name for name in run.dag if step_id in successors(run, name)]
    attempts = [run.newest(name) for name in before]
    if any(attempt is None or not STEP[attempt.status].complete for attempt in attempts):
        return None
    leads = [
        attempt is not None and attempt.status != "UNSATISFIED" and successors(run, name)[step_id] != "false"
        for name, attempt in zip(before, attempts, strict=True)
    ]
    return any(leads) or not before


def _attended(engine: Engine, attempt: Attempt) -> bool:
    if attempt.retry_at is not None and attempt.retry_at <= millis(engine.clock.now):
        tried_again(engine, attempt)
        return True
    if attempt.status == "WAITING_FOR_SIGNALS":
        return taken_up(engine, attempt)
    if attempt.status == "RUNNING" and attempt.run.steps[attempt.step_id][1].get("type") == "NoOp":
        ended_well(engine, attempt)
        return True
    if attempt.children and not attempt.over and not any(child.alive for child in attempt.children):
        statuses = {child.status for child in attempt.children}
        if statuses == {"SUCCEEDED"}:
            ended_well(engine, attempt)
        else:
            worst = next(one for one in ("FAILED", "TIMED_OUT", "STOPPED") if one in statuses)
            ended(engine, attempt, "FATALLY_FAILED" if worst == "FAILED" else worst)
        return True
    return False


def _opened(engine: Engine, run: Run, step_id: str) -> None:
    kind, definition = run.steps[step_id]
    attempt = begun(engine, run, step_id)
    if kind == "step":
        return
    earlier = _children_before(run, step_id)
    where = {"workflow_id": run.workflow.id, "instance_id": run.instance_id, "run_id": run.run_id}
    ancestor: Json = where | {"step_id": step_id, "step_attempt_id": attempt.number, "sync": True}
    if earlier:
        for child in earlier:
            _run_again(engine, run, attempt, child)
        return
    initiator: Json = {
        "type": kind.upper(),
        "ancestors": [*run.initiator.get("ancestors", []), ancestor],
        "depth": run.depth + 1,
    }
    name, count = child_workflow(engine, run, step_id, definition)
    for _ in range(count):
        child = start(engine, name, name.latest, dict(initiator), parent=attempt).run
        attempt.children.append(child)
    _noted(attempt, kind)


def _run_again(engine: Engine, run: Run, attempt: Attempt, child: Run) -> None:
    """A child that ended well stays as it is, unless all begins anew."""
    config = run.restart_config or {}
    path, policy = config.get("restart_path", []), config.get("restart_policy", INCOMPLETE)
    named = [node for node in path if node["workflow_id"] == child.workflow.id]
    step = next((node.get("step_id") for node in named if node["instance_id"] == child.instance_id), None)
    if child.status == "SUCCEEDED" and policy != BEGINNING and not named:
        attempt.children.append(child)
    else:
        chosen = SPECIFIC if step else (BEGINNING if policy == BEGINNING else INCOMPLETE)
        again = restart(
            engine, child, policy=chosen, user="", step_id=step, parent=attempt, path=path, downstream=policy
        )
        attempt.children.append(again.run)
    _noted(attempt, run.steps[attempt.step_id][0])


def _noted(attempt: Attempt, kind: str) -> None:
    first = attempt.children[0]
    what: Json = {"type": kind.upper()}
    if kind == "subworkflow":
        what |= {
            "subworkflow_id": first.workflow.id,
            "subworkflow_version_id": first.version.number,
            "subworkflow_instance_id": first.instance_id,
            "subworkflow_run_id": first.run_id,
            "subworkflow_uuid": first.uuid,
        }
    else:
        what |= {"foreach_workflow_id": first.workflow.id, "total_loop_count": len(attempt.children)}
    attempt.artifacts[f"maestro_{kind}"] = what


def _children_before(run: Run, step_id: str) -> list[Run]:
    attempts = [one for earlier in run.workflow.instances[run.instance_id] for one in earlier.attempts.get(step_id, [])]
    children = attempts[-2].children if attempts[1:] else []
    return [child.workflow.instances[child.instance_id][-1] for child in children]


def child_workflow(engine: Engine, run: Run, step_id: str, definition: Json) -> tuple[Workflow, int]:
    """The sub-workflow, or the inline workflow of a loop with the number of its iterations."""
    params = definition.get("params", {})
    if run.steps[step_id][0] == "subworkflow":
        return engine.workflow(params["subworkflow_id"]["value"]), 1
    name = f"maestro_foreach_{run.workflow.internal_id}_{step_id}_{run.instance_id}"
    if name not in engine.workflows:
        inline = Workflow(id=name, internal_id=run.workflow.internal_id, properties=[run.properties], active=1)
        body: Json = {"id": name, "steps": definition["steps"], "params": {}}
        inline.versions.append(type(run.version)(1, body, run.created_at, "maestro"))
        engine.workflows[name] = inline
    return engine.workflows[name], int(params["loop_params"]["value"]) if "loop_params" in params else 1


def terminate(engine: Engine, run: Run) -> None:
    """All that lives of it ends; a kill ends as FAILED, a stop as STOPPED."""
    assert run.stopping is not None

    action, user, reason = run.stopping
    run.stopping = None
    for attempts in list(run.attempts.values()):
        attempt = attempts[-1]
        for child in attempt.children:
            if child.alive:
                child.stopping = (action, user, reason)
                terminate(engine, child)
        if not attempt.over:
            terminated(engine, attempt, action, user, reason)
    at_end(engine, run, "FAILED" if action == "KILL" else "STOPPED", None)


def at_end(engine: Engine, run: Run, status: str, own: str | None) -> None:
    at = engine.clock.tick()
    old, run.status, run.db_status, run.run_status = run.status, status, status, own
    run.started_at = run.started_at or (at if run.execution_id else None)
    run.ended_at = run.modified_at = at
    engine.events.append(workflow_event(run, old, status, at))


def timed_out(engine: Engine, run: Run) -> None:
    """The workflow's own timeout."""
    for attempts in run.attempts.values():
        if not attempts[-1].over:
            attempts[-1].retryable, attempts[-1].retry_at = False, None
            ended(engine, attempts[-1], "STOPPED")
    run.timeline.add(log_entry("Workflow instance is timed out", engine.clock.tick(), "WARN"))
    at_end(engine, run, "TIMED_OUT", None)


def tried_by_hand(engine: Engine, run: Run, step_id: str) -> Attempt:
    """A step of a running workflow is run again by a person: the counters stay, `manual_retries` rises."""
    attempt = run.newest(step_id)

    assert attempt is not None
    assert restartable(attempt.status)

    retries = attempt.retries | {"manual": attempt.retries["manual"] + 1}
    again = begun(engine, run, step_id, retries=retries)
    for child in _children_before(run, step_id):
        _run_again(engine, run, again, child)
    return again


def _before(run: Run) -> Run | None:
    return run.workflow.instances[run.instance_id][run.run_id - 2] if run.run_id > 1 else None
