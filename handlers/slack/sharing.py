"""The button "Share here": the same figures for everybody in the conversation, under the name of who shared them, once.

They are worked out anew for the same question and instant. It must not show them to anybody before the claim is stored.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from bot.health.answering import Answered
from bot.incidents.people import Person
from bot.ports import SendFailed
from bot.render.health import HealthAnswer, health_message
from bot.render.rendered import Rendered
from handlers.slack.desk import Desk
from handlers.slack.health import shared_of
from handlers.slack.payloads import Click, Interaction, malformed
from handlers.slack.places import blocks_of

logger = logging.getLogger(__name__)

ALREADY = Rendered(text="These figures were shared already.")
ASK_AGAIN = Rendered(text="These figures cannot be made any more. Please ask anew with /job-health.")
NOT_TAKEN = "Slack did not take it ({code}), so nothing was shared. Please ask anew with /job-health."
UNSURE = "Slack did not say whether it took it. Please look; if nothing stands there, ask anew with /job-health."


def on_share(desk: Desk, interaction: Interaction, click: Click) -> None:
    """Share what the button stands under. Raises `StorageDown` before anything was shared."""
    try:
        words, at, name = shared_of(click.value or "")
    except ValueError as error:
        raise malformed("actions[0].value", str(error)) from error
    url = interaction.response_url
    told = desk.health.answers.tell(words.text, by=None, now=at)
    if not isinstance(told, Answered):
        desk.answers.later("share", partial(_say, desk, url, ASK_AGAIN))
    elif not desk.health.claim(name, desk.clock()):
        desk.answers.later("share", partial(_say, desk, url, ALREADY))
    else:
        user = interaction.user
        person = Person(id=user.id, name=user.name or user.username or "")
        answer = replace(told.answer, shared_by=desk.health.answers.name_of(person))
        desk.answers.later("share", partial(_share, desk, url, answer))


def _share(desk: Desk, url: str, answer: HealthAnswer) -> None:
    message = health_message(answer)
    try:
        if desk.health.richer(url, message, in_channel=True):
            shown = message.richer
        else:
            shown = message.blocks
            desk.health.responses.answer(url=url, text=message.text, blocks=shown, in_channel=True)
    except SendFailed as failed:
        logger.warning("figures were not shared", extra={"code": failed.code})
        _say(desk, url, Rendered(text=UNSURE if failed.uncertain else NOT_TAKEN.format(code=failed.code)))
        return
    _without_button(desk, url, shown)
    if shown is message.blocks:
        desk.health.picture(url, answer, in_channel=True)


def _without_button(desk: Desk, url: str, shown: Sequence[dict[str, Any]]) -> None:
    """The private answer says that it was shared, and offers it no more."""
    said = {"type": "context", "elements": [{"type": "plain_text", "text": "You shared this here."}]}
    desk.health.responses.answer(url=url, text="You shared this here.", blocks=[*shown, said][-50:], replace=True)


def _say(desk: Desk, url: str, said: Rendered) -> None:
    desk.health.responses.answer(url=url, text=said.text, blocks=blocks_of(said))
