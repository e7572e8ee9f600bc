"""Asks Maestro for one thing, and looks whether it was done: restarts, starts, stops of our own, pauses.

It must not do anything to a run that lives, but stop one of ours, and it asks for nothing twice by itself.
"""

from collections.abc import Callable
from datetime import timedelta

from bot.incidents.keys import Action
from bot.ports import Clock, Looked, SchedulerAnswer, SchedulerRequest, Taken
from bot.schedulers.maestro.actions import Allowed
from bot.schedulers.maestro.client import MaestroClient
from bot.schedulers.maestro.deeds import Already, Deeds, No, Send
from bot.schedulers.maestro.finding import Unsure
from bot.schedulers.maestro.requests import request_id_of
from bot.schedulers.maestro.shapes import ENDED, Acted
from bot.schedulers.maestro.standing import Standing
from bot.wire.exchange import NoAnswer, NotSent, Refused, Unwell

WITHIN = timedelta(seconds=28)
AGAIN_AFTER = timedelta(seconds=10)
TROUBLES = (Refused, Unwell, NotSent, NoAnswer, Unsure)

Prepare = Callable[[SchedulerRequest], Send]


class Asking:
    """One request at a time a thread, each within 30 s in all. Neither method raises."""

    def __init__(self, client: MaestroClient, *, clock: Clock) -> None:
        self._client = client
        self._deeds = deeds = Deeds(client, Allowed(client, clock=clock))
        self._standing = standing = Standing(client)
        self._prepare: dict[Action, Prepare] = {
            Action.RERUN: deeds.rerun,
            Action.START: deeds.start,
            Action.STOP: deeds.stop,
            Action.UNBLOCK: deeds.unblock,
            Action.PAUSE: standing.pause,
            Action.RESUME: standing.resume,
            Action.RETIRE: standing.retire,
        }

    def ask(self, request: SchedulerRequest) -> SchedulerAnswer:
        with self._client.within(WITHIN):
            return self._asked(request, self._prepare[request.action])

    def look(self, request: SchedulerRequest) -> Looked:
        with self._client.within(WITHIN):
            try:
                return self._looked(request)
            except TROUBLES:
                return Looked.CANNOT_TELL

    def _asked(self, request: SchedulerRequest, prepare: Prepare) -> SchedulerAnswer:
        """Look first; whatever goes wrong before the request itself has changed nothing."""
        try:
            send = prepare(request)
        except Already as known:
            return SchedulerAnswer(taken=Taken.ALREADY, message=str(known))
        except No as no:
            return SchedulerAnswer(taken=Taken.REFUSED, message=str(no))
        except Refused as no:
            return SchedulerAnswer(taken=Taken.REFUSED, message=str(no), retry_after=no.retry_after)
        except Unwell as unwell:
            wait = unwell.retry_after or AGAIN_AFTER
            return SchedulerAnswer(taken=Taken.REFUSED, message=str(unwell), retry_after=wait)
        except (NotSent, NoAnswer, Unsure) as nothing:
            return SchedulerAnswer(taken=Taken.REFUSED, message=str(nothing), retry_after=AGAIN_AFTER)
        return self._sent(request, send)

    def _sent(self, request: SchedulerRequest, send: Send) -> SchedulerAnswer:
        try:
            acted = send()
        except Refused as no:
            return self._refused(request, no)
        except NotSent as nothing:
            return SchedulerAnswer(taken=Taken.REFUSED, message=str(nothing), retry_after=AGAIN_AFTER)
        except (Unwell, NoAnswer) as unknown:
            return SchedulerAnswer(taken=Taken.UNCERTAIN, message=str(unknown))
        return self._begun(request, acted) if isinstance(acted, Acted) else SchedulerAnswer(taken=Taken.TAKEN)

    def _refused(self, request: SchedulerRequest, no: Refused) -> SchedulerAnswer:
        """Maestro refuses a second request under one id while the run of the first lives: then it has been taken."""
        plain = SchedulerAnswer(taken=Taken.REFUSED, message=str(no), retry_after=no.retry_after)
        if request.action not in (Action.RERUN, Action.START):
            return plain
        return self._verified(request, otherwise=plain)

    def _begun(self, request: SchedulerRequest, acted: Acted) -> SchedulerAnswer:
        """What the answer to a restart or start says of how it went; its HTTP code said only that it was heard."""
        if acted.workflow_uuid is not None and acted.workflow_uuid.lower() != str(request_id_of(request.key)):
            message = "Maestro handed the request on to another run, of which nothing more is known here"
            return SchedulerAnswer(taken=Taken.UNCERTAIN, message=message)
        match acted.status:
            case "CREATED":
                return SchedulerAnswer(taken=Taken.TAKEN, message=_told(acted))
            case "DUPLICATED":
                return SchedulerAnswer(taken=Taken.ALREADY, message="Maestro had this request before")
            case "STOPPED":
                message = "Maestro created the run stopped: its run strategy lets no other live beside it"
                return SchedulerAnswer(taken=Taken.REFUSED, message=message)
            case "INTERNAL_ERROR":
                message = "Maestro could not begin the run: an internal error"
                return self._verified(request, otherwise=SchedulerAnswer(taken=Taken.REFUSED, message=message))
            case _:
                message = f"Maestro answered with the status {acted.status}, which is not known here"
                return self._verified(request, otherwise=SchedulerAnswer(taken=Taken.UNCERTAIN, message=message))

    def _verified(self, request: SchedulerRequest, *, otherwise: SchedulerAnswer) -> SchedulerAnswer:
        """ALREADY where a run under our request is there, `otherwise` where surely none is."""
        try:
            found = self._deeds.found(request)
        except TROUBLES as unknown:
            message = f"{otherwise.message}; whether a run came of it cannot be told: {unknown}"
            return SchedulerAnswer(taken=Taken.UNCERTAIN, message=message)
        if found is None:
            return otherwise
        return SchedulerAnswer(taken=Taken.ALREADY, message=f"its run {found.workflow_run_id} in Maestro is ours")

    def _looked(self, request: SchedulerRequest) -> Looked:
        match request.action:
            case Action.RERUN | Action.START:
                return Looked.NOT_STARTED if self._deeds.found(request) is None else Looked.STARTED
            case Action.STOP:
                found = self._deeds.to_stop(request)
                if found is None:
                    return Looked.CANNOT_TELL
                return Looked.STARTED if found.status in ENDED else Looked.NOT_STARTED
            case Action.UNBLOCK:
                return Looked.CANNOT_TELL
            case _:
                return Looked.STARTED if self._standing.in_force(request) else Looked.NOT_STARTED


def _told(acted: Acted) -> str:
    """Which run it is, by which definition."""
    if acted.workflow_instance_id is None or acted.workflow_version_id is None:
        return ""
    run = f"run {acted.workflow_run_id} of " if acted.workflow_run_id else ""
    return f"{run}the instance {acted.workflow_instance_id} in Maestro, by version {acted.workflow_version_id}"
