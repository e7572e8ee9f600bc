"""Reruns, starts and stops, made ready: each looks at what is there and returns the call that does it, or says why not.

It must not change anything by itself.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from bot.incidents.keys import RunRef
from bot.incidents.strategy import RunStrategy
from bot.ports import BY_ITSELF, SchedulerRequest
from bot.schedulers.maestro.actions import Allowed
from bot.schedulers.maestro.afresh import NotAfresh, run_time, time_afresh, wants_the_newest
from bot.schedulers.maestro.client import MaestroClient
from bot.schedulers.maestro.finding import newest_instances, rerun_under, start_under
from bot.schedulers.maestro.requests import (
    Done,
    instance_of,
    request_id_of,
    restart_body,
    start_body,
)
from bot.schedulers.maestro.shapes import OPEN, SUCCEEDED, Acted, Instance, Overview
from bot.schedulers.maestro.strategies import forbids, strategy_in
from bot.wire.exchange import Refused

STOPS = ":stop"
"""What the key of a stop adds to the key of the rerun that it stops."""
FIRST_RUN = 1

Send = Callable[[], Acted | Done | None]


class No(Exception):
    """Nothing is asked, and why."""


class Already(Exception):
    """It was asked for before, and how that is known."""


def by(request: SchedulerRequest) -> str | None:
    """The person whom Maestro's timelines shall name; None: nobody decided it."""
    return None if request.requested_by == BY_ITSELF else request.requested_by


class Deeds:
    """What its methods do may raise what the client raises, or `Unsure`; those that make ready also `No` or `Already`."""

    def __init__(self, client: MaestroClient, allowed: Allowed) -> None:
        self._client = client
        self._allowed = allowed

    def found(self, request: SchedulerRequest) -> Instance | None:
        """The run that came of a rerun or start; a rerun from the beginning may be an instance of its own."""
        workflow, request_id = request.job.name, str(request_id_of(request.key))
        instance = instance_of(request.run) if request.run is not None else None
        if instance is None:
            return start_under(self._client, workflow, request_id, since=min(request.nominal_times, default=None))
        rerun = rerun_under(self._client, workflow, instance, request_id)
        return rerun or start_under(self._client, workflow, request_id, above=instance)

    def to_stop(self, request: SchedulerRequest) -> Instance | None:
        """The run of ours that a stop means."""
        return self.found(replace(request, key=request.key.removesuffix(STOPS)))

    def rerun(self, request: SchedulerRequest) -> Send:
        """Run the failed run again: where it stopped, or, `fresh`, from the beginning.

        A restart takes the definition that the run began with. What is `fixed`, or wanted afresh, is started anew where
        another one is active by now.
        """
        workflow, instance = request.job.name, instance_of(request.run) if request.run is not None else None
        if request.run is None or instance is None:
            raise No("no run of Maestro's was named")
        latest = self._client.run(workflow, instance)
        self._may_be_rerun(request, request.run, latest)
        overview = self._client.overview(workflow)
        self._fits(request, overview)
        if wants_the_newest(request, latest, overview):
            try:
                time = time_afresh(request, first=self._first_of(latest), failed=latest, overview=overview)
            except NotAfresh as why:
                if request.fresh:
                    raise No(str(why)) from why
            else:
                return self._in_place_of(request, latest, overview, time)
        body = restart_body(request.key, from_beginning=request.fresh)
        return lambda: self._client.restart(workflow, instance, body, by=by(request))

    def start(self, request: SchedulerRequest) -> Send:
        """Start the run that has not begun."""
        if not request.nominal_times:
            raise No("no nominal time was named")
        workflow, time = request.job.name, request.nominal_times[0]
        if (ours := self.found(request)) is not None:
            raise Already(f"the instance {ours.workflow_instance_id} in Maestro is ours")
        for newest in newest_instances(self._client, workflow, since=time):
            if run_time(newest) == time:
                raise No(f"its run has begun in Maestro meanwhile: the instance {newest.workflow_instance_id}")
        overview = self._client.overview(workflow)
        self._fits(request, overview)
        if not overview.active_version_id:
            raise No("no version of it is active in Maestro")
        body = start_body(request.key, time)
        return lambda: self._client.start(workflow, body, by=by(request))

    def stop(self, request: SchedulerRequest) -> Send:
        ours = self.to_stop(request)
        if ours is None:
            raise No("what runs now was not started by ontrack")
        if not self._allowed.may("STOP", ours.status):
            raise No(f"the run has ended in Maestro meanwhile: {ours.status}")
        workflow, instance, run = request.job.name, ours.workflow_instance_id, ours.workflow_run_id
        return lambda: self._client.stop(workflow, instance, run=run, by=by(request))

    def unblock(self, request: SchedulerRequest) -> Send:
        """Let a failed run hold up the later ones no more; Maestro takes it twice as well as once."""
        workflow, instance = request.job.name, instance_of(request.run) if request.run is not None else None
        if request.run is None or instance is None:
            raise No("no run of Maestro's was named")
        latest = self._client.run(workflow, instance)
        if latest.workflow_run_id > max(request.run.generation, FIRST_RUN):
            raise No(f"somebody started it again in Maestro: its run {latest.workflow_run_id} is {latest.status}")
        if not self._allowed.may("UNBLOCK", latest.status):
            raise No(f"its run in Maestro is {latest.status}, and holds up no later one")
        return lambda: self._client.unblock(workflow, instance, by=by(request))

    def _may_be_rerun(self, request: SchedulerRequest, run: RunRef, latest: Instance) -> None:
        """The run is over, it is the one that is meant, and nobody has begun another of it since."""
        workflow, instance, number = request.job.name, latest.workflow_instance_id, latest.workflow_run_id
        if (ours := self._ours(request, latest, known=max(run.generation, FIRST_RUN))) is not None:
            raise Already(f"its run {ours.workflow_run_id} in Maestro is ours")
        if latest.status in OPEN:
            raise No(f"its run {number} in Maestro is {latest.status}: somebody started it again")
        if latest.status == SUCCEEDED and self._client.instance(workflow, instance).status == SUCCEEDED:
            raise No("it has succeeded in Maestro meanwhile")
        if number != max(run.generation, FIRST_RUN):
            raise No(f"somebody started it again in Maestro: its run {number} is {latest.status}")
        root = _root_of(latest)
        if root is not None and root != (workflow, str(instance)):
            raise No(f"it is a part of the instance {root[1]} of {root[0]}, which is what can be started again")
        if not self._allowed.may("RESTART", latest.status):
            raise No(f"Maestro lets no run be started again that is {latest.status}")

    def _ours(self, request: SchedulerRequest, latest: Instance, *, known: int) -> Instance | None:
        """What came of this very request before: a run after the `known` one, or an instance of its own."""
        workflow, instance, request_id = request.job.name, latest.workflow_instance_id, str(request_id_of(request.key))
        again = latest.workflow_run_id > known
        rerun = rerun_under(self._client, workflow, instance, request_id) if again else None
        if rerun is None and (request.fresh or request.fixed):
            return start_under(self._client, workflow, request_id, above=instance)
        return rerun

    def _fits(self, request: SchedulerRequest, overview: Overview) -> None:
        against = forbids(overview, automatic=request.requested_by == BY_ITSELF)
        if against:
            raise No(against)

    def _first_of(self, run: Instance) -> Instance:
        """What began its instance: only that run tells how it came about."""
        if run.workflow_run_id == FIRST_RUN:
            return run
        return self._client.run(run.workflow_id, run.workflow_instance_id, run=FIRST_RUN)

    def _in_place_of(self, request: SchedulerRequest, failed: Instance, overview: Overview, time: datetime) -> Send:
        """Start by the active definition. A failed run that holds up all later ones is let go first: it is one of them."""
        workflow, instance, body = request.job.name, failed.workflow_instance_id, start_body(request.key, time)
        strict = strategy_in(overview.properties_snapshot) is RunStrategy.STRICT_SEQUENTIAL
        blocks = strict and self._allowed.may("UNBLOCK", failed.status)

        def send() -> Acted:
            if blocks:
                self._let_go(workflow, instance, by(request))
            return self._client.start(workflow, body, by=by(request))

        return send

    def _let_go(self, workflow: str, instance: int, person: str | None) -> None:
        """Maestro refuses it of one that holds up nothing any more, which is as well."""
        try:
            self._client.unblock(workflow, instance, by=person)
        except Refused as no:
            if no.retry_after is not None:
                raise


def _root_of(run: Instance) -> tuple[str, str] | None:
    """The workflow and the instance that it is a part of, by the correlation id that all parts of one share."""
    parts = (run.correlation_id or "").rsplit(":", 2)
    if len(parts) == len(("workflow", "instance", "run")):
        return parts[0], parts[1]
    ancestors = run.initiator.ancestors
    return (ancestors[0].workflow_id, str(ancestors[0].instance_id)) if ancestors else None
