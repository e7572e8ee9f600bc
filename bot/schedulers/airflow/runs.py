"""Reads the runs that changed, of all DAGs together, and makes events of them; one page at a time.

It must not report: whoever drives it does, and says when that is done, so that nothing counts as told before it is.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from bot.schedulers.airflow.asking import ENDED
from bot.schedulers.airflow.audit import OF_RUNS, deeds_of
from bot.schedulers.airflow.client import AirflowClient
from bot.schedulers.airflow.events import Failed, Told, by_hand, ended, started
from bot.schedulers.airflow.failures import failure_of
from bot.schedulers.airflow.memory import Memory, Seen
from bot.schedulers.airflow.shapes import DagRun
from bot.sources import SourceEvent
from bot.wire.exchange import NoAnswer, NotSent, Refused, Unwell

FIRST_LOOK = timedelta(hours=1)
FIRST_HEARING = timedelta(days=30)
OVERLAP = timedelta(minutes=2)
CALL_WITHIN = timedelta(seconds=20)
MOST_FAILURES = 20
MOST_AUDIT_PAGES = 200
TRIES = 3
STARTED = "started"


@dataclass(slots=True)
class _Sweep:
    """One reading of all that changed `since`; the next one begins where this one began."""

    since: datetime
    began_at: datetime
    offset: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Events to report, and what counts as told when they are. `more`: there is more to read at once.

    `trouble`: what stopped it; what was read before that stands.
    """

    events: tuple[SourceEvent, ...]
    told: tuple[tuple[Seen, str], ...]
    runs: int
    trouble: Exception | None = None


class Runs:
    """`read`, report, `done`: in this order, from one thread."""

    def __init__(self, client: AirflowClient, memory: Memory, *, scheduler: str, base: str) -> None:
        self._client = client
        self._memory = memory
        self._scheduler = scheduler
        self._base = base
        self._sweep: _Sweep | None = None
        self._behind = False
        self._waiting: tuple[DagRun, ...] = ()
        self._stuck: tuple[str, int] = ("", 0)

    @property
    def more(self) -> bool:
        """Whether there is something to go on with at once."""
        return self._sweep is not None or self._behind

    def read(self, now: datetime) -> Batch:
        """Raises what the client raises where nothing could be read."""
        if not self._waiting:
            self._read_page(now)
        events: list[SourceEvent] = []
        told: list[tuple[Seen, str]] = []
        failures = runs = 0
        for run in self._waiting:
            try:
                made = self._events_of(run, now)
            except (Refused, Unwell, NotSent, NoAnswer) as trouble:
                self._count_stuck(run)
                return Batch(events=tuple(events), told=tuple(told), runs=runs, trouble=trouble)
            runs += 1
            for event, seen, word in made:
                events.append(event)
                told.append((seen, word))
                failures += event.error is not None
            if failures >= MOST_FAILURES:
                break
        return Batch(events=tuple(events), told=tuple(told), runs=runs)

    def done(self, batch: Batch) -> None:
        """The events of the batch were taken."""
        for seen, word in batch.told:
            seen.told.append(word)
        self._waiting = self._waiting[batch.runs :]
        sweep = self._sweep
        if sweep is not None and not self._waiting and sweep.offset >= sweep.total and batch.trouble is None:
            self._memory.read_to = sweep.began_at
            self._sweep = None

    def _read_page(self, now: datetime) -> None:
        sweep = self._sweep
        if sweep is None:
            since = self._memory.read_to
            sweep = _Sweep(since=since - OVERLAP if since else now - FIRST_LOOK, began_at=now)
        with self._client.within(CALL_WITHIN):
            page = self._client.changed_runs(sweep.since, offset=sweep.offset)
        if self._sweep is None:
            sweep.began_at = _instant(self._client.server_time) or now
        self._behind = not self._hear(sweep.began_at)
        if self._behind:
            return
        sweep.offset += len(page.dag_runs)
        sweep.total = page.total_entries if page.dag_runs else sweep.offset
        self._sweep, self._waiting = sweep, page.dag_runs

    def _hear(self, at: datetime) -> bool:
        """Read the audit log after the runs, so that whatever a run shows has been heard of; False where there is more.
        One that is not shown to us leaves clears to be told by `queued_at`."""
        heard = self._memory.heard_to
        after = heard - OVERLAP if heard is not None else at - FIRST_HEARING
        offset = 0
        for _ in range(MOST_AUDIT_PAGES):
            try:
                with self._client.within(CALL_WITHIN):
                    page = self._client.audited(OF_RUNS, after=after, offset=offset)
            except Refused as no:
                if no.retry_after is not None:
                    raise
                return True
            for row in page.event_logs:
                for name, done in deeds_of(row):
                    self._memory.hear(name, done)
                self._memory.heard_to = max(row.when, heard or row.when)
            offset += len(page.event_logs)
            if not page.event_logs or offset >= page.total_entries:
                self._memory.heard_to = at
                return True
        return False

    def _events_of(self, run: DagRun, now: datetime) -> list[tuple[SourceEvent, Seen, str]]:
        """What is new of this run."""
        seen = self._memory.meet(run, now)
        told = Told(
            scheduler=self._scheduler,
            base=self._base,
            run=run,
            generation=seen.generation,
            done=self._memory.done_to((run.dag_id, run.dag_run_id)),
            dag=self._memory.dags.get(run.dag_id),
        )
        made: list[tuple[SourceEvent, Seen, str]] = []
        start = started(told) if STARTED not in seen.told else None
        if start is not None:
            made.append((start, seen, STARTED))
        if run.state in ENDED and run.state not in seen.told:
            failed = run.state == "failed" and by_hand(told) is None
            made.append((ended(told, self._failure(run) if failed else Failed(), now=now), seen, run.state))
        return made

    def _failure(self, run: DagRun) -> Failed:
        try:
            return failure_of(self._client, run)
        except (Unwell, NotSent, NoAnswer) as trouble:
            if self._stuck[0] == _name(run) and self._stuck[1] >= TRIES - 1:
                return Failed(unread=f"its tasks were not shown in {TRIES} tries: {trouble}")
            raise

    def _count_stuck(self, run: DagRun) -> None:
        name, tries = self._stuck
        self._stuck = (_name(run), tries + 1 if name == _name(run) else 1)


def _name(run: DagRun) -> str:
    return f"{run.dag_id}\n{run.dag_run_id}"


def _instant(date: str | None) -> datetime | None:
    """Airflow's own clock, by the `Date` of its answer."""
    try:
        return parsedate_to_datetime(date).astimezone(UTC) if date else None
    except ValueError:
        return None
