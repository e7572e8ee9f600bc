"""Reads the definitions of workflows, seldom, and tells of those that changed: next start, owner, strategy, signals, gone.

It must not report, and what it learned counts only once the event was taken: it stands in the memory that is handed in.
"""

import hashlib
import logging
from collections import OrderedDict
from datetime import datetime, timedelta
from http import HTTPStatus

import msgspec

from bot.incidents.keys import JobKey
from bot.incidents.policy import Schedule
from bot.incidents.strategy import RunStrategy
from bot.schedulers.maestro.client import MaestroClient
from bot.schedulers.maestro.expecting import expected_start, next_start
from bot.schedulers.maestro.facts import strategy_of
from bot.schedulers.maestro.lateness import silenced, target_of
from bot.schedulers.maestro.memory import Held, WorkflowSeen
from bot.schedulers.maestro.ownership import owner_of
from bot.schedulers.maestro.shapes import Definition, Overview, Properties, Step
from bot.schedulers.maestro.signals import Uses, uses_of
from bot.sources import JobChange, SourceEvent, SourceKind
from bot.wire.exchange import Refused

EVERY = timedelta(minutes=5)
SOON = timedelta(minutes=1)
MOST_KEPT = 2000

log = logging.getLogger(__name__)


class Definitions:
    """From one thread at a time. The definitions of versions never change, so that each is read once."""

    def __init__(self, client: MaestroClient, *, scheduler: str) -> None:
        self._client = client
        self._scheduler = scheduler
        self._versions: OrderedDict[tuple[str, int], Definition] = OrderedDict()
        self._properties: dict[str, Properties] = {}
        self._read_at: dict[str, datetime] = {}
        self._put_off: dict[str, tuple[datetime, str]] = {}
        self.next_starts: dict[str, datetime | None] = {}

    def met(self, overview: Overview) -> None:
        """An overview shows the properties as they are now."""
        if overview.properties_snapshot is not None:
            self._properties[overview.workflow_id] = overview.properties_snapshot

    def of_version(self, workflow: str, version: int | None) -> Definition | None:
        """The definition by which a run ran, with the properties as they are now; None where it is not shown."""
        if version is None:
            return None
        found = self._versions.get((workflow, version))
        if found is None:
            try:
                found = self._client.definition(workflow, version=version, enriched=False)
            except Refused as no:
                if no.retry_after is not None:
                    raise
                return None
            self._versions[workflow, version] = found
            while len(self._versions) > MOST_KEPT:
                self._versions.popitem(last=False)
        properties = self._properties.get(workflow)
        return msgspec.structs.replace(found, properties_snapshot=properties) if properties is not None else found

    def changed(self, seen: WorkflowSeen, overview: Overview, now: datetime) -> SourceEvent | None:
        """What there is to be told of the workflow itself; None where nothing changed, or it was read a short while ago."""
        if not self._is_due(seen, overview, now):
            self.next_starts[seen.name] = seen.held.expected if seen.held is not None else None
            return None
        definition = self._client.definition(seen.name)
        self._read_at[seen.name] = now
        self._put_off.pop(seen.name, None)
        before = seen.held
        version = definition.metadata.workflow_version_id
        uses = self._uses(seen, definition, version)
        expected = expected_start(seen, next_start(definition, now), now)
        change = _change(definition, expected, uses)
        word = _word(change)
        snapshot = overview.properties_snapshot
        seen.held = Held(
            version=overview.default_version_id,
            properties=snapshot.create_time if snapshot is not None else None,
            expected=expected,
            word=word,
            strategy=strategy_of(definition.properties_snapshot.run_strategy),
            reads=list(uses.reads),
            writes=list(uses.writes),
            filled=not uses.open,
        )
        self.next_starts[seen.name] = expected
        if before is not None and before.word == word:
            return None
        return self.event(seen.name, change, now, word)

    def look_again(self, workflow: str) -> None:
        """Something told that it changed."""
        self._read_at.pop(workflow, None)

    def put_off(self, workflow: str, why: str, now: datetime) -> None:
        """It was not shown: read it again later. Said once."""
        if self._put_off.get(workflow, (now, ""))[1] != why:
            told = {"scheduler": self._scheduler, "workflow": workflow, "error": why}
            log.warning("a definition of maestro cannot be read", extra=told)
        self._put_off[workflow] = now + EVERY, why

    def gone(self, seen: WorkflowSeen, now: datetime) -> SourceEvent | None:
        """Maestro does not know the workflow (any more); None where it was not known before either."""
        self.next_starts[seen.name] = None
        if seen.held is None:
            return None
        seen.held = None
        return self.event(seen.name, JobChange(schedule=Schedule(), deleted=True), now, "deleted")

    def _is_due(self, seen: WorkflowSeen, overview: Overview, now: datetime) -> bool:
        held, read_at = seen.held, self._read_at.get(seen.name)
        put_off = self._put_off.get(seen.name)
        if put_off is not None and now < put_off[0]:
            return False
        snapshot = overview.properties_snapshot
        if held is None or read_at is None or held.version != overview.default_version_id:
            return True
        if snapshot is not None and snapshot.create_time != held.properties:
            return True
        begins = held.expected is not None and held.expected <= now
        return now - read_at >= (SOON if begins else EVERY)

    def _uses(self, seen: WorkflowSeen, definition: Definition, version: int | None) -> Uses:
        """Names that only a run fills are filled by the newest one, and kept as long as the version stays."""
        held = seen.held
        uses = uses_of(definition, scheduler=self._scheduler, workflow=seen.name)
        if not uses.open or seen.latest is None:
            return uses
        if held is not None and held.filled and held.version == version:
            return Uses(reads=tuple(held.reads), writes=tuple(held.writes))
        steps = self._steps(seen.name, seen.latest)
        found = uses_of(definition, scheduler=self._scheduler, workflow=seen.name, steps=steps)
        unfilled = (found.reads, found.writes) == (uses.reads, uses.writes)
        return Uses(reads=found.reads, writes=found.writes, open=unfilled)

    def _steps(self, workflow: str, instance: int) -> tuple[Step, ...]:
        try:
            return self._client.steps(workflow, instance, run=None)
        except Refused as no:
            if no.retry_after is not None or no.status != HTTPStatus.NOT_FOUND:
                raise
            return ()

    def event(self, workflow: str, change: JobChange, now: datetime, word: str) -> SourceEvent:
        return SourceEvent(
            id=f"{now.isoformat()}|{word}",
            kind=SourceKind.JOB_CHANGED,
            at=now,
            job=JobKey(scheduler=self._scheduler, name=workflow),
            change=change,
        )


def _change(definition: Definition, expected: datetime | None, uses: Uses) -> JobChange:
    rule = strategy_of(definition.properties_snapshot.run_strategy) or RunStrategy.SEQUENTIAL
    return JobChange(
        schedule=Schedule(next_run_at=expected),
        target=target_of(definition),
        owner=owner_of(definition) or None,
        run_strategy=RunStrategy(rule) if rule in RunStrategy.__members__ else None,
        reads=uses.reads,
        writes=uses.writes,
        quiet=silenced(definition),
    )


def _word(change: JobChange) -> str:
    """The same for the same words, in every process."""
    return hashlib.sha256(repr(change).encode("utf-8", "surrogatepass")).hexdigest()[:24]
