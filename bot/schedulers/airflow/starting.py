"""Begins a run that Airflow's schedule has not begun, exactly as the schedule would have, under an id of its own.

It must not begin a run of a time of which there is one, or may be one: Airflow keeps the id and the logical date unique.
"""

from datetime import UTC, datetime
from http import HTTPStatus

from bot.ports import Looked, SchedulerRequest
from bot.schedulers.airflow.answers import Already, No, Send
from bot.schedulers.airflow.client import AirflowClient
from bot.schedulers.airflow.notes import holds, note_of
from bot.schedulers.airflow.shapes import DagRun, Slot
from bot.wire.exchange import Refused

ID = "ontrack__{:%Y-%m-%dT%H:%M:%S%z}"


class Starting:
    """Raises what the client raises, `No` and `Already`."""

    def __init__(self, client: AirflowClient) -> None:
        self._client = client

    def prepare(self, request: SchedulerRequest) -> Send:
        due = _due(request)
        found = self._begun(request, due)
        if found is not None and holds(found.note, request.key):
            raise Already("it was asked for before, by the run's note")
        if found is not None:
            raise No(f"ontrack has started a run of that time before: it is {found.state}")
        slot = self._slot(request.job.name, due)
        note = note_of(request, None)

        def send() -> None:
            try:
                self._client.start(request.job.name, id_of(due), slot, note=note)
            except Refused as no:
                if no.status == HTTPStatus.CONFLICT:
                    raise Refused(no.status, "Airflow has begun a run of that time meanwhile") from no
                raise

        return send

    def look(self, request: SchedulerRequest) -> Looked:
        found = self._begun(request, _due(request))
        return Looked.STARTED if found is not None and holds(found.note, request.key) else Looked.NOT_STARTED

    def _begun(self, request: SchedulerRequest, due: datetime) -> DagRun | None:
        try:
            return self._client.run(request.job.name, id_of(due))
        except Refused as no:
            if no.status == HTTPStatus.NOT_FOUND:
                return None
            raise

    def _slot(self, name: str, due: datetime) -> Slot:
        """The slot of the schedule of that time. Airflow tells only of the next one: which interval an earlier one had,
        nobody but its timetable knows."""
        dag = self._client.dag(name)
        if dag.is_stale:
            raise No("the DAG is gone from Airflow")
        if dag.is_paused:
            raise No("the DAG is paused in Airflow: a run of it would only be queued")
        slot = dag.next_slot
        if slot is None:
            raise No("Airflow tells of no next run of it, so that its data interval is not known")
        if slot.ends_at != due:
            at = slot.ends_at.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
            raise No(f"Airflow's schedule has gone past that time: its next run is that of {at}")
        return slot


def id_of(due: datetime) -> str:
    """The id of the run that we start for that time: there is one in all."""
    return ID.format(due.astimezone(UTC))


def _due(request: SchedulerRequest) -> datetime:
    if not request.nominal_times:
        raise No("no time was named")
    return request.nominal_times[0]
