"""The event JSON that Maestro publishes, as its models have it; the test decides when and how often it is delivered."""

from tests.maestro.fake.records import Attempt, Json, Run, Workflow

CLUSTER = "prod"


def workflow_event(run: Run, old: str, new: str, at: int) -> Json:
    """`old` and `new` may be the same: a run that failed before it began."""
    event: Json = {
        "type": "WORKFLOW_INSTANCE_STATUS_CHANGE_EVENT",
        "workflow_id": run.workflow.id,
        "workflow_name": run.version.workflow.get("name", run.workflow.id),
        "workflow_instance_id": run.instance_id,
        "workflow_run_id": run.run_id,
        "workflow_uuid": run.uuid,
        "correlation_id": run.correlation_id,
        "depth": run.depth,
        "cluster_name": CLUSTER,
        "tags": run.version.workflow.get("tags", []),
        "old_status": old,
        "new_status": new,
        "event_time": at,
    }
    return event | _sent(at)


def step_event(attempt: Attempt, changes: list[tuple[str, str, int]]) -> Json:
    """A batch of transitions of one attempt."""
    run = attempt.run
    event: Json = {
        "type": "STEP_INSTANCE_STATUS_CHANGE_EVENT",
        "workflow_id": run.workflow.id,
        "workflow_instance_id": run.instance_id,
        "workflow_run_id": run.run_id,
        "step_id": attempt.step_id,
        "step_attempt_id": attempt.number,
        "workflow_uuid": run.uuid,
        "step_uuid": attempt.uuid,
        "correlation_id": run.correlation_id,
        "step_instance_id": list(run.steps).index(attempt.step_id) + 1,
        "cluster_name": CLUSTER,
        "status_change_records": [{"old_status": old, "new_status": new, "event_time": at} for old, new, at in changes],
    }
    return event | _sent(changes[-1][2])


def definition_event(workflow: Workflow, author: str, before: int | None, at: int) -> Json:
    event: Json = {
        "type": "WORKFLOW_DEFINITION_CHANGE_EVENT",
        "workflow_id": workflow.id,
        "workflow_name": workflow.latest.workflow.get("name", workflow.id),
        "version_id": workflow.latest.number,
        "snapshot_id": workflow.properties[-1]["create_time"],
        "author": author,
        "cluster_name": CLUSTER,
        "event_time": at,
    }
    event |= {"current_active_version_id": workflow.active} if workflow.active else {}
    event |= {"previous_active_version_id": before} if before else {}
    return event | _sent(at)


def change_event(kind: str, workflow: Workflow, author: str, at: int, **more: object) -> Json:
    """`kind`: PROPERTIES, ACTIVATION, DEACTIVATION or DELETION."""
    event: Json = {
        "type": f"WORKFLOW_{kind}_CHANGE_EVENT",
        "workflow_id": workflow.id,
        "author": author,
        "cluster_name": CLUSTER,
        "event_time": at,
    }
    return event | more | _sent(at)


def _sent(at: int) -> Json:
    return {"sync_time": at + 120, "send_time": at + 160}
