"""The local scheduler: starts what is due, does what is asked, and reports every run to intake.

`step` is driven by one thread, whoever holds the clock; `ask`, `look` and `reload` may be called from any.
"""

import threading
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path

from bot.cron import next_after
from bot.incidents.keys import Capability, JobKey, RunRef
from bot.incidents.policy import Schedule
from bot.ports import Clock, Looked, Report, SchedulerAnswer, SchedulerRequest, Taken
from bot.schedulers.local.asking import Asking
from bot.schedulers.local.claims import Claims
from bot.schedulers.local.job import LocalJob
from bot.schedulers.local.records import Standing, written
from bot.schedulers.local.requests import Requests
from bot.schedulers.local.runs import Runs
from bot.schedulers.local.standings import Standings

CAUGHT_UP = timedelta(seconds=60)


class LocalScheduler:
    """Runs declared commands; everything that must outlive us lies under `state`, which only one process may drive.

    `woken` is called, from any thread, when `step` has something to do before the instant that it returned:
    a run has ended, or was started by a request.
    """

    deduplicates = False
    can = frozenset(
        {
            Capability.RERUN,
            Capability.START,
            Capability.PAUSE,
            Capability.RESUME,
            Capability.RETIRE,
            Capability.STOP,
            Capability.NEXT_RUN,
            Capability.COST,
        }
    )

    def __init__(
        self,
        name: str,
        jobs: Mapping[str, LocalJob],
        *,
        state: Path,
        clock: Clock,
        report: Report,
        woken: Callable[[], None] = lambda: None,
    ) -> None:
        self.name = name
        self._jobs = dict(jobs)
        self._state = state.absolute()
        self._clock = clock
        self._report = report
        self._woken = woken
        self._lock = threading.RLock()
        self._ready = False
        self._runs = Runs(scheduler=name, claims=Claims(self._state / "runs"), clock=clock, woken=woken)
        self._requests = Requests(self._state / "asked")
        self._standings = Standings(self._state / "jobs.json")
        self._asking = Asking(runs=self._runs, requests=self._requests, standings=self._standings)
        self._begun_until: dict[str, datetime] = {}
        self._due: dict[str, datetime | None] = {}

    def reload(self, jobs: Mapping[str, LocalJob]) -> None:
        """Go on with other declarations; runs that live end as they began."""
        with self._lock:
            now = self._clock()
            for name, job in jobs.items():
                before = self._jobs.get(name)
                if before is None or before.schedule != job.schedule:
                    self._begun_until[name] = max(now, self._begun_until.get(name, now))
            self._jobs = dict(jobs)
            self._due.clear()
        self._woken()

    def schedule_of(self, job: JobKey) -> Schedule | None:
        declared = self._jobs.get(job.name)
        return declared.schedule if declared is not None else None

    def ask(self, request: SchedulerRequest) -> SchedulerAnswer:
        try:
            with self._lock:
                now = self._clock()
                self._prepare(now)
                answer = self._asking.ask(request, jobs=self._jobs, now=now)
                self._due.pop(request.job.name, None)
        except (OSError, ValueError, KeyError) as error:
            return SchedulerAnswer(taken=Taken.UNCERTAIN, message=str(error))
        if answer.taken is Taken.TAKEN:
            self._woken()
        return answer

    def look(self, request: SchedulerRequest) -> Looked:
        try:
            with self._lock:
                return self._asking.look(request)
        except (OSError, ValueError, KeyError):
            return Looked.CANNOT_TELL

    def step(self, now: datetime) -> datetime | None:
        """Note what has ended, start what is due or was waiting, report; return when the next run is due.

        Raises what `report` raises, after everything due was started; what was not taken is reported again next time.
        """
        with self._lock:
            self._prepare(now)
            self._runs.collect()
            self._asking.go_on(self._jobs)
            self._start_due(now)
            untold = self._runs.untold()
            upcoming = min((at for name in self._jobs if (at := self._next(name, now)) is not None), default=None)
        if untold:
            self._report([one.event for one in untold])
            with self._lock:
                self._runs.mark_told(untold)
                self._runs.prune()
        return upcoming

    def _prepare(self, now: datetime) -> None:
        """Look at what an earlier process left, once, and meet the jobs that are new."""
        if not self._ready:
            self._runs.adopt()
            self._requests.load(now)
            self._standings.load()
            self._ready = True
        self._standings.meet(self._jobs, now)

    def _start_due(self, now: datetime) -> None:
        for name, job in self._jobs.items():
            while (nominal := self._next(name, now)) is not None and nominal <= now:
                self._start(name, job, nominal)
                self._begun_until[name] = nominal
                del self._due[name]

    def _start(self, name: str, job: LocalJob, nominal: datetime) -> None:
        run = RunRef(run_id=f"scheduled__{written(nominal)}", nominal_time=nominal)
        living = self._runs.living(name)
        if living and not job.overlap:
            self._runs.skip(name=name, run=run, reason=f"{living[0].run.run_id} of this job still runs")
        else:
            self._runs.begin(name=name, job=job, run=run)

    def _next(self, name: str, now: datetime) -> datetime | None:
        """The job's next nominal time to start. What was missed by a minute or more is left to the deadlines."""
        schedule = self._jobs[name].schedule
        state = self._standings.of(name)
        if schedule is None or state.standing is not Standing.ACTIVE:
            return None
        known = self._due.get(name)
        if name not in self._due or (known is not None and known <= now - CAUGHT_UP):
            newest = self._begun_until.get(name) or self._runs.newest_nominal_time(name) or state.since
            known = next_after(schedule, max(newest, state.since, now - CAUGHT_UP))
            self._due[name] = known
        return known
