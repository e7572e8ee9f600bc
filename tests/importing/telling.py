"""A scheduler that tells of its past, as a test says it went; and an import of it into the world."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from bot.evidence.types import ErrorReport
from bot.importing import Imported, Importing, Progress
from bot.incidents.keys import RunRef, Trigger
from bot.ports import HistoryDown
from bot.sources import SourceEvent, SourceKind
from tests.world.people import LOST_COLUMN
from tests.world.reporting import key_of
from tests.world.reports import SCHEDULER
from tests.world.world import World

DAY = timedelta(days=1)


@dataclass(slots=True)
class Telling:
    """Days are counted back from `now`; runs are due at 03:00. Pages hold `size` events; it breaks down before page `ends`."""

    now: datetime
    name: str = SCHEDULER
    size: int = 100
    ends: int | None = None
    told: list[SourceEvent] = field(default_factory=list)

    def good(self, job: str, days_ago: int, *, took: float = 10, **more: Any) -> SourceEvent:
        return self._ends(SourceKind.RUN_SUCCEEDED, job, days_ago, took=took, **more)

    def failed(self, job: str, days_ago: int, *, took: float = 5, log: str = LOST_COLUMN, **more: Any) -> SourceEvent:
        error = ErrorReport(log=log, exit_code=1)
        return self._ends(SourceKind.RUN_FAILED, job, days_ago, took=took, error=error, **more)

    def cleared(self, job: str, days_ago: int, *, after: float = 60, by: str = "maria", **more: Any) -> SourceEvent:
        """The run was run again by hand so many minutes after it was due, and went well."""
        again = {"generation": 1, "trigger": Trigger.RERUN, "by": by, "after": after, **more}
        self._tells(SourceKind.RUN_STARTED, job, days_ago, took=0, **{**again, "ended_at": None})
        return self._ends(SourceKind.RUN_SUCCEEDED, job, days_ago, took=10, **again)

    def failed_again(self, job: str, days_ago: int, *, after: float, log: str, by: str = "maria") -> SourceEvent:
        """The run was run again by hand so many minutes after it was due, and failed again."""
        again: dict[str, Any] = {"generation": 1, "trigger": Trigger.RERUN, "by": by, "after": after}
        self._tells(SourceKind.RUN_STARTED, job, days_ago, took=0, ended_at=None, **again)
        return self.failed(job, days_ago, log=log, **again)

    def history(self, *, since: datetime, until: datetime) -> Iterator[Sequence[SourceEvent]]:
        within = sorted((event for event in self.told if since <= event.at < until), key=lambda event: event.at)
        for number, first in enumerate(range(0, len(within), self.size)):
            if number == self.ends:
                raise HistoryDown("it went away")
            yield within[first : first + self.size]

    def due(self, days_ago: int) -> datetime:
        return (self.now - days_ago * DAY).replace(hour=3, minute=0, second=0, microsecond=0)

    def _ends(self, kind: SourceKind, job: str, days_ago: int, *, took: float, **more: Any) -> SourceEvent:
        return self._tells(kind, job, days_ago, took=took, **more)

    def _tells(
        self,
        kind: SourceKind,
        job: str,
        days_ago: int,
        *,
        took: float,
        after: float = 0,
        generation: int = 0,
        trigger: Trigger = Trigger.SCHEDULE,
        **more: Any,
    ) -> SourceEvent:
        due = self.due(days_ago)
        started_at = due + timedelta(minutes=after)
        at = started_at + timedelta(minutes=took)
        run = RunRef(run_id=f"schedule__{due.isoformat()}", nominal_time=due, generation=generation, trigger=trigger)
        fields = {"started_at": started_at, "ended_at": at, **more}
        id_ = f"{run.run_id}|{generation}|{kind}"
        event = SourceEvent(id=id_, kind=kind, at=at, job=key_of(job), run=run, **fields)
        self.told.append(event)
        return event


def imports(world: World, telling: Telling, *, days: int = 30, until: datetime | None = None) -> Imported:
    """As `import --since 30d` does, while the service runs."""
    said: list[Progress] = []
    importing = Importing(
        storage=world.service.storage,
        worlds=world.service.intake._worlds,
        clock=lambda: world.now,
        said=said.append,
    )
    world.clock.tick()
    done = importing.bring_in(telling, since=world.now - days * DAY, until=until or world.now - timedelta(hours=1))
    world.settles()
    return done
