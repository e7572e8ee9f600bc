"""Reads how a run ended, as far as an owner must know, and makes the event of it. It must not report, or read a living run.

Only the whole instance tells of success: a run may go well while a step of an earlier run is still failed. A run that failed
or was stopped is read on its own: lists leave out who killed it and where it failed.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from bot.schedulers.maestro import runs
from bot.schedulers.maestro.client import MaestroClient
from bot.schedulers.maestro.definitions import Definitions
from bot.schedulers.maestro.errors import Failed, in_order
from bot.schedulers.maestro.facts import facts_of, strategy_of
from bot.schedulers.maestro.failures import failure_of
from bot.schedulers.maestro.memory import WorkflowSeen
from bot.schedulers.maestro.reading import instant
from bot.schedulers.maestro.runs import Told
from bot.schedulers.maestro.shapes import OPEN, SUCCEEDED, ChangeLine, Definition, Instance, Step
from bot.sources import SourceEvent
from bot.wire.exchange import NoAnswer, NotSent, Refused, Unwell

WITHIN = timedelta(seconds=20)
CHANGED_WITHIN = timedelta(days=1)
"""How far back changes are told of a workflow that has no good run yet."""
TRIES = 3
STILL_FAILED = (
    "This run went well, but a step of an earlier run of the instance has not: Maestro calls the instance {}."
)


class Ends:
    """From one thread at a time. What is not shown in three tries is left out: the end is told all the same.

    `measures`: how long each step of a good run took is read as well, at a call a run.
    """

    def __init__(self, client: MaestroClient, definitions: Definitions, *, measures: bool = True) -> None:
        self._client = client
        self._definitions = definitions
        self._measures = measures
        self._stuck: tuple[tuple[str, int, int] | None, int] = (None, 0)

    def of(self, told: Told, seen: WorkflowSeen, *, latest: bool, now: datetime) -> SourceEvent | None:
        """None where a later run of the instance tells all that this one could. Raises what the client raises."""
        match told.run.status:
            case "SUCCEEDED":
                return self._went_well(told, seen, now, latest=latest)
            case "STOPPED":
                return self._stopped(told, now)
            case _:
                return self._failed(told, seen, now)

    def _went_well(self, told: Told, seen: WorkflowSeen, now: datetime, *, latest: bool) -> SourceEvent | None:
        run = told.run
        asks = latest and (self._measures or run.workflow_run_id > 1)
        with self._client.within(WITHIN):
            whole = self._client.instance(run.workflow_id, run.workflow_instance_id) if asks else None
        if whole is None or whole.status in OPEN:
            return self._good(told, seen, now) if run.workflow_run_id == 1 else None
        if whole.status == SUCCEEDED:
            return self._good(told, seen, now, whole=whole)
        with self._client.within(WITHIN):
            steps = self._client.steps(run.workflow_id, run.workflow_instance_id, run=None)
        still = in_order(steps)
        why = Failed(steps=still, total=len(still), unread=STILL_FAILED.format(whole.status))
        return runs.failed(told, why, self._facts(run, steps=steps, failed=why), now)

    def _good(self, told: Told, seen: WorkflowSeen, now: datetime, *, whole: Instance | None = None) -> SourceEvent:
        run = told.run
        ended_at = instant(run.end_time) or now
        seen.good_at = max(filter(None, (seen.good_at, ended_at)))
        views = whole.aggregated_info.step_aggregated_views if whole is not None and whole.aggregated_info else {}
        return runs.succeeded(told, facts_of(run, self._definition(run), views=views), now)

    def _stopped(self, told: Told, now: datetime) -> SourceEvent:
        with self._client.within(WITHIN):
            detailed = self._detailed(told)
            run = detailed.run
            unknown = run.start_time is not None and runs.stopped_by(run, ()) is None
            steps = self._shown_steps(run) if unknown else ()
        definition = self._definition(run)
        rule = strategy_of(definition.properties_snapshot.run_strategy) if definition is not None else None
        return runs.stopped(detailed, steps, rule, now)

    def _shown_steps(self, run: Instance) -> tuple[Step, ...]:
        try:
            return self._client.steps(run.workflow_id, run.workflow_instance_id, run=run.workflow_run_id)
        except Refused as no:
            if no.retry_after is not None:
                raise
            return ()

    def _failed(self, told: Told, seen: WorkflowSeen, now: datetime) -> SourceEvent:
        with self._client.within(WITHIN):
            detailed = self._detailed(told)
        why, steps = self._why(detailed.run)
        facts = self._facts(detailed.run, steps=steps, failed=why, changes=self._changes(detailed.run, seen, now))
        return runs.failed(detailed, why, facts, now)

    def _detailed(self, told: Told) -> Told:
        run = told.run
        read = self._client.run(run.workflow_id, run.workflow_instance_id, run=run.workflow_run_id)
        return told if read.status != run.status else replace(told, run=read)

    def _why(self, run: Instance) -> tuple[Failed, tuple[Step, ...]]:
        try:
            return failure_of(self._client, run)
        except (Unwell, NotSent, NoAnswer) as trouble:
            if self._may_pass(run):
                raise
            return Failed(unread=f"its steps were not shown in {TRIES} tries: {trouble}"), ()

    def _definition(self, run: Instance) -> Definition | None:
        try:
            with self._client.within(WITHIN):
                return self._definitions.of_version(run.workflow_id, run.workflow_version_id)
        except (Unwell, NotSent, NoAnswer):
            if self._may_pass(run):
                raise
            return None

    def _may_pass(self, run: Instance) -> bool:
        """Whether the trouble with this run is met for the first times: it is told in the end, whatever is not shown."""
        name = (run.workflow_id, run.workflow_instance_id, run.workflow_run_id)
        tries = self._stuck[1] + 1 if self._stuck[0] == name else 1
        self._stuck = (name, tries)
        return tries < TRIES

    def _facts(
        self, run: Instance, *, steps: Iterable[Step], failed: Failed, changes: Iterable[ChangeLine] = ()
    ) -> dict[str, object]:
        return facts_of(run, self._definition(run), steps=tuple(steps), failed=failed, changes=changes)

    def _changes(self, run: Instance, seen: WorkflowSeen, now: datetime) -> tuple[ChangeLine, ...]:
        """What people changed of the workflow since its last good run and before this one ended, the oldest first."""
        try:
            with self._client.within(WITHIN):
                changes = self._client.changes(run.workflow_id).timeline_events
        except (Refused, Unwell, NotSent, NoAnswer):
            return ()
        until = instant(run.end_time) or now
        since = seen.good_at or until - CHANGED_WITHIN
        found = [one for one in changes if (at := instant(one.timestamp)) is not None and since <= at <= until]
        return tuple(sorted(found, key=lambda one: one.timestamp or 0))
