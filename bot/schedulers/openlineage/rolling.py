"""Rolls the parts of a run up to it: which part's failure is the run's, and whether one is still to be waited for. Pure.

The first final failure in time that no later success undid is the error; what the run says of itself counts only where no
part tells more.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.schedulers.openlineage.folding import ENDS
from bot.store.lineage import LineageRun, PartError, Told

_SAYS_NOTHING = re.compile(r"\s*(?:task_failure|Command `[^`]*` failed\b.*|Application Status: FAILED)?\s*", re.DOTALL)
_MAPPED = re.compile(r"\[\d+\]\Z")
NAMED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What the run failed of: the part, and the others that failed for good; None where the run itself tells the error."""

    part: LineageRun | None
    others: tuple[LineageRun, ...] = ()
    error: PartError


def failure_of(run: LineageRun, parts: Sequence[LineageRun]) -> Failure:
    """What is the error of a run that failed, with what is known of it now."""
    failed = failing_parts(parts)
    telling = run.known.error is not None and not _says_nothing(run.known.error)
    if failed and (is_final(failed[0]) or not telling):
        first = failed[0]
        error = first.known.error or PartError(message=f"{first.known.part} failed; its error was not told")
        return Failure(part=first, others=tuple(failed[1:]), error=error)
    return Failure(part=None, error=run.known.error or PartError(message="it failed; its error was not told"))


def waits(run: LineageRun, parts: Sequence[LineageRun]) -> bool:
    """Whether the failure of a part may still arrive that tells more of this failed run than what is known."""
    failed = failing_parts(parts)
    if run.known.failing:
        there = {_MAPPED.sub("", part.known.part) for part in failed}
        return not there.issuperset(_MAPPED.sub("", name) for name in run.known.failing)
    if any(part.state not in ENDS for part in parts):
        return True
    if failed:
        return failed[0].known.error is None
    return run.known.error is None or _says_nothing(run.known.error)


def ended_badly(run: LineageRun, parts: Sequence[LineageRun]) -> bool:
    """Whether a run whose producer never tells of its failure ended with the failure of its last part."""
    if not run.known.silent:
        return False
    last = max((part for part in parts if part.state in ENDS), key=lambda part: part.state_at, default=None)
    return last is not None and last.state is Told.FAILED


def failing_parts(parts: Sequence[LineageRun]) -> list[LineageRun]:
    """The last failure of each part that no later success undid, the one to be told first."""
    last: dict[str, LineageRun] = {}
    for part in parts:
        known = last.get(part.known.part)
        if known is None or (part.attempt, part.state_at) > (known.attempt, known.state_at):
            last[part.known.part] = part
    above = {part.run_id: part for part in parts}
    failed = [
        part
        for part in last.values()
        if part.state is Told.FAILED
        and not any(_undoes(last[one.known.part], part, parts) for one in _above(part, above))
    ]
    return sorted(failed, key=lambda part: (part.known.error is None, not is_final(part), part.state_at, part.run_id))


def is_final(part: LineageRun) -> bool:
    """Whether its scheduler will not try it again by itself."""
    return part.known.tries is None or part.attempt >= part.known.tries


def _undoes(other: LineageRun, part: LineageRun, parts: Sequence[LineageRun]) -> bool:
    """Whether `other`, which `part` is a part of, went well after all. One that never tells did if it went on with success."""
    if other.known.silent:
        return any(
            one.parent == other.run_id and one.state is Told.SUCCEEDED and one.state_at > part.state_at for one in parts
        )
    return other.state is Told.SUCCEEDED and other.state_at >= part.state_at


def _above(part: LineageRun, runs: dict[str, LineageRun]) -> Iterator[LineageRun]:
    """The parts that this one is a part of."""
    seen = {part.run_id}
    while part.parent is not None and part.parent in runs and part.parent not in seen:
        part = runs[part.parent]
        seen.add(part.run_id)
        yield part


def _says_nothing(error: PartError) -> bool:
    return not error.trace and _SAYS_NOTHING.fullmatch(error.message) is not None
