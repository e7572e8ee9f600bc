"""Reads what a failed run says of its failure: the steps at its roots, also those of its sub-workflows and loops.

It must not read another run's failure, or judge what it reads.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta

from bot.schedulers.maestro.client import MaestroClient
from bot.schedulers.maestro.errors import NAMED, Failed, in_order
from bot.schedulers.maestro.reading import entries
from bot.schedulers.maestro.shapes import FATAL_STEPS, Instance, Rollup, Step
from bot.wire.exchange import NoAnswer, NotSent, Refused, Unwell

WITHIN = timedelta(seconds=20)
DEEPEST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """A step that failed, as the run's overview points to it."""

    workflow: str
    run: int
    instance: int
    step: str
    attempt: int


def failure_of(client: MaestroClient, run: Instance) -> tuple[Failed, tuple[Step, ...]]:
    """Its failure and all steps of the run itself, for how long they took. `run` is read on its own, not from a list.

    Raises what the client raises where the steps cannot be read for the moment; without them a failure is told.
    """
    leaves = tuple(leaves_in(run))
    timeline = entries(run.timeline)
    own: tuple[Step, ...] = ()
    roots: list[Step] = []
    with client.within(WITHIN):
        try:
            own = client.steps(run.workflow_id, run.workflow_instance_id, run=run.workflow_run_id)
            roots = [step for step in (_read(client, leaf) for leaf in leaves[:NAMED]) if step is not None]
        except Refused as no:
            if no.retry_after is not None:
                raise
            return Failed(unread=f"its steps were not shown: {no}", timeline=timeline), own
        failed = in_order(roots)
        if not failed:
            failed = _below(client, _in_detail(client, in_order(own)))
    total = max(len(leaves), len(failed))
    unread = "" if failed else "Maestro tells of no failed step in this run"
    return Failed(steps=failed, total=total, unread=unread, timeline=timeline), own


def leaves_in(run: Instance) -> Iterator[Leaf]:
    """The failed steps at the roots: of statuses after which the engine does not try again."""
    overview = run.runtime_overview
    rollup = overview.rollup_overview if overview is not None and overview.rollup_overview is not None else Rollup()
    for status in sorted(FATAL_STEPS & rollup.overview.keys()):
        for of_run, steps in rollup.overview[status].ref.items():
            for step in steps:
                leaf = _leaf(of_run, step)
                if leaf is not None:
                    yield leaf


def _leaf(of_run: str, step: str) -> Leaf | None:
    """`workflow:run` and `instance:step:attempt`; names may hold colons."""
    workflow, _, run = of_run.rpartition(":")
    instance, _, rest = step.partition(":")
    name, _, attempt = rest.rpartition(":")
    if not (workflow and name and run.isdecimal() and instance.isdecimal() and attempt.isdecimal()):
        return None
    return Leaf(workflow=workflow, run=int(run), instance=int(instance), step=name, attempt=int(attempt))


def _read(client: MaestroClient, leaf: Leaf) -> Step | None:
    """None where the part has been deleted meanwhile: the others still tell."""
    try:
        return client.step_attempt(
            leaf.workflow, leaf.instance, run=leaf.run, step=leaf.step, attempt=leaf.attempt or "latest"
        )
    except Refused as no:
        if no.retry_after is not None:
            raise
        return None


def _below(client: MaestroClient, failed: tuple[Step, ...]) -> tuple[Step, ...]:
    """The overview points to no step that timed out: one in a sub-workflow is found by the step that waited for it."""
    for _ in range(DEEPEST):
        part = _part(failed[0]) if failed else None
        if part is None:
            return failed
        try:
            steps = client.steps(part[0], part[1], run=part[2])
        except Refused as no:
            if no.retry_after is not None:
                raise
            return failed
        found = in_order(steps)
        if not found:
            return failed
        failed = (*_in_detail(client, found), *failed[1:])
    return failed


def _part(step: Step) -> tuple[str, int, int] | None:
    """The run of the sub-workflow that the step waited for."""
    for artifact in step.artifacts.values():
        if not isinstance(artifact, Mapping):
            continue
        name = artifact.get("subworkflow_id")
        numbers = [artifact.get(key) for key in ("subworkflow_instance_id", "subworkflow_run_id")]
        if isinstance(name, str) and all(isinstance(one, int) and one > 0 for one in numbers):
            return name, int(numbers[0] or 0), int(numbers[1] or 0)
    return None


def _in_detail(client: MaestroClient, failed: tuple[Step, ...]) -> tuple[Step, ...]:
    """Lists of steps leave out a part of their timelines: the first one is read on its own, where it is shown."""
    if not failed:
        return ()
    first = failed[0]
    try:
        told = client.step_attempt(
            first.workflow_id,
            first.workflow_instance_id,
            run=first.workflow_run_id,
            step=first.step_id,
            attempt=first.step_attempt_id,
        )
    except (Refused, Unwell, NotSent, NoAnswer):
        return failed
    return (told, *failed[1:])
