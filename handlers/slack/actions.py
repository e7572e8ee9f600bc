"""A click on a button: it becomes a person's word, or opens the modal that asks for the rest.

It must not judge who may do what; it refuses only what cannot be meant for the occurrence that the button names.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from bot.incidents.effects import Told, ToldKind
from bot.incidents.events import PersonEvent
from bot.incidents.model import UNRESOLVED, Status
from bot.render import holding, modals
from bot.render.actions import ActionId, from_home, read_value
from bot.render.more import modal_more
from bot.render.rendered import Rendered
from bot.render.snapshot import Snapshot
from bot.store import StorageDown
from handlers.slack import home
from handlers.slack.buttons import SAID, Clicked
from handlers.slack.desk import DOOR, Desk
from handlers.slack.payloads import Click, Interaction, malformed
from handlers.slack.places import place_of
from handlers.slack.sharing import on_share
from handlers.wire import Refused

ANY = frozenset(Status)
CLICK_AGAIN = (
    "That took too long, and Slack would no longer open the form: nothing was changed. Please click once more."
)
NOTHING_STORED = "Nothing was stored: the database cannot be reached just now. Please try again in a minute."


Build = Callable[[Desk, Snapshot], dict[str, Any]]

OPENED: Mapping[ActionId, tuple[Build, frozenset[Status]]] = {
    ActionId.FIXED: (lambda desk, snapshot: modals.modal_fixed(snapshot, causes=desk.causes()), UNRESOLVED),
    ActionId.PAUSE: (lambda desk, snapshot: holding.modal_pause(snapshot, now=desk.clock()), UNRESOLVED),
    ActionId.CHANGE_UNTIL: (
        lambda desk, snapshot: holding.modal_change_until(snapshot, now=desk.clock()),
        frozenset({Status.PAUSED}),
    ),
    ActionId.RETIRE: (lambda _, snapshot: holding.modal_retire(snapshot), UNRESOLVED),
    ActionId.LEAVE: (lambda desk, snapshot: holding.modal_leave(snapshot, now=desk.clock()), UNRESOLVED),
    ActionId.MORE: (lambda _, snapshot: modal_more(snapshot), UNRESOLVED),
    ActionId.WAIT_UNTIL: (lambda desk, snapshot: holding.modal_wait(snapshot, now=desk.clock()), UNRESOLVED),
    ActionId.CAUSE: (lambda desk, snapshot: modals.modal_cause(snapshot, causes=desk.causes()), ANY),
    ActionId.MARK_SAFE: (lambda _, snapshot: modals.modal_mark_safe(snapshot), UNRESOLVED),
    ActionId.NOT_NEEDED: (lambda _, snapshot: modals.modal_not_needed(snapshot), UNRESOLVED),
    ActionId.STILL_NEEDED: (lambda _, snapshot: modals.modal_still_needed(snapshot), UNRESOLVED),
    ActionId.RERUN_CHOOSE: (lambda _, snapshot: modals.modal_rerun(snapshot), UNRESOLVED),
    ActionId.HAND_OVER: (lambda _, snapshot: modals.modal_hand_over(snapshot), UNRESOLVED),
}


def on_click(desk: Desk, interaction: Interaction) -> None:
    """Take the click in, or open its modal; raises `Refused` for one that no button of ours can send.

    Raises `StorageDown` after telling the person that nothing was stored.
    """
    try:
        _clicked(desk, interaction)
    except StorageDown:
        desk.tell(place_of(interaction), lambda: Rendered(text=NOTHING_STORED))
        raise


def _clicked(desk: Desk, interaction: Interaction) -> None:
    click = _only_click(interaction)
    action = _action_of(click)
    if action is ActionId.OPEN_RECORD:
        return
    if action is ActionId.SHARE_HEALTH:
        on_share(desk, interaction, click)
        return
    if action in home.MARKS:
        home.on_marks(desk, interaction, action=action, click=click, key=_key_of(interaction, click))
        return
    record, number, proposal = _value_of(click)
    snapshot = desk.reads.snapshot(record, number)
    if snapshot is None:
        raise Refused(
            404,
            reason="unknown_occurrence",
            field="actions[0].value",
            message="there is no such incident",
            fix="use a button of a message that this service posted",
        )
    if action in OPENED:
        _open(desk, interaction, action, snapshot)
        return
    clicked = Clicked(
        by=desk.by(interaction.user), snapshot=snapshot, proposal=proposal, confirmed=_warned_and_sure(click)
    )
    _say(desk, interaction, key=_key_of(interaction, click), event=SAID[action](clicked), occurrence=(record, number))


def _say(desk: Desk, interaction: Interaction, *, key: str, event: PersonEvent, occurrence: tuple[int, int]) -> None:
    place = place_of(interaction)
    said = desk.taken(key=key, event=event, occurrence=occurrence)
    if said.kind is not ToldKind.DONE or place.view_id is not None:
        desk.tell(place, lambda: desk.shown(said, occurrence=occurrence))
    if place.from_home:
        home.show(desk, place.user)


def _open(desk: Desk, interaction: Interaction, action: ActionId, snapshot: Snapshot) -> None:
    build, fitting = OPENED[action]
    place = place_of(interaction)
    incident = snapshot.incident
    if incident.status not in fitting:
        occurrence = (incident.record, incident.number)
        desk.tell(place, lambda: desk.shown(_too_late(snapshot), occurrence=occurrence))
        if place.from_home:
            home.show(desk, place.user)
        return
    view = from_home(build(desk, snapshot)) if place.from_home else build(desk, snapshot)
    if place.view_id is not None:
        desk.answers.update_view(view_id=place.view_id, build=lambda: view)
    else:
        too_late = partial(desk.tell, place, lambda: Rendered(text=CLICK_AGAIN))
        desk.answers.open_view(trigger_id=place.trigger_id, view=view, too_late=too_late)


def _too_late(snapshot: Snapshot) -> Told:
    incident = snapshot.incident
    if incident.status.unresolved:
        return Told(
            kind=ToldKind.OTHER_STATE, reason=f"it is {incident.status}", facts={"status": incident.status.value}
        )
    by = str(incident.decision.by.person) if incident.decision else None
    facts = {"status": incident.status.value, "run": incident.closed_by_run, "by": by}
    return Told(kind=ToldKind.SETTLED, reason=f"it is {incident.status}", facts=facts)


def _only_click(interaction: Interaction) -> Click:
    if not interaction.actions:
        raise malformed("actions", "expected one")
    return interaction.actions[0]


def _action_of(click: Click) -> ActionId:
    try:
        return ActionId(click.action_id)
    except ValueError:
        raise Refused(
            404,
            reason="unknown_action",
            field="actions[0].action_id",
            message="no button of ours has this name",
            fix="use a button of a message that this service posted",
        ) from None


def _value_of(click: Click) -> tuple[int, int, int | None]:
    try:
        return read_value(click.value or "")
    except ValueError as error:
        raise malformed("actions[0].value", str(error)) from error


def _warned_and_sure(click: Click) -> bool:
    """Only the question about an unknown cause is asked as a danger; another question's yes is no yes to it."""
    return click.confirm is not None and click.confirm.get("style") == "danger"


def _key_of(interaction: Interaction, click: Click) -> str:
    """The same for a click that Slack sends again, another for every other click."""
    view, message, container = interaction.view, interaction.message, interaction.container
    where = view.id if view else message.ts if message else container.message_ts if container else ""
    when = click.action_ts or interaction.trigger_id
    if not when:
        raise malformed("actions[0].action_ts", "is missing")
    return f"{DOOR}:{interaction.user.id}:{click.action_id}:{where}:{when}"
