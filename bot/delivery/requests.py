"""Asks schedulers: a rerun or start at most once, ever; pause, resume, retire and stop until they are answered.

At most once is kept by looking before asking again, or by asking again under the same key where the scheduler deduplicates.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import msgspec

from bot.incidents.decide import still_wanted
from bot.incidents.effects import AskScheduler, LookFor
from bot.incidents.events import AnswerKind, SchedulerAnswered
from bot.incidents.keys import Action, JobKey
from bot.incidents.licence import still_licensed
from bot.incidents.memory import marks_of
from bot.incidents.model import Incident
from bot.incidents.policy import JobPolicy
from bot.intake import Consume, Inbound, Outcome
from bot.ports import BY_ITSELF, Looked, Scheduler, SchedulerAnswer, SchedulerRequest, Taken
from bot.store import EffectKind, EffectRow, EffectState, JobRow, Storage

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
        policy_of: Callable[[JobKey], JobPolicy],
    ) -> None:
        self._storage = storage
        self._schedulers = schedulers
        self._take_in = take_in
        self._clock = clock
        self._policy_of = policy_of

    def perform(self, row: EffectRow) -> bool:
        """Ask or look; False when the answer is uncertain and the row must be looked after later."""
        scheduler = self._schedulers().get(row.job.scheduler)
        request = _request(row)
        if scheduler is None:
            message = f"ontrack is not connected to the scheduler {row.job.scheduler}"
            return self._answer(row, request.action, AnswerKind.REFUSED, message, EffectState.REFUSED)
        if row.kind is EffectKind.LOOK:
            return self._answer(row, request.action, FOUND[scheduler.look(request)], "", EffectState.SETTLED)
        perhaps_made = row.uncertain_at is not None and request.action in ONCE
        if perhaps_made and not scheduler.deduplicates:
            perhaps_made = False
            looked = scheduler.look(request)
            if looked is Looked.STARTED:
                return self._answer(row, request.action, AnswerKind.STARTED, "", EffectState.SETTLED)
            if looked is Looked.CANNOT_TELL:
                return self._answer(row, request.action, AnswerKind.CANNOT_TELL, "", EffectState.BURIED)
        wanted_by = self._begin(row, request, perhaps_made=perhaps_made)
        if wanted_by is None:
            return True
        request = replace(request, fixed=wanted_by.fix is not None)
        answer = scheduler.ask(request)
        if answer.taken is Taken.REFUSED and answer.retry_after is not None:
            return self._ask_later(row, request, answer, self._clock() + answer.retry_after, wanted_by)
        return self._heard(row, request, answer, perhaps_made=perhaps_made)

    def _begin(self, row: EffectRow, request: SchedulerRequest, *, perhaps_made: bool) -> Incident | None:
        """Commit `sending` while its incident still wants the request; else tell it what is known, and return None."""
        now = self._clock()
        with self._storage.begin_write(born_leased=False, now=now) as uow:
            job = uow.lock_jobs(keys={row.job}, now=now)[row.job]
            incident = uow.occurrence(record=row.record, number=row.number)
            wanted = still_wanted(incident, request.key, request.action, now) and self._licensed(incident, job)
            if wanted:
                mine = uow.begin_sending(id=row.id)
                uow.commit()
                return incident if mine else None
        if perhaps_made:
            message = "it is not wanted any more, and whether it was taken cannot be told"
            self._answer(row, request.action, AnswerKind.CANNOT_TELL, message, EffectState.BURIED)
        else:
            message = "it was taken back, or its licence withdrawn, before it was requested"
            self._answer(row, request.action, AnswerKind.NOT_STARTED, message, EffectState.CANCELLED)
        return None

    def _licensed(self, incident: Incident | None, job: JobRow) -> bool:
        """An automatic rerun is checked once more against the policy and the marks of this instant."""
        rerun = incident.rerun if incident is not None else None
        if rerun is None or not rerun.automatic:
            return True
        policy = self._policy_of(job.key)
        return still_licensed(rerun.cause, policy, marks_of(job.memory, policy.safe_marks))

    def _heard(self, row: EffectRow, request: SchedulerRequest, answer: SchedulerAnswer, *, perhaps_made: bool) -> bool:
        """What a refusal says of this call it does not say of an earlier one, whose answer was lost."""
        match answer.taken:
            case Taken.TAKEN | Taken.ALREADY:
                return self._answer(row, request.action, AnswerKind.TAKEN, answer.message, EffectState.SETTLED)
            case Taken.REFUSED if perhaps_made:
                return self._answer(row, request.action, AnswerKind.CANNOT_TELL, answer.message, EffectState.BURIED)
            case Taken.REFUSED:
                return self._answer(row, request.action, AnswerKind.REFUSED, answer.message, EffectState.REFUSED)
            case Taken.UNCERTAIN:
                return self._gives_up(row, request, answer)

    def _ask_later(
        self, row: EffectRow, request: SchedulerRequest, answer: SchedulerAnswer, at: datetime, wanted_by: Incident
    ) -> bool:
        """Nothing was taken by this call; a rerun or start is asked for again as long as it will be wanted."""
        certain = row.uncertain_at is None
        if certain and request.action in ONCE and not still_wanted(wanted_by, request.key, request.action, at):
            return self._answer(row, request.action, AnswerKind.REFUSED, answer.message, EffectState.REFUSED)
        if not self._gives_up(row, request, answer):
            self._storage.retry(id=row.id, at=at, uncertain=not certain, code="not_taken")
        return True

    def _gives_up(self, row: EffectRow, request: SchedulerRequest, answer: SchedulerAnswer) -> bool:
        """Whether this was the last of the tries that a pause, resumption, retirement or stop has."""
        if request.action in ONCE or row.attempt < TRIES:
            return False
        message = f"no certain answer after {TRIES} tries: {answer.message}"
        return self._answer(row, request.action, AnswerKind.REFUSED, message, EffectState.BURIED)

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
        requested_by=str(by.person) if by else BY_ITSELF,
        reason=getattr(effect, "reason", ""),
        fresh=getattr(effect, "fresh", False),
    )
