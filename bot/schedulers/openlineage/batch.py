"""One list of events against one unit of lineage: fold, write, and tell what is to be handed on to intake.

It lives inside one transaction of `Lineage`; it neither begins nor commits one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from bot.incidents.keys import JobKey
from bot.intake import Result
from bot.schedulers.openlineage import composing
from bot.schedulers.openlineage.composing import Around, follows, uses_of
from bot.schedulers.openlineage.folding import ENDS, STATES, folded
from bot.schedulers.openlineage.heard import DatasetHeard, Heard, JobHeard, RunHeard, Word
from bot.schedulers.openlineage.rolling import waits
from bot.sources import SourceEvent
from bot.store.lineage import DatasetUse, LineageRun, LineageUnit, Told

WAIT = timedelta(seconds=10)
FACTS_ONLY = "facts only"
WAITS_FOR_PART = f"waits up to {WAIT.seconds} s for the failure of its part"
POLLED = "a rerun: the poll of its scheduler tells it, and who began it"
WAITS_FOR_ROOT = f"waits up to {WAIT.seconds} s for the run that it is a part of"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """An event for intake; `end` is what is settled once it is in: the run and its due instant."""

    event: SourceEvent
    end: tuple[str, str, datetime] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What becomes of an event: what intake says to the event under `key`, else `result` and `reason` as they stand here."""

    key: str | None = None
    result: Result = Result.ACCEPTED
    reason: str | None = None
    due_at: datetime | None = None


@dataclass(slots=True)
class Batch:
    """One list of events of one source against one unit.

    `polled`: so long the poll of its scheduler has to tell a rerun first, since it alone knows who began one; None: nobody
    polls it.
    """

    unit: LineageUnit
    source: str
    now: datetime
    polled: timedelta | None = None
    runs: dict[str, LineageRun] = field(default_factory=dict)
    touched: dict[str, None] = field(default_factory=dict)
    again: set[int] = field(default_factory=set)
    telling: set[int] = field(default_factory=set)
    moved: set[str] = field(default_factory=set)
    uses: set[DatasetUse] = field(default_factory=set)
    described: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def run(self, events: Sequence[Heard]) -> tuple[list[Answer], list[Pass]]:
        heard = [event for event in events if isinstance(event, RunHeard)]
        self._lock(heard)
        for place, event in enumerate(events):
            if isinstance(event, RunHeard):
                self._fold(event, place)
        self._mark_ends(heard)
        self.unit.save_runs([self.runs[id] for id in self.touched])
        if self.moved:
            self.unit.follow_parents(source=self.source, parents=self.moved)
        ends = self._ends(heard)
        parts = self.unit.parts_of(source=self.source, roots=[run.run_id for run in ends]) if ends else {}
        ready = [run for run in ends if not (self._is_polled(run) or _waits_for_part(run, parts[run.run_id]))]
        for one in events:
            self._note(one)
        self.unit.describe(self.described, now=self.now)
        passed = passes_of(self.unit, ready, parts)
        self.uses |= uses_at_end(ready, parts)
        self.unit.note_uses(self.uses, now=self.now)
        return self._answers(events, passed)

    def _lock(self, heard: Sequence[RunHeard]) -> None:
        ids = {event.run_id for event in heard}
        near = {id for event in heard for id in (event.parent, event.root) if id is not None}
        self.runs = self.unit.lock_runs(source=self.source, create=ids, also=near, now=self.now) if ids else {}
        beyond = {run.root for run in self.runs.values()} - self.runs.keys()
        if beyond:
            self.runs |= self.unit.lock_runs(source=self.source, create=(), also=beyond, now=self.now)

    def _fold(self, event: RunHeard, place: int) -> None:
        run = self.runs[event.run_id]
        if event.key in run.known.heard:
            self.again.add(place)
            return
        new = folded(run, event, root=self._root_of(event), now=self.now)
        if new.own and tells(event, run):
            new = replace(new, known=replace(new.known, told=True))
            self.telling.add(place)
        if not run.is_known or new.root != run.root:
            self.moved.add(new.run_id)
        self.runs[event.run_id] = new
        self.touched[event.run_id] = None

    def _root_of(self, event: RunHeard) -> str:
        if event.own or event.parent is None:
            return event.run_id
        above = self.runs.get(event.parent)
        if above is not None and above.is_known:
            return above.root
        return event.root or event.parent

    def _mark_ends(self, heard: Sequence[RunHeard]) -> None:
        """Ends are due from now on, until they are handed on."""
        for event in heard:
            run = self.runs[event.run_id]
            is_end = STATES.get(event.word) in ENDS
            if is_end and run.due_at is None and (run.own or is_lost(run, self.runs)):
                wait = self.polled if self.polled is not None and self._is_polled(run) else WAIT
                self.runs[run.run_id] = replace(run, due_at=self.now + wait)
                self.touched[run.run_id] = None

    def _is_polled(self, run: LineageRun) -> bool:
        return self.polled is not None and run.own and run.known.generation > 0

    def _ends(self, heard: Sequence[RunHeard]) -> list[LineageRun]:
        """The runs whose end may be handed on now: their own came, or that of a part which they wait for."""
        near = dict.fromkeys(self.runs[event.run_id].root for event in heard if STATES.get(event.word) in ENDS)
        found = (self.runs.get(root) for root in near)
        return [run for run in found if run is not None and run.own and run.due_at is not None]

    def _note(self, event: Heard) -> None:
        match event:
            case RunHeard():
                run = self.runs[event.run_id]
                root = self.runs.get(run.root)
                self.described |= event.uses.described
                if root is not None and root.own and root.is_known:
                    job = JobKey(scheduler=self.source, name=root.job)
                    self.uses |= used(job, event) | (follows(job, event.uses.after) if run.own else set())
            case JobHeard():
                job = JobKey(scheduler=self.source, name=event.job)
                self.uses |= used(job, event)
                self.described |= event.uses.described
            case DatasetHeard():
                self.described[event.name] = event.described

    def _answers(self, events: Sequence[Heard], passed: Mapping[str, Pass]) -> tuple[list[Answer], list[Pass]]:
        passes = {one.event.key: one for one in passed.values()}
        answers = []
        for place, event in enumerate(events):
            answer, extra = self._answer(event, place, passed)
            answers.append(answer)
            if extra is not None:
                passes.setdefault(extra.key, Pass(event=extra))
        return answers, sorted(passes.values(), key=lambda one: one.event.at)

    def _answer(self, event: Heard, place: int, passed: Mapping[str, Pass]) -> tuple[Answer, SourceEvent | None]:
        match event:
            case RunHeard():
                return self._of_run(event, place, passed)
            case JobHeard():
                change = composing.job_changed(event, self.source)
                kept = "kept: what the job reads and writes"
                return (Answer(reason=kept), None) if change is None else (Answer(key=change.key), change)
            case DatasetHeard():
                return Answer(reason="kept: what is told of the dataset"), None

    def _of_run(self, event: RunHeard, place: int, passed: Mapping[str, Pass]) -> tuple[Answer, SourceEvent | None]:
        run = self.runs[event.run_id]
        result = Result.DUPLICATE if place in self.again else Result.ACCEPTED
        is_end = STATES.get(event.word) in ENDS
        if not run.own:
            if is_end and run.due_at is not None:
                return Answer(result=result, reason=WAITS_FOR_ROOT, due_at=run.due_at), None
            root = self.runs.get(run.root)
            of = root.job if root is not None and root.is_known else run.root
            return Answer(result=result, reason=f"a part of {of}"), None
        if is_end:
            there = passed.get(run.run_id)
            if there is not None:
                return Answer(key=there.event.key), None
            reason = POLLED if self._is_polled(run) else WAITS_FOR_PART
            return Answer(result=result, reason=reason, due_at=run.due_at), None
        if self._is_polled(run):
            return Answer(result=result, reason=POLLED), None
        if event.word is Word.START or (event.word is Word.RUNNING and place in self.telling):
            begun = composing.started(run, event.at)
            return Answer(key=begun.key), begun
        return Answer(result=result, reason=FACTS_ONLY), None


def tells(event: RunHeard, run: LineageRun) -> bool:
    """Whether this event is handed on, so that how the run is called stays from now on."""
    if event.word is Word.RUNNING:
        return run.state is Told.HEARD and not (event.known.streaming or run.known.streaming)
    return event.word is not Word.OTHER


def _waits_for_part(run: LineageRun, parts: Sequence[LineageRun]) -> bool:
    return run.state is Told.FAILED and waits(run, parts)


def is_lost(run: LineageRun, runs: Mapping[str, LineageRun]) -> bool:
    """Whether neither the run that this one is a part of is known, nor any between."""
    near = (runs.get(id) for id in (run.parent, run.root) if id is not None and id != run.run_id)
    return not run.own and not run.known.inner and not any(one is not None and one.is_known for one in near)


def used(job: JobKey, event: RunHeard | JobHeard) -> set[DatasetUse]:
    sides = ((False, event.uses.reads), (True, event.uses.writes))
    return {DatasetUse(job=job, writes=writes, dataset=name) for writes, names in sides for name in names}


def uses_at_end(runs: Iterable[LineageRun], parts: Mapping[str, Sequence[LineageRun]]) -> set[DatasetUse]:
    """What jobs read and write by all parts of their runs: some came before it was known whose parts they are."""
    return {
        use for run in runs for use in uses_of(JobKey(scheduler=run.source, name=run.job), (run, *parts[run.run_id]))
    }


def passes_of(
    unit: LineageUnit, runs: Sequence[LineageRun], parts: Mapping[str, Sequence[LineageRun]]
) -> dict[str, Pass]:
    """The ends of these runs, with what is known of the datasets that they read."""
    inputs = [composing.inputs_of(run, parts[run.run_id]) for run in runs]
    unknown = {name for one in inputs for name, told in one.items() if "schema" not in told}
    described = unit.described(unknown) if unknown else {}
    return {
        run.run_id: Pass(
            event=composing.ended(run, Around(parts=parts[run.run_id], described=described)),
            end=(run.source, run.run_id, run.due_at) if run.due_at is not None else None,
        )
        for run in runs
    }
