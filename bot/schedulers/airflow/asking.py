"""Asks Airflow for one thing, and looks whether it was done: reruns by clearing, starts, stops of our own runs, pauses.

It must not do anything to a run that lives, but stop a rerun of ours, and it never clears twice by itself.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from bot.incidents.keys import Action, RunRef
from bot.ports import Looked, SchedulerAnswer, SchedulerRequest
from bot.schedulers.airflow.answers import TROUBLES, Already, No, Send, changed, prepared, refused
from bot.schedulers.airflow.audit import OF_RUNS, Deed, Done, asked_under, deeds_of
from bot.schedulers.airflow.client import AirflowClient
from bot.schedulers.airflow.notes import WORDS, holds, marks_in, note_of
from bot.schedulers.airflow.shapes import Audited, DagRun
from bot.schedulers.airflow.starting import Starting
from bot.wire.exchange import Unwell

WITHIN = timedelta(seconds=28)
ENDED = ("success", "failed")
LIVING_TASKS = frozenset(
    {"scheduled", "queued", "running", "restarting", "up_for_retry", "up_for_reschedule", "deferred", "awaiting_input"}
)
BEGINNING = datetime(1970, 1, 2, tzinfo=UTC)
MOST_AUDITED = 1000
STOPS = ":stop"
"""What the key of a stop adds to the key of the rerun that it stops."""

Prepare = Callable[[SchedulerRequest, RunRef, DagRun], Send]
PAUSED_ALREADY = (
    "the DAG is paused in Airflow already, and ontrack resumes only what it paused: leave it until then, or have it "
    "resumed there first"
)


class Asking:
    """One request at a time a thread, each within 30 s in all. Neither method raises."""

    def __init__(self, client: AirflowClient) -> None:
        self._client = client
        self._starting = Starting(client)

    def ask(self, request: SchedulerRequest) -> SchedulerAnswer:
        with self._client.within(WITHIN):
            match request.action:
                case Action.PAUSE:
                    return prepared(lambda: self._to_pause(request))
                case Action.RESUME:
                    return changed(lambda: self._pause(request, paused=False))
                case Action.RERUN:
                    return self._prepared(request, self._rerun)
                case Action.START:
                    return prepared(lambda: self._starting.prepare(request))
                case Action.STOP:
                    return self._prepared(request, self._stop)
                case _:
                    return refused(f"Airflow cannot be asked to {request.action}")

    def look(self, request: SchedulerRequest) -> Looked:
        with self._client.within(WITHIN):
            try:
                return self._looked(request)
            except (*TROUBLES, No):
                return Looked.CANNOT_TELL

    def _to_pause(self, request: SchedulerRequest) -> Send:
        if self._client.dag(request.job.name).is_paused:
            raise No(PAUSED_ALREADY)
        return lambda: self._pause(request, paused=True)

    def _pause(self, request: SchedulerRequest, *, paused: bool) -> None:
        self._client.pause(request.job.name, paused=paused)

    def _prepared(self, request: SchedulerRequest, prepare: Prepare) -> SchedulerAnswer:
        """Look at the run first."""

        def looked() -> Send:
            if request.run is None:
                raise No("no run was named")
            found = self._client.run(request.job.name, request.run.run_id)
            if holds(found.note, request.key):
                raise Already("it was asked for before, by the run's note")
            return prepare(request, request.run, found)

        return prepared(looked)

    def _rerun(self, request: SchedulerRequest, run: RunRef, found: DagRun) -> Send:
        dag, only_failed = request.job.name, not request.fresh
        if found.state not in ENDED:
            raise No(f"the run is {found.state} in Airflow: somebody started it again")
        if found.state == "success":
            raise No("the run has succeeded in Airflow meanwhile")
        tasks = self._client.would_clear(dag, run.run_id, only_failed=only_failed)
        if not tasks:
            raise No("no task of the run failed: Airflow would run nothing again")
        living = next((task for task in tasks if task.state in LIVING_TASKS), None)
        if living is not None:
            raise No(f"the task {living.called} of the run is {living.state}: Airflow is at it by itself")
        note, latest = note_of(request, found.note), request.fixed or request.fresh
        return lambda: self._client.clear(dag, run.run_id, only_failed=only_failed, latest=latest, note=note)

    def _stop(self, request: SchedulerRequest, run: RunRef, found: DagRun) -> Send:
        if found.state in ENDED:
            raise No(f"the run has ended in Airflow meanwhile: {found.state}")
        newest = self._newest_start(request.job.name, run.run_id)
        note, word = (found.note, Action.START) if newest is None else (newest.note, Action.RERUN)
        ours = [mark for mark in marks_in(note) if mark.action == WORDS[word]]
        if not ours or request.key.removesuffix(STOPS) != ours[-1].key:
            raise No("what runs now was not started by ontrack, by Airflow's audit log")
        said = note_of(request, found.note)
        return lambda: self._client.mark_failed(request.job.name, run.run_id, note=said)

    def _newest_start(self, dag: str, run_id: str) -> Done | None:
        starts = (Deed.CLEARED, Deed.QUEUED)
        done = [one for row in self._audited(dag, run_id) for _, one in deeds_of(row) if one.deed in starts]
        return max(done, key=lambda one: one.id, default=None)

    def _looked(self, request: SchedulerRequest) -> Looked:
        if request.action in (Action.PAUSE, Action.RESUME):
            in_force = self._client.dag(request.job.name).is_paused == (request.action is Action.PAUSE)
            return Looked.STARTED if in_force else Looked.NOT_STARTED
        if request.action is Action.START:
            return self._starting.look(request)
        if request.run is None or request.action not in (Action.RERUN, Action.STOP):
            return Looked.CANNOT_TELL
        dag, run_id = request.job.name, request.run.run_id
        found = self._client.run(dag, run_id)
        if request.action is Action.STOP:
            return Looked.STARTED if found.state in ENDED else Looked.NOT_STARTED
        if holds(found.note, request.key) or found.state != "failed":
            return Looked.STARTED
        rows = self._audited(dag, run_id)
        clears = {done.id for row in rows for _, done in deeds_of(row) if done.deed is Deed.CLEARED}
        if asked_under(rows, request.key) or len(clears) > request.run.generation:
            return Looked.STARTED
        return Looked.NOT_STARTED

    def _audited(self, dag: str, run_id: str) -> list[Audited]:
        """All that the audit log tells of one run."""
        rows: list[Audited] = []
        while len(rows) < MOST_AUDITED:
            page = self._client.audited(OF_RUNS, after=BEGINNING, offset=len(rows), run=(dag, run_id))
            rows += page.event_logs
            if not page.event_logs or len(rows) >= page.total_entries:
                return rows
        raise Unwell("its audit log of this run has no end")
