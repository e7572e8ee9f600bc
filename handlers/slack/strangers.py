"""Turns away people of other workspaces, who meet our messages in shared channels; it must not judge anybody of our own."""

from collections.abc import Callable

from bot.render.rendered import Rendered
from handlers.slack.desk import Desk
from handlers.slack.payloads import Command, Interaction, Payload
from handlers.slack.places import place_of
from handlers.wire import Refused

Ours = Callable[[], str | None]
"""The id of our workspace; None while it is not known, or where people of others are ours as well."""

SAID = (
    "Only people of the workspace that ontrack belongs to can use this: nothing was changed. "
    "Please ask somebody of the owning team, who are named in this thread."
)


def turn_away(payload: Payload, *, ours: str | None, desk: Desk) -> None:
    """Raises `Refused` with 403 for a stranger's click, form or command, after telling them privately."""
    team = _team_of(payload)
    if ours is None or team is None or team == ours:
        return
    if isinstance(payload, Interaction):
        desk.tell(place_of(payload), lambda: Rendered(text=SAID))
    raise Refused(
        403,
        reason="stranger",
        field="user.team_id",
        message="this person is of another workspace",
        fix="ask somebody of the owning team",
    )


def _team_of(payload: Payload) -> str | None:
    if isinstance(payload, Interaction):
        return payload.user.team_id or (payload.team.id if payload.team else None)
    return (payload.team_id or None) if isinstance(payload, Command) else None
