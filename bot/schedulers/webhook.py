"""Asks a scheduler elsewhere by signed web requests; what becomes of a request comes back as events.

It must not ask twice by itself: who asks again, and whether, is decided where the request's row is.
"""

import logging
import math
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any

import msgspec

from bot.evidence.cleaning import clean
from bot.evidence.masking import mask
from bot.incidents.keys import Action, Capability, JobKey
from bot.incidents.policy import Schedule
from bot.policies.specs import WebhookSpec
from bot.ports import Clock, Looked, SchedulerAnswer, SchedulerRequest, Taken
from bot.schedulers.webhook_signing import BadSecret, signed_headers, signing_key, webhook_id
from bot.schedulers.webhook_wire import Answered, CannotBeSent, NoAnswer, NotSent, WebhookWire

WITHIN = timedelta(seconds=30)
ASK_AGAIN_AFTER = timedelta(seconds=10)
LONGEST_WAIT = timedelta(hours=1)
LONGEST_MESSAGE = 500
OF_RUNS = frozenset({Action.RERUN, Action.START, Action.STOP})
OF_A_RUN = frozenset({Action.RERUN, Action.STOP})

log = logging.getLogger(__name__)


class WebhookScheduler:
    """A scheduler that keeps the contract of DESIGN section 7: it does what was asked once under each `webhook-id`.

    2xx: taken; 409: it was taken already; another 4xx: refused, in its words. Nothing was taken, and it may be asked again
    after a while, when no connection came about or it answered 429: a refusal with `retry_after`. Everything else, a 408, 5xx,
    redirect, timeout or broken connection, is uncertain; since it `deduplicates`, asking once more under the same key is
    safe, and is what tells. It cannot be looked into: that a request was taken does not tell whether the run has begun.
    """

    deduplicates = True

    def __init__(self, spec: WebhookSpec, *, clock: Clock, client: WebhookWire | None = None) -> None:
        self.name = spec.name
        self.can = spec.can
        self._clock = clock
        self._wire = client or WebhookWire(spec.url, within=WITHIN)
        self._broken = ""
        try:
            self._key = signing_key(spec.secret)
        except BadSecret as bad:
            self._broken = str(bad)

    def ask(self, request: SchedulerRequest) -> SchedulerAnswer:
        if Capability(request.action.value) not in self.can:
            return _refused(f"{self.name} cannot be asked to {request.action}")
        if self._broken:
            return _refused(self._broken)
        answer = self._asked(request)
        told = {"scheduler": self.name, "action": request.action, "key": request.key, "answer": answer.taken}
        log.info("scheduler asked", extra=told)
        return answer

    def look(self, request: SchedulerRequest) -> Looked:
        return Looked.CANNOT_TELL

    def schedule_of(self, job: JobKey) -> Schedule | None:
        return None

    def close(self) -> None:
        """Close the kept connections; happens by itself when nobody holds the scheduler any more."""
        self._wire.close()

    def _asked(self, request: SchedulerRequest) -> SchedulerAnswer:
        content = body_of(request)
        timestamp = int(self._clock().timestamp())
        signed = signed_headers(self._key, id=webhook_id(request.key), timestamp=timestamp, body=content)
        headers = {"Content-Type": "application/json", "User-Agent": "ontrack", "Accept": "application/json", **signed}
        try:
            return self._read(self._wire.post(content, headers))
        except NotSent as nothing:
            return SchedulerAnswer(taken=Taken.REFUSED, message=str(nothing), retry_after=ASK_AGAIN_AFTER)
        except CannotBeSent as never:
            return _refused(str(never))
        except NoAnswer as unknown:
            return SchedulerAnswer(taken=Taken.UNCERTAIN, message=str(unknown))

    def _read(self, answered: Answered) -> SchedulerAnswer:
        status = answered.status
        if 200 <= status < 300:
            return SchedulerAnswer(taken=Taken.TAKEN)
        message = message_of(answered)
        if status == HTTPStatus.CONFLICT:
            return SchedulerAnswer(taken=Taken.ALREADY, message=message)
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            wait = wish(answered.headers.get("retry-after"), now=self._clock())
            return SchedulerAnswer(taken=Taken.REFUSED, message=message, retry_after=wait or ASK_AGAIN_AFTER)
        if 400 <= status < 500 and status != HTTPStatus.REQUEST_TIMEOUT:
            return _refused(message)
        return SchedulerAnswer(taken=Taken.UNCERTAIN, message=message)


def body_of(request: SchedulerRequest) -> bytes:
    """The request as JSON; a request about a job as a whole carries neither `run` nor `nominal_times`.

    `fresh` is there, and true, only in a rerun from the beginning.
    """
    body: dict[str, Any] = {
        "action": request.action,
        "scheduler": request.job.scheduler,
        "job": request.job.name,
    }
    if request.action in OF_A_RUN and request.run is not None:
        body["run"] = {"id": request.run.run_id, "generation": request.run.generation}
    if request.fresh:
        body["fresh"] = True
    if request.action in OF_RUNS:
        body["nominal_times"] = [time.astimezone(UTC) for time in request.nominal_times]
    body |= {"key": request.key, "requested_by": request.requested_by, "reason": request.reason}
    return msgspec.json.encode(_encodable(body))


def message_of(answered: Answered) -> str:
    """What the other side says in words: its `message`, or its plain text, masked and short; else its status."""
    kind = answered.headers.get("content-type", "").partition(";")[0].strip().lower()
    text = answered.content.decode("utf-8", "replace")
    if kind.endswith("json") or (not kind and text.lstrip().startswith("{")):
        text = _message_in(answered.content)
    elif kind not in ("text/plain", ""):
        text = ""
    said = " ".join(mask(clean(text)).split())
    if len(said) > LONGEST_MESSAGE:
        said = said[: LONGEST_MESSAGE - 1] + "…"
    return said or f"it answered {_named(answered.status)}"


def wish(header: str | None, *, now: datetime) -> timedelta | None:
    """The wait that a `Retry-After` header asks for, in seconds or as a date; None without a readable one."""
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            at = parsedate_to_datetime(header)
        except ValueError:
            return None
        seconds = ((at if at.tzinfo else at.replace(tzinfo=UTC)) - now).total_seconds()
    if not math.isfinite(seconds):
        return None
    return timedelta(seconds=min(max(seconds, 1.0), LONGEST_WAIT.total_seconds()))


def _message_in(content: bytes) -> str:
    try:
        body = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
    message = body.get("message") if isinstance(body, dict) else body
    return message if isinstance(message, str) else ""


def _named(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def _refused(message: str) -> SchedulerAnswer:
    return SchedulerAnswer(taken=Taken.REFUSED, message=message)


def _encodable(value: Any) -> Any:
    """The same with no broken characters in its texts, which JSON in UTF-8 cannot carry."""
    match value:
        case str():
            return value.encode("utf-8", "replace").decode()
        case dict():
            return {name: _encodable(each) for name, each in value.items()}
        case _:
            return value
