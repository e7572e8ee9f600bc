"""What history knows of reruns: what was answered to each, when it began and how it ended, by us or by hand. It asks nobody.

History's own reruns are taken out of the stream of events, since another policy may ask for others; they are known here by
job and nominal time, in the order in which they were asked for.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.backtest.history import PastRequest, TakenIn
from bot.delivery.backoff import LOOK_AFTER
from bot.incidents.events import AnswerKind
from bot.incidents.keys import Action, JobKey, Trigger
from bot.sources import SourceEvent, SourceKind

RUNS = frozenset({Action.RERUN, Action.START})
ENDS = frozenset({SourceKind.RUN_SUCCEEDED, SourceKind.RUN_FAILED, SourceKind.RUN_CANCELLED})
BY_HAND = frozenset({Trigger.MANUAL, Trigger.RERUN})


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Something that a rerun's source told, so long after it was asked for."""

    after: timedelta
    batch: int
    event: SourceEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """A request as it went: how long it waited until it was made, the answer to it, and for a rerun what was told of its run.

    `looks`: what looks for it found. One that was taken back before it was made has the answer `NOT_STARTED`.
    """

    answer: AnswerKind | None
    waited: timedelta = timedelta()
    message: str = ""
    told: tuple[Told, ...] = ()
    looks: tuple[AnswerKind, ...] = ()

    @property
    def has_end(self) -> bool:
        return any(one.event.kind in ENDS and not one.event.will_retry for one in self.told)


@dataclass(frozen=True, slots=True, kw_only=True)
class HandRun:
    """A run by hand of a nominal time: how it ended, and how long it took."""

    event: SourceEvent
    told_at: datetime
    took: timedelta


@dataclass(slots=True)
class _Open:
    request: PastRequest
    told: list[Told] = field(default_factory=list)
    looks: list[AnswerKind] = field(default_factory=list)
    ended: bool = False


_Time = tuple[JobKey, datetime | None]


class Knowledge:
    """Read once from the requests and the events of the whole stretch that is played; then asked in the replay's order."""

    def __init__(self, requests: Sequence[PastRequest], batches: Iterable[Sequence[TakenIn]]) -> None:
        self.ours: set[str] = set()
        """The keys of the events that belong to history's own reruns."""
        self._by_key: dict[str, _Open] = {}
        self._runs: dict[_Time, list[_Open]] = {}
        self._others: dict[tuple[JobKey, Action], list[_Open]] = {}
        self._by_hand: dict[_Time, list[HandRun]] = {}
        self._asked: dict[object, int] = {}
        self._read_requests(requests)
        for batch in batches:
            for one in batch:
                if isinstance(one.record.event, SourceEvent):
                    self._read(one, one.record.event)

    def next_run(self, job: JobKey, time: datetime | None) -> Episode | None:
        """What became of the request to run that time again, the first time that it is asked, then the next ..."""
        return self._following((job, time), self._runs.get((job, time), []))

    def next_other(self, job: JobKey, action: Action) -> Episode | None:
        """The same of a pause, a resumption, a retirement or a stop."""
        return self._following((job, action), self._others.get((job, action), []))

    def by_hand(self, job: JobKey, time: datetime | None, *, after: datetime) -> HandRun | None:
        """The first run by hand of that time that ended after that instant."""
        return next((one for one in self._by_hand.get((job, time), ()) if one.told_at > after), None)

    def _following(self, key: object, known: list[_Open]) -> Episode | None:
        turn = self._asked.get(key, 0)
        self._asked[key] = turn + 1
        if turn >= len(known):
            return None
        one = known[turn]
        return Episode(
            answer=one.request.answer,
            waited=_waited(one.request),
            message=one.request.message,
            told=tuple(one.told),
            looks=tuple(one.looks),
        )

    def _read_requests(self, requests: Sequence[PastRequest]) -> None:
        for one in requests:
            if one.look:
                if one.key in self._by_key and one.answer is not None:
                    self._by_key[one.key].looks.append(one.answer)
                continue
            if one.answer is None:
                continue
            known = self._by_key[one.key] = _Open(request=one)
            if one.action in RUNS:
                time = one.nominal_times[0] if one.nominal_times else None
                self._runs.setdefault((one.job, time), []).append(known)
            else:
                self._others.setdefault((one.job, one.action), []).append(known)

    def _read(self, one: TakenIn, event: SourceEvent) -> None:
        if event.run is None:
            return
        answers = self._answered(one, event)
        if answers is not None:
            self.ours.add(one.key)
            answers.told.append(Told(after=one.at - answers.request.asked_at, batch=one.batch, event=event))
            answers.ended = answers.ended or (event.kind in ENDS and not event.will_retry)
        elif event.run.trigger in BY_HAND and event.kind in ENDS and event.started_at and event.ended_at:
            took = max(event.ended_at - event.started_at, timedelta())
            known = self._by_hand.setdefault((event.job, event.run.nominal_time), [])
            known.append(HandRun(event=event, told_at=one.at, took=took))

    def _answered(self, one: TakenIn, event: SourceEvent) -> _Open | None:
        """The rerun of ours whose run tells this: by our key, or by its trigger where the source does not echo the key."""
        if event.rerun_key is not None:
            return self._by_key.get(event.rerun_key)
        if event.run is None or event.run.trigger is not Trigger.RERUN:
            return None
        asked = self._runs.get((event.job, event.run.nominal_time), ())
        waiting = [
            known
            for known in asked
            if known.request.asked_at <= one.at
            and not known.ended
            and known.request.answer is not AnswerKind.NOT_STARTED
        ]
        return waiting[-1] if waiting else None


def _waited(request: PastRequest) -> timedelta:
    """How long it waited until it was made; an answer that was lost was looked for later."""
    waited = (request.answered_at or request.asked_at) - request.asked_at
    if request.answer in (AnswerKind.STARTED, AnswerKind.CANNOT_TELL):
        waited -= LOOK_AFTER
    return max(waited, timedelta())
