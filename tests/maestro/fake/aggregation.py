"""What an instance is over all its runs: views of its steps, its status, and references to the leaves that failed."""

from tests.maestro.fake.records import Attempt, Json, Run
from tests.maestro.fake.statuses import STEP, workflow_status


def dag_of(run: Run) -> dict[str, Json]:
    """The run's own dag: the steps that it can reach, with their transitions within it."""
    dag: dict[str, Json] = {}
    for step_id in run.dag:
        after = successors(run, step_id)
        before = [name for name in run.dag if step_id in successors(run, name)]
        node: Json = {"predecessors": before} if before else {}
        dag[step_id] = node | ({"successors": after} if after else {})
    return dag


def successors(run: Run, step_id: str) -> dict[str, str]:
    given: dict[str, str] = run.steps[step_id][1].get("transition", {}).get("successors", {})
    return {name: condition for name, condition in given.items() if name in run.dag}


def reachable(run_steps: dict[str, tuple[str, Json]], starts: list[str]) -> list[str]:
    """The steps from `starts` on, in the order of the definition."""
    found, todo = set(starts), list(starts)
    while todo:
        for name in run_steps[todo.pop()][1].get("transition", {}).get("successors", {}):
            if name in run_steps and name not in found:
                found.add(name)
                todo.append(name)
    return [name for name in run_steps if name in found]


def views(run: Run) -> dict[str, Json]:
    """Step id -> what it is over this run and those before it."""
    known = {step_id: attempts[-1] for step_id, attempts in run.attempts.items() if attempts}
    kept = {name: view for name, view in (run.baseline or {}).items() if name not in run.dag or name in known}
    found = kept | {name: _view(attempt) for name, attempt in known.items()}
    return {name: found.get(name, {"status": "NOT_CREATED"}) for name in run.steps}


def _view(attempt: Attempt) -> Json:
    view: Json = {"workflow_run_id": attempt.run.run_id, "status": attempt.status}
    view |= {"start_time": attempt.times["start_time"]} if "start_time" in attempt.times else {}
    return view | ({"end_time": attempt.ended_at} if attempt.ended_at else {})


def status_at_end(run: Run, before: Run | None) -> tuple[str, str | None]:
    """The instance's status, and the run's own where it is another: a good run beside what failed earlier is not a success."""
    own = workflow_status([attempts[-1].status for attempts in run.attempts.values() if attempts])
    if before is None or own != "SUCCEEDED":
        return own, None
    statuses = [view["status"] for view in views(run).values()]
    whole = workflow_status([status for status in statuses if status != "NOT_CREATED"])
    if whole == "SUCCEEDED" and "NOT_CREATED" in statuses:
        whole = before.status if before.status != "SUCCEEDED" else whole
    return (whole, own) if whole != own else (own, None)


def overview(run: Run) -> Json | None:
    """None before the run begins."""
    if run.started_at is None:
        return None
    ordinals = {step_id: number for number, step_id in enumerate(run.dag, start=1)}
    summary: Json = {}
    for step_id in run.dag:
        attempt = run.newest(step_id)
        if attempt is None:
            summary.setdefault("NOT_CREATED", {"cnt": 0})["cnt"] += 1
            continue
        entry = summary.setdefault(attempt.status, {"cnt": 0, "steps": []})
        entry["cnt"] += 1
        entry["steps"].append([ordinals[step_id], attempt.times.get("start_time"), attempt.ended_at])
    shown: Json = {"total_step_count": len(run.dag), "step_overview": summary, "rollup_overview": rollup(run)}
    return shown | ({"run_status": run.run_status} if run.run_status else {})


def rollup(run: Run) -> Json:
    """The leaves over all runs and through sub-workflows; references only to what went wrong."""
    leaves: list[tuple[str, Attempt | None]] = _leaves(run)
    counted: Json = {}
    for status, attempt in leaves:
        entry = counted.setdefault(status, {"cnt": 0})
        entry["cnt"] += 1
        if attempt is not None and STEP[status].told:
            where = f"{attempt.run.workflow.id}:{attempt.run.run_id}"
            what = f"{attempt.run.instance_id}:{attempt.step_id}:{attempt.number}"
            entry.setdefault("ref", {}).setdefault(where, []).append(what)
    return {"total_leaf_count": len(leaves), "overview": counted}


def _leaves(run: Run) -> list[tuple[str, Attempt | None]]:
    found: list[tuple[str, Attempt | None]] = []
    runs = {one.run_id: one for one in run.workflow.instances[run.instance_id]}
    for step_id, view in views(run).items():
        if "workflow_run_id" not in view:
            continue
        attempt = runs[view["workflow_run_id"]].newest(step_id)
        if attempt is not None and attempt.children:
            for child in attempt.children:
                found += _leaves(child)
        else:
            found.append((view["status"], attempt))
    return found
