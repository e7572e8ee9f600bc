"""What one transaction shares with all others: the canaries of causes, the storms of channels, locked before the fold.

It decides nothing; which gates are needed follows from the jobs and the events.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from bot.incidents.canary import Stage
from bot.incidents.events import Event, RunFailed, RunLate, RunStarted
from bot.incidents.keys import JobKey
from bot.incidents.licence import still_licensed
from bot.incidents.memory import marks_of
from bot.incidents.model import Incident
from bot.incidents.storm import Storm, aside
from bot.incidents.storm_events import StormTaken
from bot.intake import canaries, storms
from bot.intake.canaries import Canaries
from bot.intake.storms import Storms
from bot.intake.surroundings import Read, World
from bot.store import UnitOfWork


class Gates:
    """The gates of one transaction; `world_of` tells what holds for a job."""

    def __init__(self, uow: UnitOfWork, world_of: Callable[[JobKey], World], now: datetime) -> None:
        self._uow = uow
        self._world_of = world_of
        self.canaries = Canaries(uow, now)
        self.storms = Storms(uow, now)

    def lock(
        self,
        reads: Mapping[JobKey, Read],
        *,
        failed: Iterable[tuple[JobKey, RunFailed]],
        late: Iterable[JobKey],
    ) -> None:
        """Those of the causes under which something may be rerun by licence, or was, and of the channels in which an
        occurrence may open, or a row of a storm may ask."""
        causes: set[str] = set()
        channels: set[str] = set()
        keys: set[str] = set()
        opening = set(late)
        for key, read in reads.items():
            reruns = [one.rerun for one in read.near if one.rerun is not None and one.rerun.automatic]
            causes.update(rerun.cause for rerun in reruns)
            keys.update(rerun.key for rerun in reruns)
            unresolved = read.incidents.unresolved
            if unresolved is not None and aside(unresolved.storm):
                channels.add(self._channel(key, unresolved))
            owed = unresolved.owed if unresolved else ()
            causes.update(one.failure.cause for one in owed if self._licensed(read, one.failure.cause))
        for key, event in failed:
            opening.add(key)
            if self._licensed(reads[key], event.failure.cause):
                causes.add(event.failure.cause)
        channels.update(self._channel(key, None) for key in opening if reads[key].incidents.unresolved is None)
        channels.discard("")
        names = {canaries.gate_of(cause) for cause in causes} | {storms.gate_of(channel) for channel in channels}
        if names:
            gates = self._uow.lock_gates(names=names)
            self.canaries.know(gates, causes, keys)
            self.storms.know(gates, channels)

    def storm(self, key: JobKey, target: Incident | None, event: Event) -> Storm | None:
        """The storm of the channel in which the event may open an occurrence, or of which `target` is a row."""
        opens = target is None and isinstance(event, RunFailed | RunLate | RunStarted)
        taken = isinstance(event, StormTaken)
        row = target is not None and target.storm is not None and (taken or aside(target.storm))
        channel = self._channel(key, target) if opens or row else ""
        return self.storms.of(channel) if channel else None

    def stage(self, target: Incident | None) -> Stage | None:
        """Where the automatic rerun of `target` stands."""
        rerun = target.rerun if target is not None else None
        return self.canaries.stage(key=rerun.key, cause=rerun.cause) if rerun is not None and rerun.automatic else None

    def save(self) -> None:
        self.canaries.save()
        self.storms.save()

    def _channel(self, key: JobKey, incident: Incident | None) -> str:
        """Where the job's occurrence opens, or where the storm is of which it is a row; "": nowhere."""
        if incident is not None and incident.storm is not None:
            return incident.storm.channel
        policy = self._world_of(key).policy
        return (policy.team.channel if policy.team else None) or policy.fallback.channel or ""

    def _licensed(self, read: Read, cause: str) -> bool:
        policy = self._world_of(read.key).policy
        return still_licensed(cause, policy, marks_of(read.memory, policy.safe_marks))
