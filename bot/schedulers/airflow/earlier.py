"""What became of a run before it was cleared, by the tries of its tasks and the instants of its clears. Pure.

A run shows only its newest end. It must not guess: of a stretch without tries nothing is told.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from msgspec.structs import replace

from bot.schedulers.airflow.audit import Deed, Done
from bot.schedulers.airflow.shapes import DagRun, TaskInstance

FAILED, SUCCESS = "failed", "success"


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """One generation of a run that came to an end and was cleared since: the run as it stood then, what had been done to it
    by then, and the tasks that had failed, the first one first."""

    run: DagRun
    generation: int
    ended_at: datetime
    done: tuple[Done, ...]
    failed: tuple[TaskInstance, ...] = ()


def earlier_of(run: DagRun, tries: Sequence[TaskInstance], done: Sequence[Done]) -> list[Earlier]:
    """The generations of the run before its newest one, the oldest first; `tries` are all tries of its tasks."""
    clears = [one.at for one in done if one.deed is Deed.CLEARED]
    found: list[Earlier] = []
    begins: datetime | None = None
    for generation, cleared_at in enumerate(clears):
        made = [one for one in tries if _within(one, begins, cleared_at)]
        if made:
            by_then = tuple(one for one in done if one.at < cleared_at)
            found.append(_generation(run, made, by_then, generation=generation, began_at=begins))
        begins = cleared_at
    return found


def _within(one: TaskInstance, begins: datetime | None, cleared_at: datetime) -> bool:
    ended_at = one.end_date
    return ended_at is not None and ended_at <= cleared_at and (begins is None or ended_at > begins)


def _generation(
    run: DagRun,
    made: Sequence[TaskInstance],
    done: tuple[Done, ...],
    *,
    generation: int,
    began_at: datetime | None,
) -> Earlier:
    last: dict[tuple[str, int], TaskInstance] = {}
    for one in sorted(made, key=lambda each: each.try_number):
        last[one.task_id, one.map_index] = one
    failed = sorted((one for one in last.values() if one.state == FAILED), key=_ended)
    starts = [one.start_date for one in made if one.start_date is not None]
    ended_at = max(_ended(one) for one in made)
    return Earlier(
        run=replace(
            run,
            state=FAILED if failed else SUCCESS,
            queued_at=began_at,
            start_date=min(starts, default=None),
            end_date=ended_at,
            dag_versions=run.dag_versions[:1],
            bundle_version=run.bundle_version if len(run.dag_versions) < 2 else None,
        ),
        generation=generation,
        ended_at=ended_at,
        done=done,
        failed=tuple(failed),
    )


def _ended(one: TaskInstance) -> datetime:
    if one.end_date is None:
        raise ValueError(f"{one.called} has not ended")
    return one.end_date
