"""One attempt of a step: how it begins, waits, ends well or badly, and when the engine tries again."""

from tests.maestro.fake.engine import Engine
from tests.maestro.fake.events import step_event
from tests.maestro.fake.records import Attempt, Json, Run, details_entry, log_entry
from tests.maestro.fake.signals import matches, produced
from tests.maestro.fake.statuses import TIMES

KINDS = {"user": "error", "platform": "platform", "timeout": "timeout"}
TRIED_AGAIN = {"user": "USER_FAILED", "platform": "PLATFORM_FAILED", "timeout": "TIMEOUT_FAILED"}
CAP = {"user": 600, "platform": 3600, "timeout": 3600}


def moved(engine: Engine, attempt: Attempt, *statuses: str) -> None:
    """Through these statuses, published as one batch."""
    changes = []
    for status in statuses:
        at = engine.clock.tick()
        changes.append((attempt.status if attempt.modified_at else "NOT_CREATED", status, at))
        attempt.status, attempt.modified_at = status, at
        if status in TIMES:
            attempt.times[TIMES[status]] = at
    engine.events.append(step_event(attempt, changes))
    attempt.run.modified_at = attempt.modified_at


def begun(engine: Engine, run: Run, step_id: str, *, retries: dict[str, int] | None = None) -> Attempt:
    """A new attempt: running, or waiting for its signals. Its counters begin at zero with every run."""
    kind, definition = run.steps[step_id]
    attempts = run.attempts.setdefault(step_id, [])
    attempt = Attempt(
        run=run,
        step_id=step_id,
        number=len(attempts) + 1,
        uuid=engine.new_uuid(),
        retries=retries or {"error": 0, "platform": 0, "timeout": 0, "manual": 0},
        dependencies=[
            {"name": one["name"], "match_params": one.get("match_params", {}), "status": "PENDING"}
            for one in definition.get("signal_dependencies", [])
        ],
    )
    attempts.append(attempt)
    moved(engine, attempt, "CREATED", "INITIALIZED")
    if attempt.dependencies:
        moved(engine, attempt, "WAITING_FOR_SIGNALS")
        taken_up(engine, attempt)
    else:
        runs(engine, attempt)
    if kind == "step":
        attempt.timeline.add(log_entry(f"Step [{step_id}] is launched", attempt.modified_at))
    return attempt


def passed_over(engine: Engine, run: Run, step_id: str) -> None:
    """No condition leads to it: it ends before it begins, and that is well."""
    zero = {"error": 0, "platform": 0, "timeout": 0, "manual": 0}
    attempt = Attempt(run=run, step_id=step_id, number=1, uuid=engine.new_uuid(), retries=zero)
    run.attempts[step_id] = [attempt]
    ended(engine, attempt, "UNSATISFIED")


def runs(engine: Engine, attempt: Attempt) -> None:
    moved(engine, attempt, "EVALUATING_PARAMS", "STARTING", "RUNNING")


def taken_up(engine: Engine, attempt: Attempt) -> bool:
    """A step that waits runs when all its signals are there."""
    for dependency in attempt.dependencies:
        if dependency["status"] == "PENDING":
            signal = matches(engine, dependency["name"], dependency["match_params"])
            if signal is not None:
                dependency.update(status="MATCHED", signal_id=signal.seq)
    if any(dependency["status"] == "PENDING" for dependency in attempt.dependencies):
        return False
    runs(engine, attempt)
    return True


def ended_well(engine: Engine, attempt: Attempt) -> None:
    """Its outputs are announced while it finishes; a signal that was there before is not announced again."""
    moved(engine, attempt, "FINISHING")
    for output in attempt.run.steps[attempt.step_id][1].get("signal_outputs", []):
        params = {name: param["value"] for name, param in output.get("params", {}).items()}
        source = {
            "workflow_id": attempt.run.workflow.id,
            "instance_id": attempt.run.instance_id,
            "run_id": attempt.run.run_id,
            "step_id": attempt.step_id,
        }
        signal = produced(engine, output["name"], params, payload={"signal_source": source})
        told: Json = {"name": output["name"], "params": output.get("params", {}), "signal_id": -1}
        told |= {"signal_id": signal.seq, "announce_time": signal.created_at} if signal else {}
        attempt.outputs.append(told)
    ended(engine, attempt, "SUCCEEDED")


def failed(engine: Engine, attempt: Attempt, kind: str, message: str, errors: tuple[str, ...]) -> None:
    """`kind`: user, platform and timeout are tried again up to their limits; fatal and internal are not."""
    at = engine.clock.tick()
    counter = KINDS.get(kind)
    again = counter is not None and attempt.retries[counter] < attempt.limits[counter]
    status = {"internal": "INTERNALLY_FAILED", "timeout": "TIMED_OUT"}.get(kind, "FATALLY_FAILED")
    attempt.timeline.add(
        details_entry(message, errors, at, retryable=again and kind == "platform", status="INTERNAL_ERROR")
    )
    if again and counter is not None:
        wait = min(60 * 2 ** attempt.retries[counter], CAP[kind])
        attempt.retryable, attempt.retry_at = True, at + wait * 1000
        attempt.timeline.add(log_entry(f"Retrying task in [{wait}s]", engine.clock.tick()))
        ended(engine, attempt, TRIED_AGAIN[kind])
        return
    ignored = attempt.failure_mode == "IGNORE_FAILURE" and kind != "internal"
    ended(engine, attempt, "COMPLETED_WITH_ERROR" if ignored else status)


def tried_again(engine: Engine, attempt: Attempt) -> Attempt:
    """The engine's next attempt, with the counter of what went wrong raised."""
    kind = next(kind for kind, status in TRIED_AGAIN.items() if status == attempt.status)
    attempt.retryable, attempt.retry_at = False, None
    counter = KINDS[kind]
    return begun(
        engine, attempt.run, attempt.step_id, retries=attempt.retries | {counter: attempt.retries[counter] + 1}
    )


def ended(engine: Engine, attempt: Attempt, status: str) -> None:
    moved(engine, attempt, status)
    attempt.ended_at = attempt.modified_at


def terminated(engine: Engine, attempt: Attempt, action: str, user: str, reason: str) -> None:
    """STOP ends as STOPPED, KILL as FATALLY_FAILED, SKIP as SKIPPED; who did it stands in the step's timeline."""
    said = f"User [{user}] take action [{action}] on the step" + (f" due to reason: [{reason}]" if reason else "")
    attempt.timeline.add(log_entry(said, engine.clock.tick()))
    attempt.retryable, attempt.retry_at = False, None
    ended(engine, attempt, {"STOP": "STOPPED", "SKIP": "SKIPPED"}.get(action, "FATALLY_FAILED"))
