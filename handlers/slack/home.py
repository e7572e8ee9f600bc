"""The Home tab: published when it is opened and after something was done from it, and the buttons that only it has.

It must not choose what a person may see, nor judge who may change a mark.
"""

from typing import Any

from bot.incidents.effects import Told, ToldKind
from bot.incidents.events import CauseMarked
from bot.render.actions import ActionId
from bot.render.home import home, read_mark_value
from bot.render.rendered import Rendered
from bot.store import StorageDown
from handlers.slack.desk import Desk
from handlers.slack.payloads import Click, Happening, Interaction, malformed
from handlers.slack.places import blocks_of, place_of

MARKS = frozenset({ActionId.REVOKE_MARKS, ActionId.CONFIRM_MARKS})
NO_MARK = Told(kind=ToldKind.OTHER_STATE, reason="no job of the team bears a mark on this cause any more")
UNREACHABLE = Rendered(text="The database cannot be reached just now. Please open this tab again in a minute.")


def on_home_opened(desk: Desk, happening: Happening) -> None:
    if happening.user and happening.tab in ("", "home"):
        show(desk, happening.user)


def show(desk: Desk, user: str) -> None:
    """Publish the person's page as it is when its turn comes."""
    desk.answers.publish_home(user=user, build=lambda: _view(desk, user))


def on_marks(desk: Desk, interaction: Interaction, *, action: ActionId, click: Click, key: str) -> None:
    """A person's word on all marks that a team made on a cause: one event a job, each judged by itself."""
    try:
        team, cause = read_mark_value(click.value or "")
    except ValueError as error:
        raise malformed("actions[0].value", str(error)) from error
    by, safe = desk.by(interaction.user), action is ActionId.CONFIRM_MARKS
    said = [
        desk.taken(
            key=f"{key}:{record}.{number}",
            event=CauseMarked(by=by, cause=cause, safe=safe),
            occurrence=(record, number),
        )
        for record, number in desk.homes.marked_in_chat(team, cause)
    ]
    refused = next((told for told in said or [NO_MARK] if told.kind is not ToldKind.DONE), None)
    if refused is not None:
        desk.tell(place_of(interaction), lambda: desk.shown(refused, occurrence=(0, 0)))
    show(desk, interaction.user.id)


def _view(desk: Desk, user: str) -> dict[str, Any]:
    try:
        return home(desk.homes.page(user))
    except StorageDown:
        return {"type": "home", "blocks": list(blocks_of(UNREACHABLE))}
