"""A workflow written in Maestro's YAML DSL as the request that the JSON endpoint takes; the part of it that the SDK writes."""

from itertools import pairwise

from tests.maestro.fake.records import Json, No

OF_WORKFLOW = ("id", "name", "description", "timeout", "criticality")
OF_PROPERTIES = ("owner", "run_strategy", "workflow_concurrency")
OF_STEP = ("id", "name", "description", "type", "failure_mode", "timeout")
NO_PARAMS = {*OF_WORKFLOW, *OF_PROPERTIES, *OF_STEP, "tags", "jobs", "dag", "transition", "ranges", "loop_params"}
SHORT = {str: "STRING", int: "LONG", bool: "BOOLEAN", float: "DOUBLE"}


def definition_of(document: Json) -> Json:
    """Jobs become steps; a dag that is `sequential` (or none) chains them, a map names who follows whom."""
    given = document.get("Workflow")
    if not isinstance(given, dict) or "id" not in given:
        raise No(400, "Invalid DSL: no Workflow with an id")
    workflow: Json = {name: given[name] for name in OF_WORKFLOW if name in given}
    workflow |= {"steps": _steps(given.get("jobs", []), given.get("dag", "sequential")), "params": _params(given)}
    workflow |= {"tags": [{"name": tag} for tag in given["tags"]]} if given.get("tags") else {}
    properties: Json = {name: given[name] for name in OF_PROPERTIES[:1] if name in given}
    if "run_strategy" in given:
        properties["run_strategy"] = {"rule": str(given["run_strategy"]).upper()}
    return {"workflow": workflow, "properties": properties or None}


def _steps(jobs: list[Json], dag: Json | str) -> list[Json]:
    steps = [_step(*next(iter(wrapped.items()))) for wrapped in jobs]
    bodies = [next(iter(wrapped.values())) for wrapped in steps]
    names = [body["id"] for body in bodies]
    after = {name: [follower] for name, follower in pairwise(names)}
    if isinstance(dag, dict):
        after = {name: [led] if isinstance(led, str) else [_target(one) for one in led] for name, led in dag.items()}
    for body in bodies:
        if after.get(body["id"]):
            body["transition"] = {"successors": dict.fromkeys(after[body["id"]], "true")}
    return steps


def _step(kind: str, job: Json) -> Json:
    """A `job` is a step; the other kinds keep their name."""
    body: Json = {name: job[name] for name in OF_STEP if name in job}
    body |= {"tags": [{"name": tag} for tag in job["tags"]]} if job.get("tags") else {}
    params = _params(job)
    if kind == "subworkflow":
        params = {"subworkflow_id": _param(job["workflow_id"]), "subworkflow_version": _param(job["workflow_version"])}
        body["sync"] = job.get("sync", True)
    if kind == "foreach":
        params = {"loop_params": _param(max(len(values) for values in job["loop_params"].values()))}
        body["steps"] = _steps(job["jobs"], job.get("dag", "sequential"))
    return {"step" if kind == "job" else kind: body | {"params": params}}


def _params(given: Json) -> Json:
    return {name: _param(value) for name, value in given.items() if name not in NO_PARAMS}


def _param(value: object) -> Json:
    kind = SHORT.get(type(value))
    return {"type": kind or "STRING", "value": value if kind else str(value)}


def _target(written: str) -> str:
    """`IF x > 0 THEN job3` and `OTHERWISE job5` lead there too."""
    return written.split()[-1]
