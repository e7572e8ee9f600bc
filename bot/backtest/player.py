"""Plays a stretch of the record once more, on the road that every event takes, with a clock of its own. It measures nothing.

What fell due by itself falls due again: timers, reruns, what waits downstream. Messages count as delivered at once. Where a
timer and an event come at the same instant the timer is first, as it would be on a machine that keeps up.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.backtest.agenda import Agenda
from bot.backtest.calm import Calm
from bot.backtest.history import Record, TakenIn
from bot.backtest.knowledge import Knowledge
from bot.backtest.people import PastPeople
from bot.backtest.reading import PastReader
from bot.backtest.road import Road, Scratch
from bot.backtest.scheduler import PastScheduler, Stage
from bot.backtest.words import Counterparts
from bot.incidents.downstream_events import DownstreamEvent
from bot.incidents.keys import Capability, JobKey
from bot.incidents.people import By
from bot.incidents.policy import Door, Schedule
from bot.intake import Inbound, Result
from bot.intake.inbound import DownstreamStuck, PolicyChanged
from bot.intake.worlds import Worlds
from bot.policies.layers import OURS
from bot.policies.model import Policies
from bot.sources import SourceEvent, SourceKind

FOLLOW_EVERY = timedelta(minutes=5)
SOURCE = "source "


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What policies declare a scheduler to be: what can be asked of it, and what it says of schedules."""

    name: str
    can: frozenset[Capability]
    schedule_of: Callable[[JobKey], Schedule | None]


@dataclass(slots=True, kw_only=True)
class Played:
    """What is known of a replay beside what stands in its database. `inapplicable`: words for which there was no trouble;
    `refused`: events that could not be taken in. `nobody`: the directory is empty, so that nobody could be asked."""

    nobody: bool = False
    events: int = 0
    words: int = 0
    inapplicable: int = 0
    refused: int = 0
    known: set[str] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)


class Player:
    """One replay of `[since, until)`; everything is built for it and used once."""

    def __init__(
        self,
        *,
        record: Record,
        scratch: Scratch,
        policies: Policies,
        people: PastPeople,
        sources: Sequence[Source],
        doors: frozenset[Door],
        since: datetime,
        until: datetime,
    ) -> None:
        self.played = Played(nobody=people.read_at is None)
        self._record = record
        self._scratch = scratch
        self._replayed = scratch.record
        self._people = people
        self._since, self._until = since, until
        self._agenda = Agenda()
        self._follow_at = since + FOLLOW_EVERY
        self._followed: list[datetime] = []
        requests = record.requests(since=since, until=until)
        self._knowledge = Knowledge(requests, self._noting(record.batches(since=since, until=until)))
        self._counterparts = Counterparts(record.occurrences(since=since, until=until), scratch.record)
        self._reader = PastReader(evidence=record.evidence, rules_of=policies.rules_of)
        self._stage = Stage(
            clock=lambda: self._road.now,
            agenda=self._agenda,
            knowledge=self._knowledge,
            reader=self._reader,
            lasts=self._lasts,
            known=self.played.known,
            unknown=self.played.unknown,
        )
        schedulers = {
            one.name: PastScheduler(one.name, can=one.can, schedule_of=one.schedule_of, stage=self._stage)
            for one in sources
        }
        worlds = Worlds(policies=lambda: policies, people=lambda: people, schedulers=lambda: schedulers, doors=doors)
        self._calm = Calm(policy_of=worlds.policy_of, troubled=scratch.record.troubled)
        self._road = Road(
            scratch=scratch,
            worlds=worlds,
            schedulers=schedulers,
            stage=self._stage,
            absences=[one for one in record.absences(since=since) if one.ended_at > since],
            now=since,
        )

    def play(self) -> Played:
        """Play it to its end; what came of it stands in the database of the replay."""
        for batch in self._record.batches(since=self._since, until=self._until):
            if self._calm.join(batch):
                continue
            self._take_calm()
            self._goes_on_to(batch[0].at, batch[0].batch)
            if not self._calm.begin(batch, ends_at=self._next_due()):
                self._take(batch)
                self._calm.seen(batch)
        self._take_calm()
        self._goes_on_to(self._until, 0)
        return self.played

    def _goes_on_to(self, at: datetime, batch: int) -> None:
        """Everything happens that is due before an event that comes at `at`, in that transaction of the instant."""
        while True:
            told = self._agenda.next
            timer_at, follow_at, absence = self._road.timers_due, self._follow_at, self._road.absence
            due = [each for each in (timer_at, follow_at, absence.ended_at if absence else None) if each is not None]
            first = min(due)
            if told is not None and (told.at, told.batch) <= (at, batch) and told.at < min(first, self._until):
                self._tell()
            elif first > at or first >= self._until:
                return
            elif absence is not None and absence.ended_at == first:
                self._road.comes_back()
            elif timer_at == first:
                self._road.moves_to(first)
                self._road.settles()
            else:
                self._road.moves_to(first)
                self._follow_at = first + FOLLOW_EVERY
                if absence is None or not absence.covers(first):
                    self._look_downstream(first)

    def _look_downstream(self, at: datetime) -> None:
        """Unless history looked a moment later and saw something: then that is the look."""
        while self._followed and self._followed[0] <= at:
            self._followed.pop(0)
        soon = bool(self._followed) and self._followed[0] <= at + FOLLOW_EVERY
        if not soon and self._replayed.has_waits():
            self._road.follows()

    def _take_calm(self) -> None:
        group = self._calm.end()
        if group:
            self._road.moves_to(group[-1].at)
            self._take(group)

    def _next_due(self) -> datetime | None:
        """When something falls due by itself, as far as is known by now."""
        told, absence = self._agenda.next, self._road.absence
        known = (self._road.timers_due, told.at if told else None, absence.began_at if absence else None, self._until)
        return min((at for at in (*known, self._follow_at) if at is not None), default=None)

    def _take(self, batch: Sequence[TakenIn]) -> None:
        """One transaction of history, without what its own reruns told."""
        self._road.moves_to(batch[0].at)
        told = [one for one in batch if one.key not in self._knowledge.ours]
        sources = [one for one in told if isinstance(one.record.event, SourceEvent | PolicyChanged)]
        if sources:
            self._hear([(one.key, one.record.event) for one in sources])  # type: ignore[misc]
        for one in told:
            if isinstance(one.record.event, DownstreamEvent | DownstreamStuck):
                self._road.follows()
            elif one not in sources:
                self._say(one)
        self._road.settles()

    def _tell(self) -> None:
        """What a rerun of the replay tells."""
        due = self._agenda.take()
        self._road.moves_to(due[0].at)
        events = [one.event for one in due if one.event is not None]
        if events:
            self._hear([(event.key, event) for event in events])
        if len(events) < len(due):
            self._road.wakes()
        self._road.settles()

    def _hear(self, events: Sequence[tuple[str, SourceEvent | PolicyChanged]]) -> None:
        told = [event for _, event in events if isinstance(event, SourceEvent)]
        self._reader.prepare(told)
        for event in told:
            if event.kind is SourceKind.RUN_FAILED and event.run is not None:
                self._stage.failed_as[event.job, event.run.nominal_time] = self._reader.kept_as(event)
        self._takes_in([Inbound(key=key, event=event) for key, event in events])
        for event in told:
            if event.job.scheduler == OURS:
                self._source_is(event)

    def _say(self, one: TakenIn) -> None:
        """A person's word, or what became known of a message, goes to the occurrence that it would have been about."""
        event = one.record.event
        about = self._counterparts.of(one)
        self.played.words += 1
        if about is None:
            self.played.inapplicable += 1
            return
        inbound = Inbound(key=one.key, event=event, occurrence=about)
        by = getattr(event, "by", None)
        if isinstance(by, By) and one.record.standing is not None:
            with self._people.speaking(by.person.id, one.record.standing):
                self._takes_in([inbound])
        else:
            self._takes_in([inbound])

    def _takes_in(self, inbounds: list[Inbound]) -> None:
        self.played.events += len(inbounds)
        outcomes = self._road.take_in(inbounds)
        self.played.refused += sum(one.result is Result.REJECTED for one in outcomes)

    def _source_is(self, event: SourceEvent) -> None:
        """A source fell silent, or was heard again: its jobs' deadlines wait, or count again."""
        name = event.job.name.removeprefix(SOURCE)
        if event.kind is SourceKind.RUN_FAILED:
            self._scratch.watch_sources(names=(name,), now=self._road.now)
            self._scratch.mark_silent(name=name, since=self._road.now)
        else:
            self._scratch.mark_heard(name=name, now=self._road.now)

    def _noting(self, batches: Iterator[Sequence[TakenIn]]) -> Iterator[Sequence[TakenIn]]:
        for batch in batches:
            if any(isinstance(one.record.event, DownstreamEvent | DownstreamStuck) for one in batch):
                self._followed.append(batch[0].at)
            yield batch

    def _lasts(self, job: JobKey) -> timedelta | None:
        row = self._scratch.reads.job(key=job)
        return row.memory.usual_duration if row is not None else None
