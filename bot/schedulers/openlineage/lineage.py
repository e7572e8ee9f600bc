"""The use case behind the lineage door: keeps runs and their parts, and hands to intake what becomes of the runs themselves.

An end is stored as due before it is handed on, so that no crash loses it; the end of a failed run waits a little for the
failure of its part. It must not change an incident or judge who may send what.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter
from typing import TypeVar

from bot.intake import Inbound, Outcome, Result
from bot.schedulers.openlineage.batch import Answer, Batch, Pass, is_lost, passes_of, uses_at_end
from bot.schedulers.openlineage.heard import Heard
from bot.store import StaleIncident, StorageDown
from bot.store.lineage import LineageRun, LineageStore, LineageUnit

log = logging.getLogger(__name__)

TRIES = 5
DUE_AT_ONCE = 100
PRUNED_AT_ONCE = 1000
STEP_ASIDE = timedelta(minutes=5)
PRUNE_EVERY = timedelta(minutes=10)

TakeIn = Callable[[Sequence[Inbound]], list[Outcome]]

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What became of one event: `reason` tells what it was taken for, and which facets were not understood."""

    id: str
    result: Result
    reason: str | None = None


class Lineage:
    """`take_in` is intake's; `later` is told when an end that waits now is due, so that `step` is called then.

    `polled`: how long the poll of a source has to tell of a rerun before what was heard of it here is handed on.
    """

    def __init__(
        self,
        *,
        store: LineageStore,
        take_in: TakeIn,
        clock: Callable[[], datetime],
        later: Callable[[datetime], None] = lambda _: None,
        polled: Callable[[str], timedelta | None] = lambda _: None,
    ) -> None:
        self._store = store
        self._take_in = take_in
        self._clock = clock
        self._later = later
        self._polled = polled
        self._prune_at: datetime | None = None

    def take(self, events: Sequence[Heard], *, source: str) -> list[Taken]:
        """Take the events of one source in, in their order; returns after the commit. Raises `StorageDown`."""
        now = self._clock()
        polled = self._polled(source)
        answers, passes = self._written(lambda unit: Batch(unit, source, now, polled).run(events))
        outcomes = self._hand_on(passes)
        waiting = [answer.due_at for answer in answers if answer.due_at is not None]
        if waiting:
            self._later(min(waiting))
        return [_taken(event, answer, outcomes) for event, answer in zip(events, answers, strict=True)]

    def step(self, now: datetime) -> datetime | None:
        """Hand on what is due, with what is known by now; for one process at a time. Returns when to be called again."""
        while due := self._store.due_lineage(now=now, limit=DUE_AT_ONCE):
            by_source = sorted(due, key=attrgetter("source", "run_id"))
            for source, runs in groupby(by_source, key=attrgetter("source")):
                overdue = _Overdue(source=source, runs=tuple(runs), now=now)
                self._hand_on_overdue(self._written(overdue.passes), now)
        if self._prune_at is None or now >= self._prune_at:
            gone = self._store.prune_lineage(now=now, limit=PRUNED_AT_ONCE)
            self._prune_at = now + (PRUNE_EVERY if gone < PRUNED_AT_ONCE else timedelta(seconds=1))
        next_at = self._store.next_lineage_at()
        return self._prune_at if next_at is None else min(next_at, self._prune_at)

    def _hand_on_overdue(self, passes: Sequence[Pass], now: datetime) -> None:
        rejected = _ends(passes, self._hand_on(passes), rejected=True)
        for source, run, _ in rejected:
            log.error("the end of a run could not be taken in", extra={"source": source, "run_id": run})
        self._store.postpone_lineage(rejected, to=now + STEP_ASIDE)

    def _written(self, work: Callable[[LineageUnit], _T]) -> _T:
        for _ in range(TRIES):
            try:
                with self._store.lineage() as unit:
                    result = work(unit)
                    unit.commit()
                return result
            except StaleIncident:
                continue
        raise StorageDown("others wrote the same runs at the same time")

    def _hand_on(self, passes: Sequence[Pass]) -> dict[str, Outcome]:
        """Let intake have them, and settle the ends that it took; one that it rejects stays due, to be tried again."""
        if not passes:
            return {}
        outcomes = self._take_in([Inbound(key=one.event.key, event=one.event) for one in passes])
        said = {one.event.key: outcome for one, outcome in zip(passes, outcomes, strict=True)}
        self._store.settle_lineage(_ends(passes, said, rejected=False))
        return said


@dataclass(frozen=True, slots=True, kw_only=True)
class _Overdue:
    """Ends of one source that nothing more is waited for."""

    source: str
    runs: tuple[LineageRun, ...]
    now: datetime

    def passes(self, unit: LineageUnit) -> list[Pass]:
        near = {id for run in self.runs for id in (run.run_id, run.parent, run.root) if id is not None}
        found = unit.lock_runs(source=self.source, create=(), also=near, now=self.now)
        was_due = {run.run_id: run.due_at for run in self.runs}
        still = [run for id, run in found.items() if id in was_due and run.due_at == was_due[id]]
        ends = [run if run.own else _of_its_own(run) for run in still if run.own or is_lost(run, found)]
        adopted = [run for run in ends if not found[run.run_id].own]
        parts = [replace(run, due_at=None) for run in still if run.run_id not in {end.run_id for end in ends}]
        unit.save_runs([*adopted, *parts])
        if adopted:
            unit.follow_parents(source=self.source, parents=[run.run_id for run in adopted])
        parts_of = unit.parts_of(source=self.source, roots=[run.run_id for run in ends])
        unit.note_uses(uses_at_end(ends, parts_of), now=self.now)
        return [*passes_of(unit, ends, parts_of).values()]


def _ends(
    passes: Sequence[Pass], outcomes: Mapping[str, Outcome], *, rejected: bool
) -> list[tuple[str, str, datetime]]:
    """The ends of those that intake took, or of those that it rejected."""
    return [
        one.end
        for one in passes
        if one.end is not None and (outcomes[one.event.key].result is Result.REJECTED) is rejected
    ]


def _of_its_own(run: LineageRun) -> LineageRun:
    """The run that it is a part of is not known to this source: it stands for itself."""
    return replace(run, own=True, root=run.run_id, known=replace(run.known, told=True))


def _taken(event: Heard, answer: Answer, outcomes: Mapping[str, Outcome]) -> Taken:
    outcome = outcomes.get(answer.key) if answer.key is not None else None
    result, reason = (outcome.result, outcome.reason) if outcome is not None else (answer.result, answer.reason)
    ignored = f"left out: {'; '.join(event.ignored)}" if event.ignored else None
    return Taken(id=event.id, result=result, reason="; ".join(filter(None, (reason, ignored))) or None)
