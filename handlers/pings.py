"""`/ping/<job token>` and `/start`, `/success`, `/fail`, `/log` or an exit status behind it: what a crontab's curl reports.

The token is the licence; it must not judge what a ping means. Whoever calls reads plain text.
"""

from collections.abc import Callable, Sequence
from datetime import timedelta
from http import HTTPStatus
from urllib.parse import parse_qs

from bot.intake import Inbound, Outcome, Result
from bot.pings import LogPiece, NotAPing, Ping, Pings
from bot.ports import Clock
from bot.store.pings import PingStore
from handlers.meters import Meters
from handlers.wire import Answer, Call, Door, Refused

NAME = "pings"
PATHS = ("/ping/{token}", "/ping/{token}/{word}")
CAP = 1024 * 1024
LOGS_LAST = timedelta(days=7)

TakeIn = Callable[[Sequence[Inbound]], list[Outcome]]


def ping_doors(*, pings: Pings, store: PingStore, take_in: TakeIn, clock: Clock, meters: Meters) -> tuple[Door, ...]:
    """The doors for `curl`; `take_in` is intake's. Both may raise `StorageDown`."""

    def handle(call: Call) -> Answer:
        now = clock()
        try:
            read = pings.read(_ping(call), now)
        except NotAPing as wrong:
            raise _refused(wrong) from wrong
        if isinstance(read, LogPiece):
            store.keep_log(job=str(read.job), run_id=read.run_id, text=read.text, at=now)
            store.prune_logs(now=now, lasts=LOGS_LAST)
            return _said("kept")
        (outcome,) = take_in([Inbound(key=read.key, event=read)])
        meters.taken(door=NAME, result=outcome.result)
        if outcome.result is Result.REJECTED:
            raise Refused(422, reason="rejected", field="ping", message=outcome.reason or "rejected", fix="see the log")
        return _said("OK" if outcome.result is Result.ACCEPTED else "OK, told before")

    def admit(call: Call) -> None:
        """The token is read with the rest: it costs no more than the path."""

    methods = ("GET", "POST")
    return tuple(
        Door(name=NAME, path=path, cap=CAP, admit=admit, handle=handle, methods=methods, refuse=_refuse)
        for path in PATHS
    )


def _refuse(refused: Refused) -> Answer:
    """A log that is too large must not cost the ping: whoever wrote the crontab learns how to send its end."""
    if refused.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        refused.fix = "send the end of the log: tail -c 60000 LOG | curl --data-binary @- ADDRESS"
    return refused.answer()


def _ping(call: Call) -> Ping:
    try:
        rid = parse_qs(call.query, max_num_fields=20).get("rid", [""])[-1]
    except ValueError as failed:
        raise _refused(NotAPing("query", "expected ?rid=NAME at most")) from failed
    text = call.body.decode("utf-8", "replace") if call.method == "POST" else ""
    return Ping(token=call.params["token"], word=call.params.get("word", ""), text=text, rid=rid)


def _refused(wrong: NotAPing) -> Refused:
    status = 404 if wrong.field in ("token", "path") else 422
    return Refused(
        status, reason=f"ping_{wrong.field}", field=wrong.field, message=str(wrong), fix="see docs/connect-cron.md"
    )


def _said(words: str) -> Answer:
    return Answer(status=200, body=f"{words}\n".encode(), content_type="text/plain; charset=utf-8")
