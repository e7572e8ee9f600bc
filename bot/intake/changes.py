"""What a source tells of a job itself: its schedule, its owner, that it is gone, that it is called otherwise. Writes nothing."""

from collections.abc import Iterator
from datetime import datetime

from bot.incidents.events import ScheduleChanged
from bot.incidents.keys import JobKey
from bot.incidents.memory import JobMemory
from bot.sources import JobChange, SourceEvent, SourceKind

SOMETHING = "its source told of a change"
SIGNS_OF_LIFE = frozenset({SourceKind.RUN_STARTED, SourceKind.RUN_SUCCEEDED, SourceKind.RUN_FAILED})


def told_of(change: JobChange | None, before: JobMemory, now: datetime) -> ScheduleChanged:
    """The change as the job's unresolved occurrence hears of it; that the job is gone is told once."""
    if change is None:
        return ScheduleChanged(at=now, reason=SOMETHING)
    if change.deleted:
        reason = (
            "its scheduler says that the job is gone" if not before.deleted else "the job is gone, as was told before"
        )
        return ScheduleChanged(at=now, reason=reason, gone=not before.deleted)
    if change.standing is not None and change.standing.will_fail and change.standing.words != before.standing:
        return ScheduleChanged(at=now, reason=f"a run of it {change.standing.words}", told=True)
    if change.owner is not None and change.owner != before.owner:
        return ScheduleChanged(at=now, reason=f"its scheduler names {change.owner} as its owner", told=True)
    if before.deleted:
        return ScheduleChanged(at=now, reason="its scheduler says that the job is there again", told=True)
    return ScheduleChanged(at=now, reason=SOMETHING)


def uses_told(change: JobChange | None) -> Iterator[tuple[bool, tuple[str, ...]]]:
    """The datasets that its scheduler names from now on, for each side that it spoke of: whether it writes them, and which.

    A job that is gone waits for nothing, and nothing for it.
    """
    if change is None:
        return
    for writes, datasets in ((False, change.reads), (True, change.writes)):
        if change.deleted or datasets is not None:
            yield writes, () if change.deleted or datasets is None else datasets


def renamed(source: SourceEvent) -> JobKey | None:
    """What the job is called from now on; None: it keeps its name."""
    name = source.change.renamed_to if source.change is not None else None
    if not name or name == source.job.name:
        return None
    return JobKey(scheduler=source.job.scheduler, name=name)


def is_there_again(memory: JobMemory, source: SourceEvent) -> bool:
    """Whether a run of a job that was said to be gone shows that it is not."""
    later = memory.gone_at is None or source.at > memory.gone_at
    return memory.deleted and source.kind in SIGNS_OF_LIFE and later
