"""Makes the schedulers that policies.yaml declares, and keeps those that run jobs here in step with it."""

import threading
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path

from bot.incidents.keys import Capability, JobKey
from bot.incidents.policy import Schedule
from bot.policies.model import Policies
from bot.policies.specs import AirflowSpec, LocalJobSpec, LocalSpec, MaestroSpec, SchedulerSpec, WebhookSpec
from bot.ports import Clock, Looked, Report, Scheduler, SchedulerAnswer, SchedulerRequest, Taken
from bot.schedulers.airflow.polling import AirflowPoller
from bot.schedulers.airflow.scheduler import AirflowScheduler
from bot.schedulers.local.job import LocalJob
from bot.schedulers.local.scheduler import LocalScheduler
from bot.schedulers.maestro.polling import MaestroPoller
from bot.schedulers.maestro.scheduler import MaestroScheduler
from bot.schedulers.maestro.watching import Asked
from bot.schedulers.webhook import WebhookScheduler


class OnlyReports:
    """A source of which nothing can be asked (`type: events`): it only reports."""

    can: frozenset[Capability] = frozenset()
    deduplicates = False

    def __init__(self, name: str) -> None:
        self.name = name

    def ask(self, request: SchedulerRequest) -> SchedulerAnswer:
        return SchedulerAnswer(taken=Taken.REFUSED, message=f"{self.name} only reports: nothing can be asked of it")

    def look(self, request: SchedulerRequest) -> Looked:
        return Looked.NOT_STARTED

    def schedule_of(self, job: JobKey) -> Schedule | None:
        return None


def connected(spec: SchedulerSpec) -> Scheduler:
    """A scheduler of another kind reports through the doors and cannot be asked."""
    if isinstance(spec, WebhookSpec):
        return WebhookScheduler(spec, clock=lambda: datetime.now(UTC))
    if isinstance(spec, AirflowSpec):
        return AirflowScheduler(spec, clock=lambda: datetime.now(UTC))
    if isinstance(spec, MaestroSpec):
        return MaestroScheduler(spec, clock=lambda: datetime.now(UTC))
    return OnlyReports(spec.name)


Connect = Callable[[SchedulerSpec], Scheduler]
"""Makes the scheduler that a declaration means, for those that run elsewhere."""
Poller = AirflowPoller | MaestroPoller


def nothing_asked(_job: JobKey) -> Collection[str]:
    """Where nobody asks for reruns, none is ours."""
    return ()


class Schedulers:
    """All schedulers by name, the local ones to be driven, and those that must be polled.

    `state` is where local runs live; directories of local jobs are seen from `base`, where policies.yaml is.
    `connect` makes those that run elsewhere; `asked` tells what was asked of them, by which a run is known as ours.
    """

    def __init__(
        self,
        *,
        state: Path,
        base: Path,
        clock: Clock,
        report: Report,
        woken: Callable[[], None],
        connect: Connect,
        asked: Asked = nothing_asked,
    ) -> None:
        self._connect = connect
        self._asked = asked
        self._state = state
        self._base = base
        self._clock = clock
        self._report = report
        self._woken = woken
        self._by_name: dict[str, Scheduler] = {}
        self._local: dict[str, LocalScheduler] = {}
        self._elsewhere: dict[str, tuple[SchedulerSpec, Scheduler]] = {}
        self._pollers: dict[str, Poller] = {}
        self._making = threading.Lock()

    def all(self) -> Mapping[str, Scheduler]:
        return self._by_name

    def follow(self, policies: Policies) -> None:
        """Make what is new in `policies`, change what changed, drop what is gone (its running jobs go on to their end)."""
        local = dict(self._local)
        made: dict[str, Scheduler] = {}
        for name, spec in policies.schedulers.items():
            if isinstance(spec, LocalSpec):
                local[name] = self._followed(local.get(name), spec)
                made[name] = local[name]
            else:
                made[name] = self._connected(spec)
        self._local = {name: scheduler for name, scheduler in local.items() if name in made}
        self._by_name = made
        self._elsewhere = {name: known for name, known in self._elsewhere.items() if made.get(name) is known[1]}
        self._pollers = {name: poller for name, poller in self._pollers.items() if name in made}

    def forget(self) -> None:
        """Make the local ones and the pollers anew at the next `follow`: another process drove them meanwhile."""
        self._local = {}
        self._pollers = {}

    def local(self) -> Collection[str]:
        """The names of those that run jobs here."""
        return self._local.keys()

    def step(self, now: datetime) -> datetime | None:
        """Drive the local schedulers: start what is due, collect what ended; returns when the next is due."""
        due = [scheduler.step(now) for scheduler in self._local.values()]
        return min((at for at in due if at is not None), default=None)

    def poll(self, now: datetime) -> datetime | None:
        """Read what is due of the schedulers that must be polled; returns when the next is due.

        It waits for them: call it from a thread of its own, where this process leads. Raises what `report` raises.
        """
        polled = [one for one in self._by_name.values() if isinstance(one, AirflowScheduler | MaestroScheduler)]
        return min((self._poller(one).step(now) for one in polled), default=None)

    def queues(self) -> Mapping[str, MaestroSpec]:
        """Those whose events come by a queue."""
        specs = {one.name: one.spec for one in self._by_name.values() if isinstance(one, MaestroScheduler)}
        return {name: spec for name, spec in specs.items() if spec.queue_url}

    def look_at(self, name: str, told: Mapping[str, Collection[int]], now: datetime) -> None:
        """Read at once what the queue of that scheduler told of. Raises what its client and `report` raise."""
        scheduler = self._by_name.get(name)
        poller = self._poller(scheduler) if isinstance(scheduler, MaestroScheduler) else None
        if isinstance(poller, MaestroPoller):
            poller.look_at(told, now)

    def _connected(self, spec: SchedulerSpec) -> Scheduler:
        """One whose declaration did not change stays as it is: it holds connections, a token and what it read."""
        known = self._elsewhere.get(spec.name)
        if known is not None and known[0] == spec:
            return known[1]
        scheduler = self._connect(spec)
        self._elsewhere[spec.name] = (spec, scheduler)
        self._pollers.pop(spec.name, None)
        return scheduler

    def _poller(self, scheduler: AirflowScheduler | MaestroScheduler) -> Poller:
        """Made when it is first driven: whoever does not lead has no use for what was read before."""
        with self._making:
            known = self._pollers.get(scheduler.name)
            if known is None:
                known = self._pollers[scheduler.name] = self._made(scheduler)
            return known

    def _made(self, scheduler: AirflowScheduler | MaestroScheduler) -> Poller:
        state = self._state / scheduler.name
        if isinstance(scheduler, AirflowScheduler):
            return AirflowPoller(scheduler, state=state, report=self._report)
        return MaestroPoller(scheduler, state=state, report=self._report, asked=self._asked)

    def _followed(self, known: LocalScheduler | None, spec: LocalSpec) -> LocalScheduler:
        jobs = {name: _job(job, self._base) for name, job in spec.jobs.items()}
        if known is not None:
            known.reload(jobs)
            return known
        return LocalScheduler(
            spec.name,
            jobs,
            state=self._state / spec.name,
            clock=self._clock,
            report=self._report,
            woken=self._woken,
        )


def _job(spec: LocalJobSpec, base: Path) -> LocalJob:
    return LocalJob(
        command=spec.command,
        schedule=spec.schedule,
        directory=base / (spec.directory or "."),
        timeout=spec.timeout,
        memory=spec.memory,
        inputs=spec.inputs,
        env=dict(spec.env),
        overlap=spec.overlap,
    )
