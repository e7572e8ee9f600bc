"""Maestro as the scheduler port: what can be asked of it, and what the last poll told of its schedules.

It must not poll: what runs do is read elsewhere.
"""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from bot.incidents.keys import Capability, JobKey
from bot.incidents.policy import Schedule
from bot.policies.specs import MaestroSpec
from bot.ports import Clock, Looked, SchedulerAnswer, SchedulerRequest
from bot.schedulers.maestro.asking import Asking
from bot.schedulers.maestro.client import MaestroClient
from bot.schedulers.maestro.history import History
from bot.schedulers.patience import Patient, slept
from bot.sources import SourceEvent
from bot.wire.exchange import JsonWire

STALE = timedelta(minutes=15)
"""What was read longer ago is no word of Maestro's any more: somebody else may poll it by now."""

log = logging.getLogger(__name__)


class MaestroScheduler:
    """Asked again under one key it makes no second run of it, but says so only once the first has ended: it is looked at
    first, by the id that our key gives each request and that Maestro shows as the run's uuid."""

    deduplicates = False
    can = frozenset(
        {
            Capability.RERUN,
            Capability.FRESH_START,
            Capability.START,
            Capability.UNBLOCK,
            Capability.PAUSE,
            Capability.RESUME,
            Capability.RETIRE,
            Capability.STOP,
            Capability.NEXT_RUN,
        }
    )

    def __init__(
        self,
        spec: MaestroSpec,
        *,
        clock: Clock,
        wire: JsonWire | None = None,
        wait: Callable[[timedelta], None] = slept,
    ) -> None:
        self.name = spec.name
        self.spec = spec
        self._wire = wire or JsonWire(spec.url)
        self.client = MaestroClient(self._wire, user=spec.user, token=spec.token, clock=clock)
        self._asking = Asking(self.client, clock=clock)
        self._lock = threading.Lock()
        self._clock = clock
        self._wait = wait
        self._next: Mapping[str, datetime | None] = {}
        self._learned_at: datetime | None = None

    def ask(self, request: SchedulerRequest) -> SchedulerAnswer:
        answer = self._asking.ask(request)
        told = {"scheduler": self.name, "action": request.action, "key": request.key, "answer": answer.taken}
        log.info("scheduler asked", extra=told)
        return answer

    def look(self, request: SchedulerRequest) -> Looked:
        return self._asking.look(request)

    def schedule_of(self, job: JobKey) -> Schedule | None:
        with self._lock:
            stale = self._learned_at is None or self._clock() - self._learned_at > STALE
            if stale or job.name not in self._next:
                return None
            return Schedule(next_run_at=self._next[job.name])

    def history(self, *, since: datetime, until: datetime) -> Iterator[Sequence[SourceEvent]]:
        """As `bot.ports.Historian` says."""
        patient = Patient(self.client, clock=self._clock, wait=self._wait)
        history = History(self.client, patient, scheduler=self.name, base=self.spec.url, workflows=self.spec.workflows)
        return history.read(since, until)

    def learn(self, next_runs: Mapping[str, datetime | None]) -> None:
        """What a poll read: when each workflow runs next; None for one that is paused or has no schedule."""
        with self._lock:
            self._next, self._learned_at = dict(next_runs), self._clock()

    def close(self) -> None:
        """Close the kept connections."""
        self._wire.close()
