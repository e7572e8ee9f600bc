"""What the scheduler port may ask of local jobs, carried out: each key once, each refusal with words.

It decides nothing about whether a rerun is allowed; that was decided before it was asked.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from bot.incidents.keys import Action, RunRef, Trigger
from bot.ports import Looked, SchedulerAnswer, SchedulerRequest, Taken
from bot.schedulers.local.job import LocalJob
from bot.schedulers.local.records import Asked, JobState, Standing, stem, written
from bot.schedulers.local.requests import Requests
from bot.schedulers.local.runs import Runs
from bot.schedulers.local.standings import Standings

STANDINGS = {Action.PAUSE: Standing.PAUSED, Action.RESUME: Standing.ACTIVE, Action.RETIRE: Standing.RETIRED}


class Asking:
    """One instance a scheduler, called under the scheduler's lock."""

    def __init__(self, *, runs: Runs, requests: Requests, standings: Standings) -> None:
        self._runs = runs
        self._requests = requests
        self._standings = standings

    def ask(self, request: SchedulerRequest, *, jobs: Mapping[str, LocalJob], now: datetime) -> SchedulerAnswer:
        name = request.job.name
        if name not in jobs and request.action is not Action.STOP:
            return refused(f"there is no local job {name!r}")
        if self._requests.find(request) is not None:
            return SchedulerAnswer(taken=Taken.ALREADY, message="taken before under the same key")
        if request.action is Action.STOP:
            return self._stop(request, now)
        if request.action in STANDINGS:
            return self._change_standing(request, now)
        return self._start(request, jobs=jobs, now=now)

    def look(self, request: SchedulerRequest) -> Looked:
        """Requests take effect when they are taken, so that there is nothing between started and not."""
        asked = self._requests.find(request)
        if asked is None or (asked.ended and not asked.begun):
            return Looked.NOT_STARTED
        return Looked.STARTED

    def go_on(self, jobs: Mapping[str, LocalJob]) -> None:
        """Begin the runs whose turn has come: oldest first, one process of a job at a time."""
        for asked in self._requests.waiting():
            job = jobs.get(asked.job)
            while job is not None and asked.left and not self._must_wait(asked, job):
                self._runs.begin(name=asked.job, job=job, run=asked.left[0], request_key=asked.key, by=asked.by)
                self._requests.advance(asked)
                asked = replace(asked, begun=asked.begun + 1)

    def _must_wait(self, asked: Asked, job: LocalJob) -> bool:
        living = self._runs.living(asked.job)
        return any(not job.overlap or record.request_key == asked.key for record in living)

    def _start(self, request: SchedulerRequest, *, jobs: Mapping[str, LocalJob], now: datetime) -> SchedulerAnswer:
        name = request.job.name
        if self._standings.of(name).standing is Standing.RETIRED:
            return refused(f"{name} is retired; resume it first")
        wanted = self._wanted(request)
        if not wanted:
            return refused("no run was named to run again")
        if any(run.nominal_time is not None and run.nominal_time > now for run in wanted):
            return refused("a run that is not due yet is left to the schedule")
        asked = taken(request, now, runs=wanted)
        if not self._requests.take(asked):
            return SchedulerAnswer(taken=Taken.ALREADY, message="taken before under the same key")
        self.go_on(jobs)
        if self._runs.is_claimed(name, wanted[0]):
            return SchedulerAnswer(taken=Taken.TAKEN, message=f"started {wanted[0].run_id}")
        return SchedulerAnswer(taken=Taken.TAKEN, message="starts when the run that lives has ended")

    def _wanted(self, request: SchedulerRequest) -> tuple[RunRef, ...]:
        """The runs that a request names, each as a generation that nobody has claimed or was promised."""
        trigger = Trigger.RERUN if request.action is Action.RERUN else Trigger.MANUAL
        failed = request.run if request.action is Action.RERUN else None
        times = request.nominal_times
        if not times and failed is not None and failed.nominal_time is not None:
            times = (failed.nominal_time,)
        named = [RunRef(run_id=f"scheduled__{written(at)}", nominal_time=at) for at in sorted(set(times))]
        if not named and failed is not None:
            named = [RunRef(run_id=failed.run_id)]
        if not named and request.action is Action.START:
            named = [RunRef(run_id=f"manual__{request.key}")]
        return tuple(
            replace(run, trigger=trigger, generation=self._generation(request.job.name, run, failed) + 1)
            for run in named
        )

    def _generation(self, name: str, run: RunRef, failed: RunRef | None) -> int:
        same = stem(name, run)
        promised = [
            left.generation
            for asked in self._requests.waiting()
            for left in asked.left
            if asked.job == name and stem(name, left) == same
        ]
        told = [failed.generation] if failed is not None and stem(name, failed) == same else []
        return max([self._runs.generation(name, run), *promised, *told])

    def _change_standing(self, request: SchedulerRequest, now: datetime) -> SchedulerAnswer:
        standing = STANDINGS[request.action]
        name = request.job.name
        if self._standings.of(name).key != request.key:
            self._standings.change(JobState(job=name, standing=standing, since=now, key=request.key))
        self._requests.take(taken(request, now))
        return SchedulerAnswer(taken=Taken.TAKEN, message=f"{name} is {standing}")

    def _stop(self, request: SchedulerRequest, now: datetime) -> SchedulerAnswer:
        waiting = [asked for asked in self._requests.waiting() if self._is_meant(request, asked)]
        living = self._runs.living(request.job.name)
        own = [record for record in living if record.request_key is not None and names(request.run, record.run)]
        if not own and not waiting:
            others = [record for record in living if names(request.run, record.run)]
            return refused("only a run that was asked for can be stopped" if others else "no such run lives")
        keys = {record.request_key for record in own}
        for asked in self._requests.waiting():
            if asked in waiting or asked.key in keys:
                self._requests.end(asked)
        told = [record for record in own if self._runs.stop(record.claim, by=request.requested_by)]
        if not told and not waiting:
            return refused("the run had ended")
        self._requests.take(taken(request, now))
        return SchedulerAnswer(taken=Taken.TAKEN, message="told to end" if told else "not begun, and will not be")

    def _is_meant(self, request: SchedulerRequest, asked: Asked) -> bool:
        return asked.job == request.job.name and any(names(request.run, run) for run in asked.left)


def taken(request: SchedulerRequest, now: datetime, *, runs: tuple[RunRef, ...] = ()) -> Asked:
    return Asked(
        key=request.key,
        action=request.action,
        job=request.job.name,
        by=request.requested_by,
        asked_at=now,
        runs=runs,
    )


def refused(message: str) -> SchedulerAnswer:
    return SchedulerAnswer(taken=Taken.REFUSED, message=message)


def names(wanted: RunRef | None, run: RunRef) -> bool:
    """Whether a stop means this run: every own one, or that run id in that generation or a later one."""
    return wanted is None or (run.run_id == wanted.run_id and run.generation >= wanted.generation)
