"""What people do to a workflow: push a version, change its properties, activate and deactivate it, delete it."""

from tests.maestro.fake.engine import Engine
from tests.maestro.fake.events import change_event, definition_event
from tests.maestro.fake.records import Json, No, Version, Workflow, instant

PROPERTIES = {
    "owner",
    "access_control",
    "run_strategy",
    "step_concurrency",
    "alerting",
    "alerting_disabled",
    "signal_trigger_disabled",
    "time_trigger_disabled",
    "description",
}
RESETS = {"reset_run_strategy_rule", "reset_workflow_concurrency", "reset_step_concurrency"}
RULES = ("SEQUENTIAL", "STRICT_SEQUENTIAL", "FIRST_ONLY", "LAST_ONLY", "PARALLEL", "SERIAL_LATEST_ONLY")


def pushed(
    engine: Engine,
    body: Json,
    *,
    author: str,
    properties: Json | None = None,
    git: Json | None = None,
    active: bool = True,
) -> Workflow:
    """A new version; the first one makes the workflow."""
    at = engine.clock.tick()
    name = body["id"]
    workflow = engine.workflows.get(name)
    if workflow is None:
        if not properties or "owner" not in properties:
            raise No(400, f"workflow owner cannot be null for workflow [{name}]")
        workflow = Workflow(id=name, internal_id=len(engine.workflows) + 12345)
        engine.workflows[name] = workflow
    before = workflow.active
    version = Version(len(workflow.versions) + 1, body, at, author, git)
    workflow.versions.append(version)
    if properties is not None or not workflow.properties:
        _snapshot(workflow, properties or {}, author, at)
    if active:
        version.activated_at, version.activated_by, workflow.active = at, author, version.number
        workflow.watermark = engine.clock.now
    workflow.modified_at = at
    workflow.changed(author, f"Created a new workflow version [{version.number}] for [{name}]", at)
    engine.events.append(definition_event(workflow, author, before, at))
    return workflow


def properties_changed(engine: Engine, workflow: Workflow, given: Json, *, author: str) -> Json:
    """Only what is given changes. A schedule that is switched on again starts from now: what it missed stays missed."""
    unknown = sorted(set(given) - PROPERTIES - RESETS)
    if unknown:
        raise No(
            400, f'Unrecognized field "{unknown[0]}" (class WorkflowPropertiesUpdateRequest), not marked as ignorable'
        )
    at = engine.clock.tick()
    off = bool(workflow.properties[-1].get("time_trigger_disabled"))
    changes = {name: value for name, value in given.items() if name in PROPERTIES}
    snapshot = _snapshot(workflow, changes, author, at)
    if off and not snapshot.get("time_trigger_disabled"):
        workflow.watermark = engine.clock.now
    workflow.changed(author, f"Updated workflow properties {sorted(changes)}", at)
    engine.events.append(change_event("PROPERTIES", workflow, author, at, snapshot_id=at))
    return snapshot


def _snapshot(workflow: Workflow, changes: Json, author: str, at: int) -> Json:
    before = workflow.properties[-1] if workflow.properties else {"workflow_id": workflow.id}
    strategy = changes.get("run_strategy")
    if isinstance(strategy, str | int):
        strategy = (
            {"rule": strategy} if isinstance(strategy, str) else {"rule": "PARALLEL", "workflow_concurrency": strategy}
        )
    if strategy is not None:
        rule = str(strategy["rule"]).upper()
        if rule not in RULES:
            raise No(400, f"No enum constant RunStrategy.Rule.{rule}")
        many = strategy.get("workflow_concurrency", 20 if rule == "PARALLEL" else 1)
        if many > 1 and rule != "PARALLEL":
            raise No(400, "Only PARALLEL run strategy allows a workflow_concurrency greater than 1 ")
        changes = changes | {"run_strategy": {"rule": rule, "workflow_concurrency": many}}
    snapshot = before | changes | {"create_time": at, "author": author}
    workflow.properties.append(snapshot)
    workflow.modified_at = at
    return snapshot


def tagged(engine: Engine, workflow: Workflow, tag: Json, *, author: str) -> Json:
    at = engine.clock.tick()
    named = tag | {"namespace": "PLATFORM", "creator": author, "created_at_milli": at}
    tags = [one for one in workflow.properties[-1].get("tags", []) if one["name"] != tag["name"]]
    return _snapshot(workflow, {"tags": [*tags, named]}, author, at)


def untagged(engine: Engine, workflow: Workflow, name: str, *, author: str) -> Json:
    tags = [one for one in workflow.properties[-1].get("tags", []) if one["name"] != name]
    return _snapshot(workflow, {"tags": tags}, author, engine.clock.tick())


def deactivated(engine: Engine, workflow: Workflow, *, author: str) -> Json:
    """The triggers stop; what runs goes on."""
    at = engine.clock.tick()
    if workflow.active is None:
        said = f"Workflow [{workflow.id}] is not active and there is nothing to deactivate"
    else:
        said = (
            f"Caller [{author}] deactivated workflow [{workflow.id}] whose last active version is [{workflow.active}]"
        )
        engine.events.append(
            change_event("DEACTIVATION", workflow, author, at, previous_active_version_id=workflow.active)
        )
    workflow.active, workflow.watermark = None, None
    workflow.changed(author, said, at)
    return {
        "workflow_id": workflow.id,
        "workflow_version_id": 0,
        "timeline_event": _action("DEACTIVATE", author, said, at),
    }


def activated(engine: Engine, workflow: Workflow, version: Version, *, author: str) -> Json:
    at = engine.clock.tick()
    workflow.active, workflow.watermark = version.number, engine.clock.now
    version.activated_at, version.activated_by = at, author
    said = f"Activated version [{version.number}] of workflow [{workflow.id}]"
    workflow.changed(author, said, at)
    engine.events.append(change_event("ACTIVATION", workflow, author, at, current_active_version_id=version.number))
    event = _action("ACTIVATE", author, said, at)
    return {"workflow_id": workflow.id, "workflow_version_id": version.number, "timeline_event": event}


def deleted(engine: Engine, workflow: Workflow, *, author: str) -> Json:
    at = engine.clock.tick()
    del engine.workflows[workflow.id]
    engine.events.append(change_event("DELETION", workflow, author, at, internal_id=workflow.internal_id))
    return {
        "type": "LOG",
        "level": "INFO",
        "timestamp": at,
        "message": f"Deleted workflow [{workflow.id}] by [{author}]",
    }


def _action(action: str, author: str, message: str, at: int) -> Json:
    return {
        "type": "ACTION",
        "action": action,
        "author": author,
        "message": message,
        "timestamp": at,
        "info": str(instant(at)),
    }
