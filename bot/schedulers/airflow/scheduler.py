"""Airflow as the scheduler port: what can be asked of it, and what the last poll told of its schedules.

It must not poll: what runs do is read by `polling`.
"""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from bot.incidents.keys import Capability, JobKey
from bot.incidents.policy import Schedule
from bot.policies.specs import AirflowSpec
from bot.ports import Clock, Looked, SchedulerAnswer, SchedulerRequest, Taken
from bot.schedulers.airflow.asking import Asking
from bot.schedulers.airflow.client import AirflowClient
from bot.schedulers.airflow.history import History
from bot.schedulers.airflow.tokens import Tokens
from bot.schedulers.patience import Patient, slept
from bot.sources import SourceEvent
from bot.wire.exchange import JsonWire

FIRST_ANSWER_WITHIN = timedelta(seconds=30)
STALE = timedelta(minutes=15)
"""What was read longer ago is no word of Airflow's any more: somebody else may poll it by now."""

log = logging.getLogger(__name__)


class AirflowScheduler:
    """Asked again under one key it would clear again, so that it must be looked at first: it does not deduplicate.

    Its API does not tell the clear number. Our clear and our key in the run's note are one transaction of Airflow's, and
    its audit log keeps the key when the note is written over: a run that failed and holds the key in neither was not
    cleared by us.
    """

    deduplicates = False
    can = frozenset(
        {
            Capability.RERUN,
            Capability.START,
            Capability.FRESH_START,
            Capability.PAUSE,
            Capability.RESUME,
            Capability.STOP,
            Capability.NEXT_RUN,
        }
    )

    def __init__(
        self,
        spec: AirflowSpec,
        *,
        clock: Clock,
        wire: JsonWire | None = None,
        wait: Callable[[timedelta], None] = slept,
    ) -> None:
        """`wait` is how the reading of its past pauses."""
        self.name = spec.name
        self.spec = spec
        self._wire = wire or JsonWire(spec.url)
        self.client = AirflowClient(self._wire, Tokens(spec, self._wire, clock=clock), clock=clock)
        self._asking = Asking(self.client)
        self._lock = threading.Lock()
        self._clock = clock
        self._wait = wait
        self._next: Mapping[str, datetime | None] = {}
        self._learned_at: datetime | None = None

    def ask(self, request: SchedulerRequest) -> SchedulerAnswer:
        if Capability(request.action.value) not in self.can:
            message = f"{self.name} cannot be asked to {request.action}"
            return SchedulerAnswer(taken=Taken.REFUSED, message=message)
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
        patient = Patient(self.client, clock=self._clock, wait=self._wait, at_first=FIRST_ANSWER_WITHIN)
        return History(self.client, patient, scheduler=self.name, base=self.spec.url).read(since, until)

    def learn(self, next_runs: Mapping[str, datetime | None]) -> None:
        """What a poll read: when each DAG runs next; None for one that is paused or has no schedule."""
        with self._lock:
            self._next, self._learned_at = dict(next_runs), self._clock()

    def close(self) -> None:
        """Close the kept connections."""
        self._wire.close()
