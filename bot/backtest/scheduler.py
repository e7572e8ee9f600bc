"""A scheduler as history knows it: it answers as it answered then, and its reruns go as they went. It calls nobody.

What history does not know goes the worst way: the rerun fails as the run before it, after the usual duration.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.backtest.agenda import Agenda
from bot.backtest.knowledge import RUNS, Episode, HandRun, Knowledge
from bot.backtest.reading import PastReader
from bot.incidents.events import AnswerKind
from bot.incidents.keys import Action, Capability, JobKey, RunRef, Trigger
from bot.incidents.policy import Schedule
from bot.intake.reading import evidence_key
from bot.ports import Clock, Looked, SchedulerAnswer, SchedulerRequest, Taken
from bot.sources import SourceEvent, SourceKind

DURATION_WITHOUT_ANY = timedelta(minutes=30)

_LOOKED = {
    AnswerKind.STARTED: Looked.STARTED,
    AnswerKind.NOT_STARTED: Looked.NOT_STARTED,
    AnswerKind.CANNOT_TELL: Looked.CANNOT_TELL,
}


@dataclass(slots=True, kw_only=True)
class Stage:
    """What the schedulers of one replay share. `lasts`: how long a run of the job usually takes; `failed_as`: the evidence of the
    newest failure of that job and nominal time. `known` and `unknown` hold the keys of reruns by whether history tells their end,
    `episodes` what history knows of each request.
    """

    clock: Clock
    agenda: Agenda
    knowledge: Knowledge
    reader: PastReader
    lasts: Callable[[JobKey], timedelta | None]
    known: set[str]
    unknown: set[str]
    failed_as: dict[tuple[JobKey, datetime | None], str] = field(default_factory=dict)
    begun: dict[str, datetime] = field(default_factory=dict)
    looks: dict[str, list[AnswerKind]] = field(default_factory=dict)
    episodes: dict[str, Episode] = field(default_factory=dict)

    def foresee(self, *, key: str, action: Action, job: JobKey, times: Sequence[datetime | None]) -> timedelta:
        """A request will be made: find what history knows of it. Returns how long it waited there until it was made."""
        if action in RUNS:
            episode = self.knowledge.next_run(job, times[0] if times else None)
        else:
            episode = self.knowledge.next_other(job, action)
        if episode is None:
            return timedelta()
        self.episodes[key] = episode
        return episode.waited


class PastScheduler:
    """Implements `bot.ports.Scheduler`; `can` and `schedule_of` are those of the scheduler that it stands for."""

    deduplicates = False

    def __init__(
        self,
        name: str,
        *,
        can: frozenset[Capability],
        schedule_of: Callable[[JobKey], Schedule | None],
        stage: Stage,
    ) -> None:
        self.name = name
        self.can = can
        self._schedule_of = schedule_of
        self._stage = stage

    def schedule_of(self, job: JobKey) -> Schedule | None:
        return self._schedule_of(job)

    def ask(self, request: SchedulerRequest) -> SchedulerAnswer:
        episode = self._stage.episodes.get(request.key)
        if episode is not None and episode.answer is AnswerKind.NOT_STARTED:
            episode = None
        if request.action not in RUNS:
            return _answered(episode) if episode is not None else SchedulerAnswer(taken=Taken.TAKEN)
        time = request.nominal_times[0] if request.nominal_times else None
        if episode is not None:
            return self._as_it_went(request, episode)
        by_hand = self._stage.knowledge.by_hand(request.job, time, after=self._stage.clock())
        if by_hand is not None:
            self._as_by_hand(request, by_hand)
        else:
            self._the_worst_way(request, time)
        return SchedulerAnswer(taken=Taken.TAKEN)

    def look(self, request: SchedulerRequest) -> Looked:
        found = self._stage.looks.get(request.key)
        if found:
            return _LOOKED.get(found.pop(0), Looked.CANNOT_TELL)
        begun_at = self._stage.begun.get(request.key)
        return Looked.STARTED if begun_at is not None and begun_at <= self._stage.clock() else Looked.CANNOT_TELL

    def _as_it_went(self, request: SchedulerRequest, episode: Episode) -> SchedulerAnswer:
        stage, now = self._stage, self._stage.clock()
        stage.looks[request.key] = list(episode.looks)
        if episode.answer is AnswerKind.STARTED or episode.answer is AnswerKind.CANNOT_TELL:
            stage.looks[request.key].insert(0, episode.answer)
        if episode.has_end:
            stage.known.add(request.key)
        asked_at = now - episode.waited
        for told in episode.told:
            keyed = told.event.rerun_key is not None
            event = replace(told.event, rerun_key=request.key) if keyed else told.event
            at = max(now, asked_at + told.after)
            stage.begun.setdefault(request.key, at)
            stage.agenda.add(event, at=at, batch=told.batch)
        return _answered(episode)

    def _as_by_hand(self, request: SchedulerRequest, by_hand: HandRun) -> None:
        stage, now = self._stage, self._stage.clock()
        stage.known.add(request.key)
        run = self._again(request, by_hand.event.run)
        ended = replace(
            by_hand.event, run=run, at=now + by_hand.took, started_at=now, ended_at=now + by_hand.took, by=None
        )
        self._plays(request, replace(ended, rerun_key=request.key), evidence=evidence_key(by_hand.event))

    def _the_worst_way(self, request: SchedulerRequest, time: datetime | None) -> None:
        stage, now = self._stage, self._stage.clock()
        stage.unknown.add(request.key)
        took = stage.lasts(request.job) or DURATION_WITHOUT_ANY
        failed = SourceEvent(
            id=request.key,
            kind=SourceKind.RUN_FAILED,
            at=now + took,
            job=request.job,
            run=self._again(request, request.run),
            started_at=now,
            ended_at=now + took,
            rerun_key=request.key,
        )
        self._plays(request, failed, evidence=stage.failed_as.get((request.job, time), ""))

    def _plays(self, request: SchedulerRequest, ended: SourceEvent, *, evidence: str) -> None:
        """The run begins now and ends so."""
        stage, now = self._stage, self._stage.clock()
        begun = replace(
            ended, kind=SourceKind.RUN_STARTED, at=now, started_at=now, ended_at=None, error=None, cost=None
        )
        stage.begun[request.key] = now
        stage.reader.same_as(ended, evidence)
        stage.agenda.add(begun, at=now)
        stage.agenda.add(ended, at=ended.at)

    def _again(self, request: SchedulerRequest, like: RunRef | None) -> RunRef:
        """A run of its own, which no run of history is."""
        time = request.nominal_times[0] if request.nominal_times else None
        base = request.run or like
        run_id = base.run_id if base is not None else f"backtest__{request.key}"
        generation = 1 + max((one.generation for one in (base, like) if one is not None), default=0)
        return RunRef(run_id=run_id, nominal_time=time, generation=generation, trigger=Trigger.RERUN)


def _answered(episode: Episode) -> SchedulerAnswer:
    match episode.answer:
        case AnswerKind.REFUSED:
            return SchedulerAnswer(taken=Taken.REFUSED, message=episode.message)
        case AnswerKind.STARTED | AnswerKind.CANNOT_TELL | AnswerKind.UNCERTAIN:
            return SchedulerAnswer(taken=Taken.UNCERTAIN, message=episode.message)
        case _:
            return SchedulerAnswer(taken=Taken.TAKEN, message=episode.message)
