"""What a job's past says, kept small on the job itself so that no decision reads its history. Values and pure folds only."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypeVar

from bot.incidents.absence import Absence
from bot.incidents.keys import Cost, RunRef, Trigger
from bot.incidents.model import Failure
from bot.incidents.policy import SafeMark, Schedule
from bot.incidents.strategy import RunStrategy
from bot.incidents.target import Promise, Target

_Ordered = TypeVar("_Ordered", float, timedelta)

KEEP_SAMPLES = 20
KEEP_RESULTS = 12
KEEP_LIVE = 200
KEEP_STREAK = 20
KEEP_REVOKED = 100
KEEP_PROMISES = 50
SUSPENDED_AFTER = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What one good scheduled run took."""

    duration: timedelta
    cost: Cost | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GoodRun:
    """The last good run: `ended_at` orders good runs without a nominal time."""

    run: RunRef
    ended_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveRun:
    """A run that started and has not ended; `rerun_key` is ours where we asked for it.

    `finish_by`: when its scheduler wants it done.
    """

    run: RunRef
    started_at: datetime
    rerun_key: str | None = None
    finish_by: datetime | None = None

    @property
    def watched_as(self) -> datetime:
        """What its deadline is told by: its nominal time, or when it began where it has none."""
        return self.run.nominal_time or self.started_at


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseResult:
    """How an automatic rerun under a cause went."""

    cause: str
    succeeded: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class JobMemory:
    """One job's short memory. `streak` are the failures since the last good run, newest last.

    `watched_from`: nominal times after it are expected to start (None: not watched). `told_late`: living runs that were
    called late already. `revoked`: marks of policies.yaml that somebody took back since, each with the instant of that word.
    `target`: when its scheduler wants its runs done, `promised` the same of single runs that have not begun. `unobserved`:
    the last absence of ontrack's own into which a deadline of the job fell. `run_strategy`: what a new run of it does to
    those that live, where its scheduler tells. `quiet`: its owner switched off alerting there. `standing`: how its living run
    was last said to stand, after "it".
    """

    schedule: Schedule | None = None
    owner: str | None = None
    deleted: bool = False
    gone_at: datetime | None = None
    last_good: GoodRun | None = None
    samples: tuple[Sample, ...] = ()
    live: tuple[LiveRun, ...] = ()
    latest_started: datetime | None = None
    failures_in_a_row: int = 0
    streak: tuple[Failure, ...] = ()
    marks: tuple[SafeMark, ...] = ()
    results: tuple[CauseResult, ...] = ()
    watched_from: datetime | None = None
    told_late: tuple[datetime, ...] = ()
    revoked: tuple[SafeMark, ...] = ()
    target: Target | None = None
    promised: tuple[Promise, ...] = ()
    unobserved: Absence | None = None
    run_strategy: RunStrategy | None = None
    quiet: bool = False
    standing: str = ""

    @property
    def usual_duration(self) -> timedelta | None:
        """The median duration of the last good runs; None without one."""
        return _median([sample.duration for sample in self.samples])

    def usual_cost(self, unit: str) -> float | None:
        """The median cost of the last good runs in `unit`; run hours are always known."""
        if unit == "run_hours":
            usual = self.usual_duration
            return usual.total_seconds() / 3600 if usual is not None else None
        amounts = [sample.cost.amount for sample in self.samples if sample.cost and sample.cost.unit == unit]
        return _median(amounts)

    def suspended(self) -> frozenset[str]:
        """Causes whose last three automatic reruns all failed."""
        causes = {result.cause for result in self.results}
        return frozenset(cause for cause in causes if self._failing(cause))

    def _failing(self, cause: str) -> bool:
        last = [result.succeeded for result in self.results if result.cause == cause][-SUSPENDED_AFTER:]
        return len(last) == SUSPENDED_AFTER and not any(last)


def started(memory: JobMemory, run: LiveRun) -> JobMemory:
    """`run` lives now; a run that is known already is not doubled."""
    others = tuple(live for live in memory.live if not _same(live.run, run.run))
    promise = next((one for one in memory.promised if one.nominal_time == run.run.nominal_time), None)
    if run.finish_by is None and promise is not None:
        run = replace(run, finish_by=promise.finish_by)
    latest = max(filter(None, (memory.latest_started, run.run.nominal_time)), default=None)
    return replace(memory, live=(*others, run)[-KEEP_LIVE:], latest_started=latest)


def ended(memory: JobMemory, run: RunRef) -> JobMemory:
    """`run` and its earlier generations live no more."""
    over = [live for live in memory.live if _ends(live.run, run)]
    names = {run.nominal_time, *(live.watched_as for live in over)}
    return replace(
        memory,
        live=tuple(live for live in memory.live if not _ends(live.run, run)),
        told_late=tuple(time for time in memory.told_late if time not in names),
        promised=tuple(one for one in memory.promised if one.nominal_time != run.nominal_time),
    )


def promised(memory: JobMemory, nominal_time: datetime, finish_by: datetime) -> JobMemory:
    """Its scheduler says when the run of that time should be done, before it began."""
    others = tuple(one for one in memory.promised if one.nominal_time != nominal_time)
    told = Promise(nominal_time=nominal_time, finish_by=finish_by)
    return replace(memory, promised=(*others, told)[-KEEP_PROMISES:])


def told_late(memory: JobMemory, watched_as: datetime, *, living: bool, expected: bool) -> JobMemory:
    """That run was called late: it is not watched for the same again. `living`: as one that is under way;
    `expected`: as one that has not begun."""
    if expected:
        memory = replace(memory, watched_from=max(filter(None, (memory.watched_from, watched_as))))
    if living:
        under_way = {live.watched_as for live in memory.live}
        told = (*memory.told_late, watched_as)
        others = [time for time in told if time not in under_way][-KEEP_STREAK:]
        memory = replace(memory, told_late=tuple(time for time in told if time in under_way or time in others))
    return memory


def not_observed(memory: JobMemory, absence: Absence, watched_as: datetime) -> JobMemory:
    """Nobody can tell how that run went: the job is watched anew from the end of the absence on."""
    memory = told_late(memory, watched_as, living=True, expected=False)
    watched_from = max(filter(None, (memory.watched_from, absence.ended_at)))
    return replace(memory, watched_from=watched_from, unobserved=absence)


def succeeded(memory: JobMemory, run: RunRef, ended_at: datetime, sample: Sample | None) -> JobMemory:
    """A good run: it ends the row of failures, and becomes the last good run unless an old date was filled in.

    A backfill's old dates never become the last good run and say nothing about the usual duration.
    """
    memory = ended(memory, run)
    if run.trigger is Trigger.BACKFILL or not _newer(run, ended_at, memory.last_good):
        return memory
    samples = (*memory.samples, sample)[-KEEP_SAMPLES:] if sample else memory.samples
    return replace(
        memory,
        last_good=GoodRun(run=run, ended_at=ended_at),
        samples=tuple(samples),
        failures_in_a_row=0,
        streak=(),
    )


def failed(memory: JobMemory, failure: Failure) -> JobMemory:
    """A final failure joins the row."""
    memory = ended(memory, failure.run)
    return replace(
        memory,
        failures_in_a_row=memory.failures_in_a_row + 1,
        streak=(*memory.streak, failure)[-KEEP_STREAK:],
    )


def reran(memory: JobMemory, cause: str, *, ok: bool) -> JobMemory:
    """An automatic rerun under `cause` ended."""
    return replace(memory, results=(*memory.results, CauseResult(cause=cause, succeeded=ok))[-KEEP_RESULTS:])


def marked(memory: JobMemory, mark: SafeMark, *, safe: bool) -> JobMemory:
    """The owning team marked a cause, or revoked its mark; a new mark starts with a clean row of results."""
    others = tuple(known for known in memory.marks if known.cause != mark.cause)
    results = tuple(result for result in memory.results if result.cause != mark.cause)
    revoked = tuple(known for known in memory.revoked if known.cause != mark.cause)
    if safe:
        return replace(memory, marks=(*others, mark), results=results, revoked=revoked)
    return replace(memory, marks=others, results=results, revoked=(*revoked, mark)[-KEEP_REVOKED:])


def marks_of(memory: JobMemory, written: tuple[SafeMark, ...]) -> tuple[SafeMark, ...]:
    """All marks of the job: those `written` in policies.yaml, void where somebody took them back since, then its own."""
    return (*written_marks(memory, written), *memory.marks)


def written_marks(memory: JobMemory, written: tuple[SafeMark, ...]) -> tuple[SafeMark, ...]:
    """The marks of policies.yaml, void where somebody took them back since."""
    revoked_at = {known.cause: known.since for known in memory.revoked}
    return tuple(_unless_revoked(mark, revoked_at.get(mark.cause)) for mark in written)


def _unless_revoked(mark: SafeMark, revoked_at: datetime | None) -> SafeMark:
    if revoked_at is None or mark.since > revoked_at or mark.void:
        return mark
    return replace(mark, void="it was revoked since; a later date in policies.yaml renews it")


def _same(one: RunRef, other: RunRef) -> bool:
    return (one.nominal_time, one.run_id, one.generation) == (other.nominal_time, other.run_id, other.generation)


def _ends(live: RunRef, run: RunRef) -> bool:
    return (live.nominal_time, live.run_id) == (run.nominal_time, run.run_id) and live.generation <= run.generation


def _newer(run: RunRef, ended_at: datetime, last: GoodRun | None) -> bool:
    if last is None:
        return True
    if run.nominal_time is None or last.run.nominal_time is None:
        return ended_at >= last.ended_at
    return run.nominal_time >= last.run.nominal_time


def _median(values: list[_Ordered]) -> _Ordered | None:
    return sorted(values)[len(values) // 2] if values else None
