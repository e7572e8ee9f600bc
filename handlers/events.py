"""`POST /api/v1/events`: what schedulers report of their jobs, as CloudEvents; a result for each after the commit.

It sees that an event is of the token's scheduler and hands it to intake; it must not judge what an event means.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bot.intake import Inbound, Outcome, Result
from bot.schedulers.cloudevents import Rejected, decode
from bot.schedulers.cloudevents_body import BATCH, PLAIN, SINGLE, NotEvents, UnknownContent, Unreadable
from bot.sources import SourceEvent
from handlers.meters import Meters
from handlers.tokens import SourceTokens
from handlers.wire import Answer, Call, Door, Refused, json_answer

NAME = "events"
PATH = "/api/v1/events"
CAP = 16 * 1024 * 1024

TakeIn = Callable[[Sequence[Inbound]], list[Outcome]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Result:
    id: str | None
    result: Result
    reason: str | None = None
    path: str = ""


def events_door(*, tokens: SourceTokens, take_in: TakeIn, meters: Meters) -> Door:
    """The door for schedulers; `take_in` is intake's, and may raise `StorageDown`."""

    def handle(call: Call) -> Answer:
        scheduler = tokens.scheduler_of(call)
        read = [_of_scheduler(event, index, scheduler) for index, event in enumerate(_decoded(call))]
        taken = iter(_take_in(take_in, [event for event in read if isinstance(event, SourceEvent)]))
        results = [_rejected(event) if isinstance(event, Rejected) else _taken(event, next(taken)) for event in read]
        for result in results:
            meters.taken(door=NAME, result=result.result)
        return _answer(results)

    return Door(name=NAME, path=PATH, cap=CAP, admit=tokens.admit, handle=handle, gzip=True)


def _take_in(take_in: TakeIn, events: Sequence[SourceEvent]) -> Sequence[Outcome]:
    return take_in([Inbound(key=event.key, event=event) for event in events]) if events else ()


def _decoded(call: Call) -> Sequence[SourceEvent | Rejected]:
    try:
        return decode(call.body, call.headers.get("content-type", ""))
    except UnknownContent as unknown:
        fix = f"send {SINGLE}, {BATCH} or {PLAIN}, in UTF-8"
        raise Refused(
            415, reason="content_type", field="Content-Type", message=f"{unknown} is not taken here", fix=fix
        ) from unknown
    except Unreadable as unreadable:
        fix = "send JSON in UTF-8"
        raise Refused(400, reason="json", field="body", message=str(unreadable), fix=fix) from unreadable
    except NotEvents as not_events:
        fix = "send one CloudEvent as an object, or several as a list"
        raise Refused(422, reason="not_events", field="body", message=str(not_events), fix=fix) from not_events


def _of_scheduler(event: SourceEvent | Rejected, index: int, scheduler: str) -> SourceEvent | Rejected:
    if isinstance(event, Rejected) or event.job.scheduler == scheduler:
        return event
    reason = f"expected {scheduler}, whose token this is"
    return Rejected(index=index, id=event.id, path="data.scheduler", reason=reason)


def _rejected(event: Rejected) -> _Result:
    return _Result(id=event.id, result=Result.REJECTED, reason=str(event), path=event.path)


def _taken(event: SourceEvent, outcome: Outcome) -> _Result:
    return _Result(id=event.id, result=outcome.result, reason=outcome.reason)


def _answer(results: Sequence[_Result]) -> Answer:
    said: dict[str, Any] = {
        "results": [{"id": result.id, "result": result.result, "reason": result.reason} for result in results]
    }
    if any(result.result is not Result.REJECTED for result in results):
        return json_answer(said)
    first = results[0]
    message = first.reason or "rejected"
    said["error"] = {"field": first.path or "body", "message": message, "fix": "mend what each result's reason names"}
    return json_answer(said, status=422)
