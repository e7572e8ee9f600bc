"""Airflow's past for an import: the runs of all DAGs that ended in a stretch of time, in the order of their ends.

Paced like a poll; a good run costs no call of its own. It must not report anything, or change what the poller remembers.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.ports import HistoryDown
from bot.schedulers.airflow.audit import OF_RUNS, Deed, Done, RunName, deeds_of
from bot.schedulers.airflow.client import AirflowClient
from bot.schedulers.airflow.dags import seen_of
from bot.schedulers.airflow.earlier import Earlier, earlier_of
from bot.schedulers.airflow.events import Failed, Told, by_hand, ended, started
from bot.schedulers.airflow.failures import LAST, with_log
from bot.schedulers.airflow.memory import DagSeen, begun_by
from bot.schedulers.airflow.runs import FIRST_HEARING
from bot.schedulers.airflow.shapes import DagRun, TaskInstance
from bot.schedulers.patience import Patient
from bot.sources import SourceEvent
from bot.wire.exchange import Refused

MOST_AUDIT_PAGES = 2000
MOST_CLEARED = 2000
MOST_TASK_PAGES, MOST_TRIED = 5, 10
MOST_LOGS_A_DAG, MOST_LOGS = 50, 5000


@dataclass(slots=True)
class _Known:
    """What was read before the runs: what was done to them, their DAGs, and how cleared ones had ended, the first first."""

    deeds: dict[RunName, list[Done]] = field(default_factory=dict)
    dags: dict[str, DagSeen] = field(default_factory=dict)
    earlier: list[Earlier] = field(default_factory=list)


class History:
    """One reading of the past."""

    def __init__(self, client: AirflowClient, patient: Patient, *, scheduler: str, base: str) -> None:
        self._client = client
        self._patient = patient
        self._scheduler = scheduler
        self._base = base
        self._logs: Counter[str] = Counter()

    def read(self, since: datetime, until: datetime) -> Iterator[Sequence[SourceEvent]]:
        """Page by page. Raises `HistoryDown`."""
        known = _Known()
        self._hear(known, min(since, until - FIRST_HEARING))
        self._meet_dags(known)
        self._look_back(known, since, until)
        for page in self._runs(since, until):
            events: list[SourceEvent] = []
            for run in page:
                while known.earlier and run.end_date is not None and known.earlier[0].ended_at <= run.end_date:
                    events += self._told_earlier(known, known.earlier.pop(0))
                events += self._told(known, run, until)
            yield events
        yield [event for one in known.earlier for event in self._told_earlier(known, one)]

    def _runs(self, since: datetime, until: datetime) -> Iterator[Sequence[DagRun]]:
        """By their ends, each page beginning where the last one ended, so that no run that is cleared meanwhile shifts the
        others; many that ended at one instant are read on by number."""
        cursor, offset, there = since, 0, set[RunName]()
        while True:
            try:
                page = self._patient.asked(self._client.ended_runs, cursor, until=until, offset=offset)
            except Refused as no:
                raise HistoryDown(f"its runs are not shown: {no}") from no
            yield [run for run in page.dag_runs if run.end_date is not None and _name(run) not in there]
            if not page.dag_runs or offset + len(page.dag_runs) >= page.total_entries:
                return
            last = page.dag_runs[-1].end_date or cursor
            if last > cursor:
                cursor, offset = last, 0
                there = {_name(run) for run in page.dag_runs if run.end_date == last}
            else:
                offset += len(page.dag_runs)
                there |= {_name(run) for run in page.dag_runs}

    def _hear(self, known: _Known, after: datetime) -> None:
        """The audit log. Where it is not shown to us, a run that was cleared looks as if it had gone well at once."""
        offset = 0
        for _ in range(MOST_AUDIT_PAGES):
            try:
                page = self._patient.asked(self._client.audited, OF_RUNS, after=after, offset=offset)
            except Refused:
                return
            for row in page.event_logs:
                for name, done in deeds_of(row):
                    known.deeds.setdefault(name, []).append(done)
            offset += len(page.event_logs)
            if not page.event_logs or offset >= page.total_entries:
                return

    def _meet_dags(self, known: _Known) -> None:
        offset, total = 0, 1
        while offset < total:
            try:
                page = self._patient.asked(self._client.dags, offset=offset)
            except Refused:
                return
            known.dags |= {dag.dag_id: seen_of(dag) for dag in page.dags}
            offset += len(page.dags)
            total = page.total_entries if page.dags else offset

    def _look_back(self, known: _Known, since: datetime, until: datetime) -> None:
        """How the runs had ended that were cleared since; of very many the last ones."""
        cleared = {
            name: max(one.at for one in done if one.deed is Deed.CLEARED)
            for name, done in known.deeds.items()
            if any(one.deed is Deed.CLEARED for one in done)
        }
        for name in sorted(cleared, key=lambda each: cleared[each])[-MOST_CLEARED:]:
            try:
                found = self._earlier(name, known.deeds[name])
            except Refused:
                continue
            known.earlier += [one for one in found if since <= one.ended_at < until]
        known.earlier.sort(key=lambda one: one.ended_at)

    def _earlier(self, name: RunName, done: Sequence[Done]) -> list[Earlier]:
        run = self._patient.asked(self._client.run, *name)
        tasks: list[TaskInstance] = []
        for _ in range(MOST_TASK_PAGES):
            page = self._patient.asked(self._client.tasks, *name, offset=len(tasks))
            tasks += page.task_instances
            if not page.task_instances or len(tasks) >= page.total_entries:
                break
        tries = [one for one in tasks if one.try_number <= 1]
        for task in [one for one in tasks if one.try_number > 1][:MOST_TRIED]:
            tries += self._patient.asked(self._client.tries, *name, task).task_instances
        return earlier_of(run, tries, begun_by(run, list(done)))

    def _told(self, known: _Known, run: DagRun, until: datetime) -> list[SourceEvent]:
        done = known.deeds.get(_name(run), [])
        generation = sum(one.deed is Deed.CLEARED for one in begun_by(run, done))
        told = self._as_told(known, run, generation, done)
        if run.state == "failed" and by_hand(told) is None:
            return _events(told, self._failure(run), until)
        return _events(told, Failed(), until)

    def _told_earlier(self, known: _Known, one: Earlier) -> list[SourceEvent]:
        told = self._as_told(known, one.run, one.generation, one.done)
        failed = self._with_log(one.run, one.failed) if one.failed else Failed()
        return _events(told, failed, one.ended_at)

    def _as_told(self, known: _Known, run: DagRun, generation: int, done: Sequence[Done]) -> Told:
        return Told(
            scheduler=self._scheduler,
            base=self._base,
            run=run,
            generation=generation,
            done=done,
            dag=known.dags.get(run.dag_id),
        )

    def _failure(self, run: DagRun) -> Failed:
        try:
            page = self._patient.asked(self._client.failed_tasks, run.dag_id, run.dag_run_id)
        except Refused as no:
            return Failed(unread=f"its tasks were not shown: {no}")
        return self._with_log(run, page.task_instances)

    def _with_log(self, run: DagRun, tasks: Sequence[TaskInstance]) -> Failed:
        in_order = tuple(sorted(tasks, key=lambda one: one.end_date or LAST))
        if not in_order:
            return Failed(unread="Airflow tells of no failed task in this run")
        if self._logs[run.dag_id] >= MOST_LOGS_A_DAG or self._logs.total() >= MOST_LOGS:
            most = f"an import reads {MOST_LOGS_A_DAG} logs of a DAG, and {MOST_LOGS} in all"
            return Failed(tasks=in_order, total=len(in_order), unread=f"its log was not read: {most}")
        self._logs[run.dag_id] += 1
        return self._patient.asked(with_log, self._client, run, in_order, total=len(in_order))


def _name(run: DagRun) -> RunName:
    return run.dag_id, run.dag_run_id


def _events(told: Told, failed: Failed, now: datetime) -> list[SourceEvent]:
    """Its end; of one that was begun again also its start, which tells by whom."""
    start = started(told) if told.generation else None
    end = ended(told, failed, now=now)
    return [start, end] if start is not None else [end]
