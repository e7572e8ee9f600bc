"""`POST /slack/events`: Bolt behind our own check of the raw bytes, its listeners run to their end before the answer.

It must not speak to Slack to start or to know who calls, run a listener on the event loop, or do anything but route.
"""

import logging
import re
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from slack_bolt import Ack, App, BoltContext, BoltRequest, BoltResponse
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.error import BoltUnhandledRequestError

from bot.ports import Clock
from handlers.meters import Meters
from handlers.slack.actions import on_click
from handlers.slack.answers import PrivateAnswers
from handlers.slack.commands import on_job_health
from handlers.slack.desk import Causes, Desk, HomePages, SlackReads, TakeIn
from handlers.slack.health import HealthDesk
from handlers.slack.home import on_home_opened
from handlers.slack.payloads import Payload, payload_of
from handlers.slack.strangers import Ours, turn_away
from handlers.slack.verify import Verifier
from handlers.slack.views import on_submission
from handlers.wire import Answer, Call, Door, Refused

NAME = "slack"
PATH = "/slack/events"
CAP = 1024 * 1024
ANYTHING = re.compile("")
PAYLOAD, FAILURE = "ontrack_payload", "ontrack_failure"

Dispatch = Callable[[Payload], Answer]


def slack_door(
    *,
    signing_secrets: Sequence[str],
    take_in: TakeIn,
    reads: SlackReads,
    homes: HomePages,
    answers: PrivateAnswers,
    causes: Causes,
    clock: Clock,
    meters: Meters,
    health: HealthDesk,
    ours: Ours = lambda: None,
) -> Door:
    """The door for Slack; who hands `answers` over closes it. `ours` is our workspace."""
    desk = Desk(
        take_in=take_in,
        reads=reads,
        homes=homes,
        answers=answers,
        causes=causes,
        clock=clock,
        meters=meters,
        health=health,
    )
    return http_door(dispatcher(desk, ours), signing_secrets=signing_secrets, clock=clock)


def http_door(dispatch: Dispatch, *, signing_secrets: Sequence[str], clock: Clock) -> Door:
    """The door for Slack before listeners that others share."""

    def handle(call: Call) -> Answer:
        payload = payload_of(call)
        return dispatch(payload) if payload is not None else Answer(content_type="text/plain")

    verifier = Verifier(secrets=signing_secrets, clock=clock)
    return Door(name=NAME, path=PATH, cap=CAP, admit=verifier.admit, handle=handle)


def dispatcher(desk: Desk, ours: Ours = lambda: None) -> Dispatch:
    """Routes a payload to its listener; raises what the listener raised, and `Refused` where there is none."""
    app = _bolt(desk)

    def dispatch(payload: Payload) -> Answer:
        turn_away(payload, ours=ours(), desk=desk)
        body = msgspec.to_builtins(payload)
        request = BoltRequest(body=body, headers={}, context={PAYLOAD: payload}, mode="socket_mode")
        response = app.dispatch(request)
        failure = request.context.get(FAILURE)
        if isinstance(failure, BoltUnhandledRequestError):
            raise _unknown() from failure
        if isinstance(failure, Exception):
            raise failure
        return _answer(response)

    return dispatch


def _bolt(desk: Desk) -> App:
    app = App(
        name="ontrack",
        logger=logging.getLogger("handlers.slack.bolt"),
        process_before_response=True,
        raise_error_for_unhandled_request=True,
        signing_secret="checked before Bolt",
        request_verification_enabled=False,
        token_verification_enabled=False,
        authorize=_authorized,
    )

    def on_action(ack: Ack, context: BoltContext) -> None:
        on_click(desk, context[PAYLOAD])
        ack()

    def on_view(ack: Ack, context: BoltContext) -> None:
        said = on_submission(desk, context[PAYLOAD])
        ack(said) if said else ack()

    def on_view_closed(ack: Ack) -> None:
        ack()

    def on_command(ack: Ack, context: BoltContext) -> None:
        said = on_job_health(desk, context[PAYLOAD])
        ack(said) if said else ack()

    def on_home(context: BoltContext) -> None:
        on_home_opened(desk, context[PAYLOAD].event)

    def on_error(error: Exception, context: BoltContext) -> None:
        context[FAILURE] = error

    app.action(ANYTHING)(on_action)
    app.view(ANYTHING)(on_view)
    app.view_closed(ANYTHING)(on_view_closed)
    app.command("/job-health")(on_command)
    app.event("app_home_opened")(on_home)
    app.error(on_error)
    return app


def _authorized(enterprise_id: str | None, team_id: str | None) -> AuthorizeResult:
    """Signed is authorised: what a person may do is decided further in, and private answers have their own client."""
    return AuthorizeResult(enterprise_id=enterprise_id, team_id=team_id, bot_token="unused")


def _answer(response: BoltResponse) -> Answer:
    body: Any = response.body
    content_type = response.first_headers().get("content-type", "text/plain")
    return Answer(status=response.status, body=body.encode(), content_type=content_type)


def _unknown() -> Refused:
    return Refused(
        404,
        reason="unknown_payload",
        field="payload",
        message="nothing here answers this",
        fix="see the app's manifest",
    )
