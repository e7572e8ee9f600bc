"""Maestro's past for an import: the runs of each workflow that ended in a stretch of time, in the order of their instances.

Paced like a poll; a run that went well at once costs no call of its own. It must not report anything, or change what the
poller remembers.
"""

import logging
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from http import HTTPStatus

from bot.ports import HistoryDown
from bot.schedulers.maestro import runs
from bot.schedulers.maestro.client import MaestroClient
from bot.schedulers.maestro.definitions import Definitions
from bot.schedulers.maestro.ends import Ends
from bot.schedulers.maestro.errors import Failed
from bot.schedulers.maestro.looking import changed_at
from bot.schedulers.maestro.memory import Origin, WorkflowSeen
from bot.schedulers.maestro.reading import instant
from bot.schedulers.maestro.runs import Told, is_over, lost_origin, origin_of, part_of
from bot.schedulers.maestro.shapes import FAILED, Instance
from bot.schedulers.patience import Patient
from bot.sources import SourceEvent
from bot.wire.exchange import Refused

PAGE = 200
MOST_PAGES = 2000
MOST_LOGS = 50
"""Of so many failures of a workflow the steps are read, the oldest first."""
NOT_READ = "ontrack read the steps of only so many failures of this workflow"

log = logging.getLogger(__name__)


class History:
    """One reading of the past, a workflow after the other."""

    def __init__(
        self, client: MaestroClient, patient: Patient, *, scheduler: str, base: str, workflows: Collection[str]
    ) -> None:
        self._client = client
        self._patient = patient
        self._scheduler = scheduler
        self._base = base
        self._workflows = tuple(dict.fromkeys(workflows))
        self._definitions = Definitions(client, scheduler=scheduler)
        self._ends = Ends(client, self._definitions, measures=False)
        self._logs = 0

    def read(self, since: datetime, until: datetime) -> Iterator[Sequence[SourceEvent]]:
        """Page by page. Raises `HistoryDown`. A workflow that Maestro does not know is left out, loudly."""
        for name in self._workflows:
            try:
                yield from self._workflow(name, since, until)
            except Refused as no:
                if no.status != HTTPStatus.NOT_FOUND:
                    raise HistoryDown(f"its runs are not shown: {no}") from no
                told = {"scheduler": self._scheduler, "workflow": name, "error": str(no)}
                log.warning("a workflow has no past to read", extra=told)

    def _workflow(self, name: str, since: datetime, until: datetime) -> Iterator[Sequence[SourceEvent]]:
        self._definitions.met(self._patient.asked(self._client.overview, name))
        self._logs = 0
        seen = WorkflowSeen(name=name)
        for cursor in reversed(self._cursors(name, since)):
            page = self._patient.asked(self._client.instances, name, first=PAGE, cursor=cursor)
            told: list[tuple[datetime, int, SourceEvent]] = []
            for newest in sorted(page.elements, key=lambda one: one.workflow_instance_id):
                told += self._told(newest, seen, since, until)
            yield [event for *_, event in sorted(told, key=lambda one: one[:2])]

    def _cursors(self, name: str, since: datetime) -> list[str]:
        """Where each page begins, the newest first, so that they can be read the other way round: new instances shift none."""
        found: list[str] = []
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            page = self._patient.asked(self._client.instances, name, first=PAGE, cursor=cursor)
            if not page.elements or all(changed_at(one) < since for one in page.elements):
                return found
            found.append(cursor or str(page.elements[0].workflow_instance_id + 1))
            cursor = page.page_info.end_cursor
            if not page.page_info.has_next_page or cursor is None:
                return found
        raise HistoryDown(f"{name} has more instances since than are read: ask for a shorter time")

    def _told(
        self, newest: Instance, seen: WorkflowSeen, since: datetime, until: datetime
    ) -> Iterator[tuple[datetime, int, SourceEvent]]:
        """The ends of the instance's runs with their starts, each with the instant by which it is put in order."""
        if changed_at(newest) < since:
            return
        all_runs = self._runs(newest)
        origin = self._origin(all_runs[0])
        if part_of(origin, frozenset(self._workflows) - {seen.name}) is not None:
            return
        for run in all_runs:
            ended_at = instant(run.end_time)
            if not is_over(run.status) or ended_at is None or not since <= ended_at < until:
                continue
            told = Told(scheduler=self._scheduler, base=self._base, run=run, origin=origin, good_at=seen.good_at)
            start = runs.started(told)
            end = self._end(told, seen, latest=run is all_runs[-1])
            for number, event in enumerate((start, end)):
                if event is not None:
                    yield ended_at, number, event

    def _runs(self, newest: Instance) -> list[Instance]:
        """All runs of the instance, the first first."""
        if newest.workflow_run_id == 1:
            return [newest]
        page = self._patient.asked(self._client.runs, newest.workflow_id, newest.workflow_instance_id, first=PAGE)
        earlier = [run for run in page.elements if run.workflow_run_id < newest.workflow_run_id]
        return [*sorted(earlier, key=lambda run: run.workflow_run_id), newest]

    def _origin(self, first: Instance) -> Origin:
        return origin_of(first) if first.workflow_run_id == 1 else lost_origin(first)

    def _end(self, told: Told, seen: WorkflowSeen, *, latest: bool) -> SourceEvent | None:
        run = told.run
        at = instant(run.end_time) or changed_at(run)
        if run.status in FAILED and self._logs >= MOST_LOGS:
            return runs.failed(told, Failed(unread=NOT_READ), {}, at)
        self._logs += run.status in FAILED
        return self._patient.asked(self._ends.of, told, seen, latest=latest, now=at)
