"""What a decision needs from the database beside its job's own rows, read only where the event may need it. It decides nothing."""

from collections.abc import Mapping
from datetime import datetime

from bot.incidents import chronic
from bot.incidents.events import Event, RunFailed, RunLate, RunStarted, RunSucceeded, ScheduleChanged, TimerDue
from bot.incidents.model import Incident, TimerKind
from bot.intake.surroundings import Read, World, scopes_of
from bot.store import Scope, UnitOfWork


class Looks:
    """The looks of one transaction."""

    def __init__(self, uow: UnitOfWork, now: datetime) -> None:
        self._uow = uow
        self._now = now

    def booked(self, read: Read, target: Incident | None, event: Event, world: World) -> Mapping[Scope, float]:
        """What is booked on the allowances of the job and its team."""
        if target is None and not isinstance(event, RunFailed | RunLate):
            return {}
        if isinstance(event, RunStarted | ScheduleChanged):
            return {}
        return self._uow.booked(scopes=scopes_of(read.key, world.policy, self._now))

    def previous(self, read: Read, target: Incident | None, event: Event, world: World) -> tuple[Incident | None, int]:
        """The newest settled occurrence of the failure that may open one, and how many there were."""
        if target is not None or not isinstance(event, RunFailed | RunLate):
            return None, 0
        since = self._now - world.policy.limits.reopen_within
        return self._uow.previous(job=read.id, fingerprint=event.failure.fingerprint, since=since)

    def recovered(self, read: Read, target: Incident | None, event: Event) -> tuple[datetime, ...]:
        """Earlier recoveries by rerun, where this may be one more, or the owner is to be asked about them."""
        asks = isinstance(event, TimerDue) and event.timer.kind is TimerKind.CHRONIC
        may_recover = isinstance(event, RunSucceeded) and target is not None and target.status.unresolved
        if target is None or not (asks or may_recover):
            return ()
        since = self._now - chronic.LOOK_BACK
        return self._uow.recovered(job=read.id, fingerprint=target.fingerprint, since=since)
