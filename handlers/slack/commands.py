"""`/job-health`: what was asked is answered to the one who asked, in the richest form. It must not count, compare or judge.

The richer form goes to the address that came along, at once; where that fails the classic one is the answer to the request
itself, so that nobody is left without. The picture follows it.
"""

import logging
from functools import partial
from typing import Any

from bot.health.answering import Answered
from bot.incidents.people import Person
from bot.ports import SendFailed
from bot.render.health import BaselineShown, HealthHelp, baseline_message, health_message, help_message
from bot.render.rendered import Rendered
from bot.store import StorageDown
from handlers.slack.desk import Desk
from handlers.slack.health import with_share
from handlers.slack.payloads import Command
from handlers.slack.places import blocks_of

logger = logging.getLogger(__name__)

UNREACHABLE = Rendered(
    text="The database cannot be reached just now, so there are no figures. Please ask again in a minute."
)


def on_job_health(desk: Desk, command: Command) -> dict[str, Any] | None:
    """The private answer to the command; None: it stands there already."""
    by = Person(id=command.user_id, name=command.user_name)
    try:
        told = desk.health.answers.tell(command.text, by=by, now=desk.clock())
    except StorageDown:
        return _private(UNREACHABLE)
    match told:
        case HealthHelp():
            return _private(help_message(told))
        case BaselineShown():
            return _private(baseline_message(told))
        case Answered():
            return _figures(desk, command, told)


def _figures(desk: Desk, command: Command, told: Answered) -> dict[str, Any] | None:
    answer = with_share(told)
    message = health_message(answer)
    try:
        if desk.health.richer(command.response_url, message):
            return None
    except SendFailed as failed:
        logger.warning("the richer answer was not delivered", extra={"code": failed.code})
    desk.answers.later("picture", partial(desk.health.picture, command.response_url, answer))
    return _private(message)


def _private(message: Rendered) -> dict[str, Any]:
    return {"response_type": "ephemeral", "text": message.text, "blocks": list(blocks_of(message))}
