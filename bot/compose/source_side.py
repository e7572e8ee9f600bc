"""Puts together what sources report by other ways than our own events: OpenLineage, and pings of a crontab. It runs none of it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.compose.common import Common
from bot.incidents.keys import JobKey
from bot.incidents.memory import JobMemory
from bot.incidents.policy import Schedule
from bot.intake.worlds import Worlds
from bot.pings import Pings
from bot.policies.specs import AirflowSpec
from bot.schedulers.airflow.polling import told_within
from bot.schedulers.openlineage import Lineage

LINEAGE = "lineage"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSide:
    """`lineage` is driven by whoever leads; `pings` is None without a key, since tokens of jobs are signed."""

    lineage: Lineage
    pings: Pings | None
    leads: Callable[[], bool]

    def look_at_lineage(self, now: datetime) -> datetime | None:
        """Hand on the ends of runs that waited for their parts; returns when the next one is due."""
        return self.lineage.step(now) if self.leads() else None


def source_side(parts: Common, *, worlds: Worlds, later: Callable[[datetime], None]) -> SourceSide:
    """`later` is told when the end of a run that waits will be due."""
    storage, clock, signer = parts.storage, parts.clock, parts.signer

    def schedule_of(job: JobKey, memory: JobMemory | None) -> Schedule | None:
        return worlds.of(job, clock()).schedule or (memory.schedule if memory is not None else None)

    def polled(source: str) -> timedelta | None:
        spec = parts.policies().schedulers.get(source)
        return told_within(spec.poll) if isinstance(spec, AirflowSpec) else None

    lineage = Lineage(store=storage, take_in=parts.take_in, clock=clock, later=later, polled=polled)
    if signer is None:
        return SourceSide(lineage=lineage, pings=None, leads=parts.leads)
    pings = Pings(
        signer=signer,
        memory_of=parts.records.memory_of,
        schedule_of=schedule_of,
        log_of=lambda job, run_id: storage.kept_log(job=str(job), run_id=run_id),
    )
    return SourceSide(lineage=lineage, pings=pings, leads=parts.leads)
