"""Signals: announced once for a name and its parameters, waited for by steps, starting workflows; it runs nothing."""

from tests.maestro.fake.engine import Engine, Signal
from tests.maestro.fake.records import Json, named_uuid


def produced(engine: Engine, name: str, params: Json, *, payload: Json, request_id: str | None = None) -> Signal | None:
    """None where the same signal was there before."""
    identity = request_id or named_uuid(f"{name}{sorted(params.items())}")
    known = engine.signals.setdefault(name, [])
    if any(signal.request_id == identity for signal in known):
        return None
    signal = Signal(name, len(known) + 1, params, payload, engine.clock.tick(), identity)
    known.append(signal)
    return signal


def matches(engine: Engine, name: str, wanted: Json) -> Signal | None:
    """The newest one whose parameters are as wanted."""
    for signal in reversed(engine.signals.get(name, [])):
        if all(_fits(signal.params.get(param), one) for param, one in wanted.items()):
            return signal
    return None


def _fits(found: object, wanted: Json) -> bool:
    value = wanted["value"]
    if not isinstance(found, int) or not isinstance(value, int):
        return bool(found == value)
    answers: dict[str, bool] = {
        "=": found == value,
        ">": found > value,
        ">=": found >= value,
        "<": found < value,
        "<=": found <= value,
    }
    return answers[wanted.get("operator", "=")]


def due_triggers(engine: Engine) -> list[tuple[str, str, dict[str, int]]]:
    """Workflow, trigger uuid and the signals that start it now: every name of the trigger has one that it did not use."""
    found = []
    for workflow in engine.workflows.values():
        if workflow.active is None or workflow.properties[-1].get("signal_trigger_disabled"):
            continue
        version = engine.version(workflow.id, "active")
        for number, trigger in enumerate(version.workflow.get("signal_triggers", [])):
            used = engine.seen_signals.setdefault((workflow.id, number), {})
            fresh = {
                name: signal.seq
                for name, definition in trigger["definitions"].items()
                if (signal := matches(engine, name, definition.get("match_params", {}))) is not None
                and signal.seq > used.get(name, 0)
            }
            if fresh and len(fresh) == len(trigger["definitions"]):
                used.update(fresh)
                found.append((workflow.id, named_uuid(f"{workflow.id}:signal:{number}"), fresh))
    return found
