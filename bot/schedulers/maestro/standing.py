"""Pauses, resumptions and retirements, made ready: each looks at the workflow and returns the call, or says why not.

It must not change anything by itself, and it touches nothing that runs.
"""

import re
from collections.abc import Mapping
from operator import itemgetter

from bot.incidents.keys import Action
from bot.ports import SchedulerRequest
from bot.schedulers.maestro.client import MaestroClient
from bot.schedulers.maestro.deeds import Already, No, Send, by

PAUSED_ALREADY = (
    "its schedule is paused in Maestro already, and ontrack resumes only what it paused: leave it until then, or have it "
    "resumed there first"
)
_WAS_ACTIVE = re.compile(r"deactivated workflow \[[^\]]*\] whose last active version is \[(\d+)\]")
"""How a workflow's own history tells a deactivation (Maestro's `MaestroWorkflowDao`)."""


class Standing:
    """What its methods do may raise what the client raises; those that make ready also `No` or `Already`."""

    def __init__(self, client: MaestroClient) -> None:
        self._client = client

    def in_force(self, request: SchedulerRequest) -> bool:
        """Whether what was asked is so in Maestro."""
        overview = self._client.overview(request.job.name)
        if request.action is Action.RETIRE:
            return not overview.active_version_id
        if request.action is Action.RESUME and not overview.active_version_id:
            return False
        properties = overview.properties_snapshot
        stopped = properties is not None and bool(properties.time_trigger_disabled)
        return stopped == (request.action is Action.PAUSE)

    def pause(self, request: SchedulerRequest) -> Send:
        """Only its schedule: what a signal or a person starts goes on."""
        definition = self._client.definition(request.job.name, enriched=False)
        if not definition.workflow.time_triggers:
            raise No("no schedule of Maestro starts it, so that there is none to pause")
        if definition.properties_snapshot.time_trigger_disabled:
            raise No(PAUSED_ALREADY)
        return self._set(request, {"time_trigger_disabled": True})

    def resume(self, request: SchedulerRequest) -> Send:
        """Its schedule goes on; of a retired workflow the version that was active becomes so again."""
        workflow = request.job.name
        if self._client.overview(workflow).active_version_id:
            return self._set(request, {"time_trigger_disabled": False})
        version = self._last_active(workflow)
        if version is None:
            raise No(
                "no version of it is active in Maestro, and its history does not tell which was: activate one there"
            )
        return lambda: self._client.activate(workflow, version, by=by(request))

    def retire(self, request: SchedulerRequest) -> Send:
        workflow = request.job.name
        if not self._client.overview(workflow).active_version_id:
            raise Already("no version of it is active in Maestro any more")
        return lambda: self._client.deactivate(workflow, by=by(request))

    def _last_active(self, workflow: str) -> int | None:
        lines = self._client.changes(workflow).timeline_events
        told = [(line.timestamp or 0, found) for line in lines if (found := _WAS_ACTIVE.search(line.log or ""))]
        return int(max(told, key=itemgetter(0))[1][1]) if told else None

    def _set(self, request: SchedulerRequest, properties: Mapping[str, bool]) -> Send:
        return lambda: self._client.set_properties(request.job.name, properties, by=by(request))
