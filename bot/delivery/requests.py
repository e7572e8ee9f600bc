"""Asks schedulers: a rerun or start at most once, ever; pause, resume, retire and stop until they are answered."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import msgspec

from bot.incidents.decide import still_wanted
from bot.incidents.effects import AskScheduler, LookFor
from bot.incidents.events import AnswerKind, SchedulerAnswered
from bot.incidents.keys import Action
from bot.intake import Consume, Inbound, Outcome
from bot.ports import Looked, Scheduler, SchedulerAnswer, SchedulerRequest, Taken
from bot.store import EffectKind, EffectRow, EffectState, Storage

ONCE = frozenset({Action.RERUN, Action.START})
TRIES = 8

FOUND = {
    Looked.STARTED: AnswerKind.STARTED,
    Looked.NOT_STARTED: AnswerKind.NOT_STARTED,
    Looked.CANNOT_TELL: AnswerKind.CANNOT_TELL,
}


class Requester:
    """Performs REQUEST and LOOK rows; every answer goes back to intake and settles its row in the same transaction."""

    def __init__(
        self,
        *,
        storage: Storage,
        schedulers: Callable[[], Mapping[str, Scheduler]],
        take_in: Callable[[list[Inbound]], list[Outcome]],
        clock: Callable[[], datetime],
    ) -> None:
        self._storage = storage
        self._schedulers = schedulers
        self._take_in = take_in
        self._clock = clock

    def perform(self, row: EffectRow) -> bool:
        """Ask or look; False when the answer is uncertain and the row must be looked after later."""
        scheduler = self._schedulers().get(row.job.scheduler)
        request = _request(row)
        if scheduler is None:
            message = f"ontrack is not connected to the scheduler {row.job.scheduler}"
            return self._answer(row, request.action, AnswerKind.REFUSED, message, EffectState.REFUSED)
        if row.kind is EffectKind.LOOK:
            return self._answer(row, request.action, FOUND[scheduler.look(request)], "", EffectState.SETTLED)
        if row.uncertain_at is not None and request.action in ONCE:
            looked = scheduler.look(request)
            if looked is Looked.STARTED:
                return self._answer(row, request.action, AnswerKind.STARTED, "", EffectState.SETTLED)
            if looked is Looked.CANNOT_TELL:
                return self._answer(row, request.action, AnswerKind.CANNOT_TELL, "", EffectState.BURIED)
        if not self._begin(row, request):
            return True
        return self._heard(row, request, scheduler.ask(request))

    def _begin(self, row: EffectRow, request: SchedulerRequest) -> bool:
        """Commit `sending` while the request is still wanted; else tell the incident that it was never made."""
        now = self._clock()
        with self._storage.begin_write(born_leased=False, now=now) as uow:
            uow.lock_jobs(keys={row.job}, now=now)
            incident = uow.occurrence(record=row.record, number=row.number)
            wanted = still_wanted(incident, request.key, request.action, now)
            if wanted:
                mine = uow.begin_sending(id=row.id)
                uow.commit()
                return mine
        message = "it was taken back before it was requested"
        self._answer(row, request.action, AnswerKind.NOT_STARTED, message, EffectState.CANCELLED)
        return False

    def _heard(self, row: EffectRow, request: SchedulerRequest, answer: SchedulerAnswer) -> bool:
        match answer.taken:
            case Taken.TAKEN | Taken.ALREADY:
                return self._answer(row, request.action, AnswerKind.TAKEN, answer.message, EffectState.SETTLED)
            case Taken.REFUSED:
                return self._answer(row, request.action, AnswerKind.REFUSED, answer.message, EffectState.REFUSED)
            case Taken.UNCERTAIN:
                if request.action not in ONCE and row.attempt >= TRIES:
                    message = f"no certain answer after {TRIES} tries: {answer.message}"
                    return self._answer(row, request.action, AnswerKind.REFUSED, message, EffectState.BURIED)
                return False

    def _answer(self, row: EffectRow, action: Action, answer: AnswerKind, message: str, state: EffectState) -> bool:
        key = row.content["key"]
        event = SchedulerAnswered(key=key, action=action, answer=answer, at=self._clock(), message=message)
        inbound = Inbound(
            key=f"effect:{row.id}:{answer}",
            event=event,
            occurrence=(row.record, row.number),
            consume=Consume(effect=(row.id, state)),
        )
        self._take_in([inbound])
        return True


def _request(row: EffectRow) -> SchedulerRequest:
    """The request as the scheduler port knows it, from the row's frozen content."""
    kind: type[AskScheduler] | type[LookFor] = LookFor if row.kind is EffectKind.LOOK else AskScheduler
    effect: Any = msgspec.convert(row.content, kind)
    by = getattr(effect, "by", None)
    return SchedulerRequest(
        action=effect.action,
        key=effect.key,
        job=row.job,
        run=effect.run,
        nominal_times=tuple(time for time in effect.nominal_times if time is not None),
        requested_by=str(by.person) if by else "ontrack",
        reason=getattr(effect, "reason", ""),
    )
