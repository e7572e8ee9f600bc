"""The modal behind More: the remaining actions, each with a line that says what will happen.

It must not act; each button there is the same button as elsewhere.
"""

from bot.render import buttons, offers
from bot.render.actions import ActionId, CallbackId, value_of
from bot.render.blocks import Block, modal
from bot.render.modal_parts import words_of
from bot.render.segments import mrkdwn
from bot.render.snapshot import Snapshot
from bot.render.templates import phrase

MOST_LINE = 2000


def modal_more(snapshot: Snapshot) -> Block:
    """What else can be done about the occurrence as it stands."""
    values = words_of(snapshot)
    blocks = [_line(snapshot, action, values) for action in offers.under_more(snapshot)]
    nothing = {
        "type": "section",
        "text": {"type": "plain_text", "text": "Nothing else can be done here.", "emoji": False},
    }
    metadata = value_of(snapshot.incident)
    return modal(CallbackId.MORE, title="More", blocks=blocks or [nothing], metadata=metadata)


def _line(snapshot: Snapshot, action: ActionId, values: dict[str, object]) -> Block:
    said = phrase("more", {**values, "action": action}, zone=snapshot.zone)
    return {
        "type": "section",
        "block_id": f"more:{action}",
        "text": {"type": "mrkdwn", "text": mrkdwn(said, MOST_LINE), "verbatim": True},
        "accessory": buttons.one(snapshot, action),
    }
