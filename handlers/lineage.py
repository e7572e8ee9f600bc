"""`POST /api/v1/lineage`: OpenLineage events as its HTTP transports send them; a result for each after the commit.

It knows the token's scheduler and hands the events on; it must not judge what an event means.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from bot.intake import Result
from bot.schedulers.cloudevents import Rejected
from bot.schedulers.cloudevents_body import PLAIN, NotEvents, UnknownContent, Unreadable
from bot.schedulers.openlineage import Heard, Taken, decode
from handlers.meters import Meters
from handlers.tokens import SourceTokens
from handlers.wire import Answer, Call, Door, Refused, json_answer

NAME = "lineage"
PATH = "/api/v1/lineage"
CAP = 16 * 1024 * 1024


class TakesLineage(Protocol):
    """The use case behind this door; may raise `StorageDown`."""

    def take(self, events: Sequence[Heard], *, source: str) -> list[Taken]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Result:
    id: str | None
    result: Result
    reason: str | None = None
    path: str = ""


def lineage_door(*, tokens: SourceTokens, lineage: TakesLineage, meters: Meters) -> Door:
    """The door for producers of OpenLineage events."""

    def handle(call: Call) -> Answer:
        scheduler = tokens.scheduler_of(call)
        read = _decoded(call, scheduler)
        heard = [event for event in read if not isinstance(event, Rejected)]
        taken = iter(lineage.take(heard, source=scheduler) if heard else ())
        results = [_rejected(event) if isinstance(event, Rejected) else _said(next(taken)) for event in read]
        for result in results:
            meters.taken(door=NAME, result=result.result)
        return _answer(results)

    return Door(name=NAME, path=PATH, cap=CAP, admit=tokens.admit, handle=handle, gzip=True)


def _decoded(call: Call, scheduler: str) -> Sequence[Heard | Rejected]:
    try:
        return decode(call.body, call.headers.get("content-type", ""), source=scheduler)
    except UnknownContent as unknown:
        raise Refused(
            415,
            reason="content_type",
            field="Content-Type",
            message=f"{unknown} is not taken here",
            fix=f"send {PLAIN}, in UTF-8",
        ) from unknown
    except Unreadable as unreadable:
        fix = "send JSON in UTF-8"
        raise Refused(400, reason="json", field="body", message=str(unreadable), fix=fix) from unreadable
    except NotEvents as not_events:
        fix = "send one OpenLineage event as an object, or several as a list"
        raise Refused(422, reason="not_events", field="body", message=str(not_events), fix=fix) from not_events


def _rejected(event: Rejected) -> _Result:
    return _Result(id=event.id, result=Result.REJECTED, reason=str(event), path=event.path)


def _said(taken: Taken) -> _Result:
    return _Result(id=taken.id, result=taken.result, reason=taken.reason)


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
