"""The actions of the API, path by path: strict about the person's name and about properties that nobody knows."""

from collections.abc import Callable
from typing import Any

from tests.maestro.fake import acting, shapes
from tests.maestro.fake import definitions as people
from tests.maestro.fake.dsl import definition_of
from tests.maestro.fake.engine import Engine
from tests.maestro.fake.faults import Asked
from tests.maestro.fake.reading import INSTANCE, RUN, WF
from tests.maestro.fake.records import Json, No, log_entry
from tests.maestro.fake.signals import produced
from tests.maestro.fake.starting import start

START = {"initiator", "request_id", "request_time", "runtime_tags", "run_params", "artifacts", "persist_failed_run"}
RESTART = {"restart_policy", "request_id", "request_time", "run_params"}
STEP_RESTART = {"restart_policy", "request_id", "request_time", "step_run_params", "upstream_restart_mode"}


def caller(asked: Asked) -> str:
    if not asked.user:
        raise No(400, "the user name cannot be null")
    return asked.user


def only(asked: Asked, names: set[str], kind: str) -> Json:
    unknown = sorted(set(asked.body) - names)
    if unknown:
        raise No(400, f'JSON parse error: Unrecognized field "{unknown[0]}" (class {kind}), not marked as ignorable')
    return asked.body


def start_run(engine: Engine, asked: Asked, name: str, which: str) -> Json:
    user, body = caller(asked), only(asked, START, "WorkflowStartRequest")
    version = engine.version(name, which)
    if "initiator" not in body:
        raise No(400, "initiator must not be null")
    initiator: Json = {"type": str(body["initiator"].get("type", "manual")).upper(), "depth": 0, "user": user}
    if initiator["type"] != "MANUAL":
        initiator |= body["initiator"] | {"type": initiator["type"]}
    begun = start(
        engine,
        engine.workflow(name),
        version,
        initiator,
        request_id=body.get("request_id"),
        run_params=body.get("run_params"),
        persist_failed=bool(body.get("persist_failed_run")),
        requested_at=body.get("request_time"),
        runtime_tags=body.get("runtime_tags") or [],
        artifacts=body.get("artifacts") or {},
    )
    return acting.begun_answer(engine, begun, fresh=True)


def restart_run(engine: Engine, asked: Asked, name: str, number: str) -> Json:
    user, body = caller(asked), only(asked, RESTART, "WorkflowInstanceRestartRequest")
    return acting.restarted(engine, engine.run(name, int(number)), body, user)


def restart_step(engine: Engine, asked: Asked, name: str, number: str, step_id: str) -> Json:
    user, body = caller(asked), only(asked, STEP_RESTART, "StepInstanceRestartRequest")
    return acting.step_restarted(engine, engine.run(name, int(number)), step_id, body, user)


def end_run(engine: Engine, asked: Asked, name: str, number: str, which: str, action: str) -> Json:
    user = caller(asked)
    engine.runs_of(name, int(number))
    if action == "unblock":
        return acting.unblocked(engine, engine.workflow(name), int(number), which, user)
    return acting.terminated_run(engine, engine.workflow(name), int(number), which, action.upper(), user)


def end_latest(engine: Engine, asked: Asked, name: str, number: str, action: str) -> Json:
    return end_run(engine, asked, name, number, "latest", action)


def end_all(engine: Engine, asked: Asked, name: str, action: str) -> tuple[int, Json]:
    user, workflow = caller(asked), engine.workflow(name)
    if action == "unblock":
        return 200, acting.all_unblocked(engine, workflow, user)
    for run in workflow.runs:
        if run.alive:
            run.stopping = (action.upper(), user, f"manual workflow {action} API call")
    said = f"User [{user}] take an action to {action.upper()} all the workflow instances"
    return 202, log_entry(said, engine.clock.tick())


def act_on_step(engine: Engine, asked: Asked, name: str, number: str, step_id: str, action: str) -> Json:
    return acting.on_step(engine, engine.run(name, int(number)), step_id, action.upper(), caller(asked))


def act_on_step_of_run(
    engine: Engine, asked: Asked, name: str, number: str, which: str, step_id: str, action: str
) -> Json:
    acting.latest_or_no(engine, name, int(number), which, action)
    return act_on_step(engine, asked, name, number, step_id, action)


def deactivate(engine: Engine, asked: Asked, name: str) -> Json:
    return people.deactivated(engine, engine.workflow(name), author=caller(asked))


def activate(engine: Engine, asked: Asked, name: str, which: str) -> Json:
    return people.activated(engine, engine.workflow(name), engine.version(name, which), author=caller(asked))


def set_properties(engine: Engine, asked: Asked, name: str) -> Json:
    return people.properties_changed(engine, engine.workflow(name), asked.body, author=caller(asked))


def add_tag(engine: Engine, asked: Asked, name: str) -> Json:
    return people.tagged(engine, engine.workflow(name), asked.body, author=caller(asked))


def drop_tag(engine: Engine, asked: Asked, name: str, tag: str) -> Json:
    return people.untagged(engine, engine.workflow(name), tag, author=caller(asked))


def push(engine: Engine, asked: Asked) -> Json:
    user, body = caller(asked), asked.body
    workflow = people.pushed(
        engine,
        body["workflow"],
        author=user,
        properties=body.get("properties"),
        git=body.get("git_info"),
        active=body.get("is_active", True),
    )
    return {"workflow_definition": shapes.definition(engine, workflow, workflow.latest, enriched=False)}


def push_yaml(engine: Engine, asked: Asked) -> Json:
    asked.body = definition_of(asked.body)
    return push(engine, asked)


def validate(engine: Engine, asked: Asked) -> Json:
    caller(asked)
    return {"valid": True}


def delete(engine: Engine, asked: Asked, name: str) -> Json:
    return people.deleted(engine, engine.workflow(name), author=caller(asked))


def announce(engine: Engine, asked: Asked) -> Json:
    """Signals have no interceptor: nobody's name is asked."""
    known = {"name", "params", "request_id", "request_time"}
    payload = {name: value for name, value in asked.body.items() if name not in known}
    name, params = asked.body["name"], asked.body.get("params", {})
    signal = produced(engine, name, params, payload=payload, request_id=asked.body.get("request_id"))
    if signal is None:
        raise No(409, f"Signal instance [{name}] with the same identity exists already")
    return shapes.signal_instance(signal)


ENDS = "(stop|kill|unblock)"
CHANGES: list[tuple[str, str, Callable[..., Any]]] = [
    ("POST", "/api/v3/workflows", push),
    ("POST", "/api/v3/workflows/yaml", push_yaml),
    ("PUT", "/api/v3/workflows/actions/validate", validate),
    ("PUT", "/api/v3/workflows/actions/validate/yaml", validate),
    ("POST", "/api/v3/signals", announce),
    ("POST", f"{WF}/versions/([^/]+)/actions/start", start_run),
    ("PUT", f"{WF}/versions/([^/]+)/actions/activate", activate),
    ("PUT", f"{WF}/actions/deactivate", deactivate),
    ("PUT", f"{WF}/actions/{ENDS}", end_all),
    ("POST", f"{WF}/properties", set_properties),
    ("POST", f"{WF}/properties/tag", add_tag),
    ("DELETE", f"{WF}/properties/tag/([^/]+)", drop_tag),
    ("DELETE", WF, delete),
    ("POST", f"{INSTANCE}/actions/restart", restart_run),
    ("PUT", f"{INSTANCE}/actions/{ENDS}", end_latest),
    ("PUT", f"{RUN}/actions/{ENDS}", end_run),
    ("POST", f"{INSTANCE}/steps/([^/]+)/actions/restart", restart_step),
    ("PUT", f"{INSTANCE}/steps/([^/]+)/actions/(stop|kill|skip|bypass)", act_on_step),
    ("PUT", f"{RUN}/steps/([^/]+)/actions/(stop|kill|skip|bypass)", act_on_step_of_run),
]
