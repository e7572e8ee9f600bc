"""The reads of the API, path by path; they change nothing."""

from collections.abc import Callable
from typing import Any

from tests.maestro.fake import shapes
from tests.maestro.fake.engine import Engine
from tests.maestro.fake.faults import Asked
from tests.maestro.fake.paging import flag, page
from tests.maestro.fake.records import Attempt, Json, No, Run
from tests.maestro.fake.statuses import STEP_ACTIONS, WORKFLOW_ACTIONS

WF = r"/api/v3/workflows/([^/]+)"
INSTANCE = rf"{WF}/instances/(\d+)"
RUN = rf"{INSTANCE}/runs/([^/]+)"


def version(engine: Engine, asked: Asked, name: str, which: str) -> Json:
    found = engine.version(name, which)
    if which.lower() == "active" and engine.workflow(name).active is None:
        raise No(404, f"Workflow [{name}] version [{which}] not found")
    return shapes.definition(engine, engine.workflow(name), found, enriched=flag(asked, "enriched", default=False))


def versions(engine: Engine, asked: Asked, name: str) -> Json:
    workflow = engine.workflow(name)
    rows = [(one.number, one) for one in workflow.versions]
    return page(asked, rows, lambda one: shapes.definition(engine, workflow, one, enriched=False))


def snapshot(engine: Engine, asked: Asked, name: str, which: str) -> Json:
    found = engine.workflow(name).properties
    for one in reversed(found):
        if which in ("latest", str(one["create_time"])):
            return one
    raise No(404, f"Cannot find properties snapshot [{which}] for workflow [{name}]")


def overview(engine: Engine, asked: Asked, name: str) -> Json:
    return shapes.workflow_overview(engine.workflow(name))


def changes(engine: Engine, asked: Asked, name: str) -> Json:
    return {"workflow_id": name, "timeline_events": engine.workflow(name).changes}


def instances(engine: Engine, asked: Asked, name: str) -> Json:
    rows = [(number, runs[-1]) for number, runs in engine.workflow(name).instances.items()]
    aggregated = flag(asked, "aggregated", default=True)
    return page(asked, rows, lambda run: shapes.instance(run, enriched=False, aggregated=aggregated))


def instance(engine: Engine, asked: Asked, name: str, number: str) -> Json:
    run = engine.run(name, int(number))
    return shapes.instance(run, enriched=flag(asked, "enriched", default=True), aggregated=True)


def runs(engine: Engine, asked: Asked, name: str, number: str) -> Json:
    rows = [(run.run_id, run) for run in engine.runs_of(name, int(number))]
    return page(asked, rows, lambda run: shapes.instance(run, enriched=False, aggregated=False))


def one_run(engine: Engine, asked: Asked, name: str, number: str, which: str) -> Json:
    enriched, aggregated = flag(asked, "enriched", default=True), flag(asked, "aggregated", default=False)
    return shapes.instance(engine.run(name, int(number), which), enriched=enriched, aggregated=aggregated)


def newest_steps(run: Run) -> list[Attempt]:
    return [attempts[-1] for attempts in run.attempts.values() if attempts]


def steps_of_run(engine: Engine, asked: Asked, name: str, number: str, which: str) -> list[Json]:
    return [shapes.step(one, enriched=False) for one in newest_steps(engine.run(name, int(number), which))]


def steps(engine: Engine, asked: Asked, name: str, number: str) -> list[Json]:
    newest: dict[str, Attempt] = {}
    for run in engine.runs_of(name, int(number)):
        newest |= {attempt.step_id: attempt for attempt in newest_steps(run)}
    return [shapes.step(one, enriched=False) for one in newest.values()]


def step(engine: Engine, asked: Asked, name: str, number: str, step_id: str) -> Json:
    for run in reversed(engine.runs_of(name, int(number))):
        attempt = run.newest(step_id)
        if attempt is not None:
            return shapes.step(attempt, enriched=flag(asked, "enriched", default=True))
    raise No(404, f"step instance [{name}][{number}][{step_id}] not found (either not created or deleted)")


def attempt(engine: Engine, asked: Asked, name: str, number: str, which: str, step_id: str, count: str) -> Json:
    found = engine.run(name, int(number), which).attempts.get(step_id, [])
    if count != "latest" and not count.isdecimal():
        raise No(400, f'For input string: "{count}"')
    chosen = found[-1:] if count == "latest" else [one for one in found if one.number == int(count)]
    if not chosen:
        where = f"[{name}][{number}][{which}][{step_id}][{count}]"
        raise No(404, f"step instance attempt {where} not found (either not created or deleted)")
    return shapes.step(chosen[0], enriched=flag(asked, "enriched", default=True))


def inline_path(engine: Engine, asked: Asked, name: str, number: str) -> list[Json]:
    run = engine.run(name, int(number))
    return list(run.initiator.get("ancestors", []))


def workflow_actions(engine: Engine, asked: Asked) -> Json:
    return {status: list(actions) for status, actions in WORKFLOW_ACTIONS.items()}


def actions_of_steps(engine: Engine, asked: Asked) -> Json:
    return {status: list(actions) for status, actions in STEP_ACTIONS.items()}


def signal(engine: Engine, asked: Asked, name: str, which: str) -> Json:
    for one in reversed(engine.signals.get(name, [])):
        if which in ("latest", str(one.seq)):
            return shapes.signal_instance(one)
    raise No(404, f"Cannot find signal instance [{name}][{which}]")


READS: list[tuple[str, Callable[..., Any]]] = [
    (r"/api/v3/workflows/instances/action-map", workflow_actions),
    (r"/api/v3/workflows/steps/instances/action-map", actions_of_steps),
    (rf"{WF}/versions/pagination", versions),
    (rf"{WF}/versions/([^/]+)", version),
    (rf"{WF}/properties-snapshot/([^/]+)", snapshot),
    (rf"{WF}/overview", overview),
    (rf"{WF}/timeline", changes),
    (rf"{WF}/instances", instances),
    (INSTANCE, instance),
    (rf"{INSTANCE}/runs", runs),
    (RUN, one_run),
    (rf"{INSTANCE}/inline-path", inline_path),
    (rf"{INSTANCE}/steps", steps),
    (rf"{INSTANCE}/steps/([^/]+)", step),
    (rf"{RUN}/steps", steps_of_run),
    (rf"{RUN}/steps/([^/]+)/attempts/([^/]+)", attempt),
    (r"/api/v3/signals/(.+)/instances/([^/]+)", signal),
]
