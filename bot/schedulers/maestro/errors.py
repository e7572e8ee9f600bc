"""What failed steps say of their failure, as one text that its author would read: the oldest line first. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bot.evidence.types import ErrorReport
from bot.schedulers.maestro.reading import Deed, Entry, deeds, entries
from bot.schedulers.maestro.shapes import FATAL_STEPS, Instance, Step

LONGEST_LOG = 64 * 1024
LONGEST_OUTPUT = 48 * 1024
NAMED = 8
SAID = frozenset({"WARN", "ERROR"})
WORDS = {
    "FATALLY_FAILED": "failed for good",
    "INTERNALLY_FAILED": "failed by Maestro's own engine",
    "TIMED_OUT": "timed out",
    "STOPPED": "was stopped",
}
LAST = datetime(9999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """What is known of a failure beside the run: its failed steps, the first one first. `total`: how many there are.

    `timeline` are the lines of the run itself. `unread`: why nothing of the steps is known.
    """

    steps: tuple[Step, ...] = ()
    total: int = 0
    unread: str = ""
    timeline: tuple[Entry, ...] = ()


def report(run: Instance, failed: Failed) -> ErrorReport:
    """The failure of the run. Its first failed step is what the others follow from."""
    lines = _heading(run, failed)
    lines += [f"workflow {run.workflow_id}: {line}" for line in _loud(failed.timeline)]
    for step in failed.steps[:NAMED]:
        lines += _told_by(step, run)
    if not failed.steps and failed.unread:
        lines.append(failed.unread)
    message = _message(failed)
    return ErrorReport(message=message or None, log="\n".join(lines)[-LONGEST_LOG:])


def called(step: Step, run: Instance) -> str:
    """The step, with its workflow where it is another one."""
    return step.step_id if step.workflow_id == run.workflow_id else f"{step.workflow_id}/{step.step_id}"


def killed_by(run: Instance, failed: Failed) -> Deed | None:
    """Who killed the run, or every one of the steps by which it failed: it did not get there by itself."""
    of_run = [deed for deed in deeds(run.timeline) if deed.action == "KILL"]
    if of_run:
        return of_run[-1]
    of_steps = [[deed for deed in deeds(step.timeline) if deed.action == "KILL"] for step in failed.steps]
    whole = bool(of_steps) and failed.total <= len(of_steps) and all(of_steps)
    return of_steps[0][-1] if whole else None


def in_order(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Those that failed, the first one first."""
    failed = [step for step in steps if step.status in FATAL_STEPS]
    return tuple(
        sorted(failed, key=lambda step: (step.runtime_state.end_time or LAST.timestamp() * 1000, step.step_id))
    )


def _heading(run: Instance, failed: Failed) -> list[str]:
    if not failed.steps:
        return []
    parts = [f"{called(step, run)} (attempt {step.step_attempt_id})" for step in failed.steps[:NAMED]]
    more = failed.total - len(parts)
    return [f"Parts of {run.workflow_id}: {', '.join(parts)}" + (f" and {more} more" if more > 0 else "")]


def _told_by(step: Step, run: Instance) -> list[str]:
    name, retry = called(step, run), step.step_retry
    tried = [
        f"{used} of {most} {kind} retries used"
        for used, most, kind in (
            (retry.error_retries, retry.error_retry_limit, "error"),
            (retry.platform_retries, retry.platform_retry_limit, "platform"),
            (retry.timeout_retries, retry.timeout_retry_limit, "timeout"),
        )
        if used
    ]
    told = ", ".join([f"step {name} {WORDS.get(step.status, step.status)}", *tried])
    lines = [line for entry in entries(step.timeline) for line in _lines(entry)]
    return [told, *lines, *_outputs(step.artifacts)]


def _loud(timeline: Sequence[Entry]) -> list[str]:
    """What a run says of itself, without the course of things."""
    loud = [entry for entry in timeline if entry.type == "DETAILS" or entry.level in SAID]
    return [line for entry in loud for line in _lines(entry)]


def _lines(entry: Entry) -> list[str]:
    at = f"[{entry.at:%Y-%m-%dT%H:%M:%S}Z] " if entry.at is not None else ""
    match entry.type:
        case "STATUS":
            return []
        case "DETAILS":
            return [f"{at}ERROR {entry.status} {entry.message}".rstrip(), *entry.errors]
        case _:
            said = f"{entry.level or 'INFO'} {entry.message}".rstrip()
            return [f"{at}{said}"] if entry.message else []


def _outputs(artifacts: Mapping[str, Any]) -> list[str]:
    """What the step's own program left: the output of its pod, or the answer that it got."""
    lines: list[str] = []
    for artifact in artifacts.values():
        if not isinstance(artifact, Mapping):
            continue
        output = artifact.get("execution_output")
        if isinstance(output, str) and output.strip():
            lines += output[-LONGEST_OUTPUT:].splitlines()
        code, body = artifact.get("status_code"), artifact.get("body")
        if isinstance(code, int) and not isinstance(code, bool) and code >= 400:
            lines.append(f"HTTP {code} {body if isinstance(body, str) else ''}".rstrip())
    return lines


def _message(failed: Failed) -> str:
    """What Maestro says of the first failed step, in a line; else of the run."""
    told = entries(failed.steps[0].timeline) if failed.steps else ()
    for line in (*reversed(told), *reversed(failed.timeline)):
        if line.type == "DETAILS" and line.message:
            return line.message
    if failed.steps:
        first = failed.steps[0]
        return f"step {first.step_id} {WORDS.get(first.status, first.status)}"
    loud = [line.message for line in failed.timeline if line.level in SAID and line.message]
    return loud[-1] if loud else ""
