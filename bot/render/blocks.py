"""Buttons and other parts of Block Kit as plain dicts, within Slack's limits. It must not know an incident."""

from collections.abc import Sequence
from typing import Any

from bot.render.text import one_line, shortened

Block = dict[str, Any]

MOST_LABEL = 75
MOST_TITLE = 24
MOST_VALUE = 150


def plain_text(text: str, most: int = 150) -> Block:
    """Text that is not parsed, short codes of emoji neither."""
    return {"type": "plain_text", "text": shortened(text, most) or "–", "emoji": False}


def button(
    action: str,
    label: str,
    *,
    value: str | None = None,
    style: str | None = None,
    ask: Block | None = None,
    url: str | None = None,
) -> Block:
    """A button; `ask` is the dialog that it shows before it counts."""
    extra = {"value": value, "style": style, "confirm": ask, "url": url}
    return {
        "type": "button",
        "action_id": action,
        "text": plain_text(label, MOST_LABEL),
        **{name: each for name, each in extra.items() if each is not None},
    }


def dialog(*, title: str, text: str, yes: str, no: str = "Cancel", style: str | None = None) -> Block:
    """The question that Slack asks before a click counts."""
    return {
        "title": plain_text(title, 100),
        "text": plain_text(text, 300),
        "confirm": plain_text(yes, 30),
        "deny": plain_text(no, 30),
        **({"style": style} if style else {}),
    }


def actions(block_id: str, buttons: Sequence[Block]) -> Block:
    return {"type": "actions", "block_id": block_id, "elements": list(buttons)}


def preformatted(text: str) -> Block:
    """Verbatim lines; nothing in them is parsed."""
    verbatim = {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": text}]}
    return {"type": "rich_text", "elements": [verbatim]}


def table(rows: Sequence[Sequence[str]]) -> Block:
    """A table of bare text; the first row is its head."""
    cells = [[{"type": "raw_text", "text": cell or "–"} for cell in row] for row in rows]
    return {"type": "table", "rows": cells, "column_settings": [{"is_wrapped": True} for _ in rows[0]]}


def container(title: str, blocks: Sequence[Block]) -> Block:
    """Blocks under one line, shown when it is opened."""
    return {
        "type": "container",
        "title": plain_text(title, 150),
        "is_collapsible": True,
        "default_collapsed": True,
        "child_blocks": list(blocks),
    }


def option(value: str, label: str, description: str = "") -> Block:
    """A choice; its value must be told back whole, so that it is never cut."""
    told = {"description": plain_text(description, MOST_LABEL)} if description else {}
    return {"text": plain_text(label, MOST_LABEL), "value": value, **told}


def select(options: Sequence[Block], *, initial: Block | None = None, placeholder: str = "Choose") -> Block:
    """One of several choices."""
    return {
        "type": "static_select",
        "action_id": "value",
        "options": list(options),
        "placeholder": plain_text(placeholder),
        **({"initial_option": initial} if initial else {}),
    }


def multi_select(options: Sequence[Block], *, initial: Sequence[Block] = (), placeholder: str = "Choose") -> Block:
    """Any of several choices."""
    return {
        "type": "multi_static_select",
        "action_id": "value",
        "options": list(options),
        "placeholder": plain_text(placeholder),
        **({"initial_options": list(initial)} if initial else {}),
    }


def radio(options: Sequence[Block], *, initial: Block) -> Block:
    """One of a few choices, all in sight."""
    return {"type": "radio_buttons", "action_id": "value", "options": list(options), "initial_option": initial}


def checkbox(each: Block) -> Block:
    return {"type": "checkboxes", "action_id": "value", "options": [each]}


def text_input(*, multiline: bool = False, initial: str = "", placeholder: str = "", most: int = 1000) -> Block:
    """Free words."""
    return {
        "type": "plain_text_input",
        "action_id": "value",
        "multiline": multiline,
        "max_length": most,
        **({"initial_value": shortened(initial, most)} if initial else {}),
        **({"placeholder": plain_text(placeholder)} if placeholder else {}),
    }


def moment_input(initial: int) -> Block:
    """An instant, chosen in the reader's own time; `initial` in seconds since 1970."""
    return {"type": "datetimepicker", "action_id": "value", "initial_date_time": initial}


def field(block_id: str, label: str, element: Block, *, hint: str = "", optional: bool = False) -> Block:
    """An input with its label."""
    return {
        "type": "input",
        "block_id": block_id,
        "label": plain_text(label, 300),
        "element": element,
        "optional": optional,
        **({"hint": plain_text(hint, 300)} if hint else {}),
    }


def modal(callback_id: str, *, title: str, blocks: Sequence[Block], metadata: str, submit: str | None = None) -> Block:
    """A modal view."""
    return {
        "type": "modal",
        "callback_id": callback_id,
        "private_metadata": metadata,
        "title": plain_text(one_line(title, MOST_TITLE), MOST_TITLE),
        "close": plain_text("Cancel" if submit else "Close", MOST_TITLE),
        **({"submit": plain_text(submit, MOST_TITLE)} if submit else {}),
        "blocks": list(blocks),
    }
