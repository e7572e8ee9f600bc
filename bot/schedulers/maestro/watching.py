"""Reads what one workflow's instances did since they were last read, the cheapest call first, and makes events of it.

It must not report: it changes the memory that it is handed, and whoever drives it keeps that once the events were taken.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from http import HTTPStatus

from bot.incidents.keys import JobKey, Trigger
from bot.schedulers.maestro.client import MaestroClient
from bot.schedulers.maestro.definitions import Definitions
from bot.schedulers.maestro.ends import Ends
from bot.schedulers.maestro.lateness import standing_of
from bot.schedulers.maestro.looking import CLOSE, changed_at, is_due, lives_alone, matters, unseen
from bot.schedulers.maestro.memory import Origin, Seen, WorkflowSeen
from bot.schedulers.maestro.reading import instant
from bot.schedulers.maestro.requests import request_id_of
from bot.schedulers.maestro.runs import Told, is_over, lost_origin, origin_of, part_of, scheduled, started
from bot.schedulers.maestro.shapes import OPEN, QUEUED, Instance, Overview
from bot.sources import JobChange, SourceEvent, Standing
from bot.wire.exchange import NoAnswer, NotSent, Refused, Unwell

FIRST_LOOK = timedelta(hours=1)
OVERLAP = timedelta(minutes=5)
"""So far apart Maestro's clock and ours may be."""
CALL_WITHIN = timedelta(seconds=20)
FIRST_PAGE, PAGE = 20, 200
MOST_PAGES, MOST_PAGES_FOR_LIVING = 25, 3
MOST_RUNS = 20
MOST_FAILURES = 10

SAID_SO = "Maestro answered 404: "
"""What stands before Maestro's own words; a proxy that knows nothing of it has none, and says nothing of the workflow."""

Asked = Callable[[JobKey], Collection[str]]
"""The keys of the reruns and starts that ontrack asked for lately, of that job."""
TROUBLES = (Refused, Unwell, NotSent, NoAnswer)


@dataclass(slots=True)
class Batch:
    """`seen` is what holds once the events were taken. `whole`: nothing more is to be read at once.

    `trouble`: what stopped it; what was read before that stands.
    """

    seen: WorkflowSeen
    events: list[SourceEvent] = field(default_factory=list)
    whole: bool = True
    gone: bool = False
    trouble: Exception | None = None


class Watching:
    """From one thread at a time. `watched`: the workflows that are read, by whose runs those of their parts are told."""

    def __init__(
        self, client: MaestroClient, *, scheduler: str, base: str, watched: Collection[str], asked: Asked
    ) -> None:
        self._client = client
        self._scheduler = scheduler
        self._base = base
        self._watched = frozenset(watched)
        self._asked = asked
        self.definitions = Definitions(client, scheduler=scheduler)
        self._ends = Ends(client, self.definitions)

    def read(self, seen: WorkflowSeen, now: datetime) -> Batch:
        """What is new of the workflow; `seen` is the caller's own copy."""
        batch = Batch(seen=seen)
        try:
            self._read(batch, now)
        except TROUBLES as trouble:
            batch.trouble, batch.whole = trouble, False
        return batch

    def look_at(self, seen: WorkflowSeen, instances: Collection[int], now: datetime) -> Batch:
        """What is new of these instances alone, which something told of."""
        batch = Batch(seen=seen)
        try:
            for number in sorted(instances):
                with self._client.within(CALL_WITHIN):
                    newest = self._client.run(seen.name, number)
                self._add(batch, newest, now)
            batch.events += self._standing(seen, now, after=timedelta())
        except TROUBLES as trouble:
            batch.trouble, batch.whole = trouble, False
        return batch

    def _read(self, batch: Batch, now: datetime) -> None:
        seen = batch.seen
        try:
            with self._client.within(CALL_WITHIN):
                overview = self._client.overview(seen.name)
        except Refused as no:
            if no.status != HTTPStatus.NOT_FOUND or not str(no).startswith(SAID_SO):
                raise
            self._missing(batch, now)
            return
        seen.gone = 0
        self.definitions.met(overview)
        self._read_definition(batch, overview, now)
        if not is_due(seen, overview, now):
            return
        if self._read_instances(batch, overview, now):
            seen.latest, seen.failed = overview.latest_instance_id, overview.failed_instances
            seen.living, seen.read_at = dict(overview.nonterminal_instances), now
            seen.read_to = max(filter(None, (seen.read_to, overview.latest_instance_id)), default=0)
            seen.prune(now)
            batch.events += self._standing(seen, now)

    def _read_definition(self, batch: Batch, overview: Overview, now: datetime) -> None:
        """One that is not shown, or cannot be read, keeps nobody from hearing of the runs."""
        try:
            with self._client.within(CALL_WITHIN):
                change = self.definitions.changed(batch.seen, overview, now)
        except (Refused, Unwell) as no:
            if no.retry_after is not None:
                raise
            self.definitions.put_off(batch.seen.name, str(no), now)
            return
        batch.events += [change] if change is not None else []

    def _standing(self, seen: WorkflowSeen, now: datetime, *, after: timedelta = CLOSE) -> Iterator[SourceEvent]:
        """How its oldest living run stands, where that is not what was told last; one that lives so long already."""
        living = min((number for number, one in seen.instances.items() if lives_alone(one, now, after)), default=None)
        standing = self._standing_of(seen, living) if living is not None else Standing()
        if standing.words != seen.standing:
            seen.standing = standing.words
            yield self.definitions.event(seen.name, JobChange(standing=standing), now, standing.words)

    def _standing_of(self, seen: WorkflowSeen, number: int) -> Standing:
        run = self._newest(seen, number)
        if run is None or run.status not in OPEN:
            return Standing()
        if run.status == QUEUED:
            return standing_of(run, ())
        with self._client.within(CALL_WITHIN):
            return standing_of(run, self._client.steps(seen.name, number, run=run.workflow_run_id))

    def _missing(self, batch: Batch, now: datetime) -> None:
        """Once may be a deployment's doing; twice in a row it is gone."""
        batch.gone = True
        batch.seen.gone += 1
        if batch.seen.gone == 2:
            gone = self.definitions.gone(batch.seen, now)
            batch.events += [gone] if gone is not None else []

    def _read_instances(self, batch: Batch, overview: Overview, now: datetime) -> bool:
        """Whether all were read."""
        seen = batch.seen
        found = {one.workflow_instance_id: one for one in self._pages(seen, overview, now)}
        for number in unseen(seen, found, now):
            newest = self._newest(seen, number)
            if newest is not None:
                found[number] = newest
        since = (seen.read_at - OVERLAP) if seen.read_at is not None else now - FIRST_LOOK
        failures = 0
        for number, instance in sorted(found.items()):
            if not matters(instance, seen, since):
                continue
            self._add(batch, instance, now)
            failures += bool(batch.events) and batch.events[-1].error is not None
            if failures >= MOST_FAILURES and number != max(found):
                batch.whole = False
                return False
        return True

    def _pages(self, seen: WorkflowSeen, overview: Overview, now: datetime) -> Iterator[Instance]:
        """The instances, the newest first, as far back as anything may have changed."""
        living = sum(overview.nonterminal_instances.values())
        cursor: str | None = None
        for page_number in range(MOST_PAGES):
            with self._client.within(CALL_WITHIN):
                page = self._client.instances(
                    seen.name, first=PAGE if page_number else FIRST_PAGE, cursor=cursor, aggregated=False
                )
            yield from page.elements
            living -= sum(one.status in OPEN for one in page.elements)
            cursor = page.page_info.end_cursor
            if not page.elements or not page.page_info.has_next_page or cursor is None:
                return
            oldest = page.elements[-1]
            since = seen.read_at or now - FIRST_LOOK
            behind = (
                oldest.workflow_instance_id <= seen.read_to if seen.read_to is not None else changed_at(oldest) < since
            )
            if behind and (living <= 0 or page_number >= MOST_PAGES_FOR_LIVING):
                return

    def _newest(self, seen: WorkflowSeen, number: int) -> Instance | None:
        try:
            with self._client.within(CALL_WITHIN):
                return self._client.run(seen.name, number)
        except Refused as no:
            if no.status != HTTPStatus.NOT_FOUND:
                raise
            seen.instances.pop(number, None)
            return None

    def _add(self, batch: Batch, newest: Instance, now: datetime) -> None:
        """What is new of an instance, run by run; its memory changes only when all of it was read."""
        seen, number = batch.seen, newest.workflow_instance_id
        known = seen.instances.get(number)
        since = instant(newest.start_time) or instant(newest.create_time) or now
        told = Seen(run=newest.workflow_run_id, status=newest.status, at=now, since=since)
        if known is not None:
            told.origin, told.told = known.origin, list(known.told)
        if told.origin is None:
            told.origin = self._origin(newest)
        events: list[SourceEvent] = []
        told.part = part_of(told.origin, self._watched - {seen.name}) is not None
        if not told.part:
            for run in self._runs(seen, known, newest):
                self._tell(seen, told, run, newest, events, now)
        elif is_over(newest.status):
            told.tell(newest.workflow_run_id, "ended")
        batch.events += events
        seen.instances[number] = told
        due = instant(told.origin.nominal) if told.origin.trigger == Trigger.SCHEDULE else None
        seen.latest_due = max(filter(None, (seen.latest_due, due)), default=None)

    def _runs(self, seen: WorkflowSeen, known: Seen | None, newest: Instance) -> Iterator[Instance]:
        """The runs of which not all was told, the oldest first."""
        last = newest.workflow_run_id
        new = seen.read_to is not None and newest.workflow_instance_id > seen.read_to
        first = known.run if known is not None else 1 if new else last
        for number in range(max(first, last - MOST_RUNS), last):
            if known is None or not known.knows(number, "ended"):
                with self._client.within(CALL_WITHIN):
                    yield self._client.run(newest.workflow_id, newest.workflow_instance_id, run=number)
        yield newest

    def _tell(
        self,
        seen: WorkflowSeen,
        known: Seen,
        run: Instance,
        newest: Instance,
        events: list[SourceEvent],
        now: datetime,
    ) -> None:
        number = run.workflow_run_id
        told = Told(
            scheduler=self._scheduler,
            base=self._base,
            run=run,
            origin=known.origin or lost_origin(run),
            own_key=self._own_key(run),
            good_at=seen.good_at,
        )
        queued = scheduled(told, now) if run.status == QUEUED and not known.knows(number, "scheduled") else None
        if queued is not None:
            events.append(queued)
            known.tell(number, "scheduled")
        start = started(told) if run.status != QUEUED and not known.knows(number, "started") else None
        if start is not None:
            events.append(start)
            known.tell(number, "started")
        if is_over(run.status) and not known.knows(number, "ended"):
            end = self._ends.of(told, seen, latest=run is newest, now=now)
            events += [end] if end is not None else []
            known.tell(number, "ended")

    def _origin(self, newest: Instance) -> Origin:
        if newest.workflow_run_id == 1:
            return origin_of(newest, own_key=self._own_key(newest))
        try:
            with self._client.within(CALL_WITHIN):
                first = self._client.run(newest.workflow_id, newest.workflow_instance_id, run=1)
        except Refused as no:
            if no.retry_after is not None:
                raise
            return lost_origin(newest)
        return origin_of(first, own_key=self._own_key(first))

    def _own_key(self, run: Instance) -> str | None:
        """The schedule's own starts are never ours, so that of most runs nothing is asked."""
        by_hand = run.workflow_run_id > 1 or run.initiator.type.upper() == "MANUAL"
        if not by_hand or not run.workflow_uuid:
            return None
        keys = self._asked(JobKey(scheduler=self._scheduler, name=run.workflow_id))
        return next((key for key in keys if str(request_id_of(key)) == run.workflow_uuid.lower()), None)
