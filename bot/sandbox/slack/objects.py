"""Block Kit's composition objects (texts, options, confirm dialogs) as rules; it must hold no element and no block."""

from typing import Any

from bot.sandbox.slack.rules import (
    Check,
    Fields,
    Walk,
    boolean,
    exactly_one,
    items,
    one_of,
    record,
    string,
    tagged,
    typed,
)

DATE = r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"
TIME = r"([01]\d|2[0-3]):[0-5]\d"
OPTIONS = 100

url = string(most=3000, pattern=r"(https?|mailto|slack|tel):\S+")
user_id = string(most=32, pattern=r"[UW][A-Z0-9]+")
channel_id = string(most=32, pattern=r"[CGD][A-Z0-9]+")


def plain(most: int, *, least: int = 1) -> Check:
    """A text object where Slack takes plain text only."""
    return typed(
        "plain_text",
        required={"text": string(most=most, least=least, counted=True)},
        optional={"emoji": boolean},
    )


def text(most: int, *, least: int = 1) -> Check:
    """A text object, plain or mrkdwn."""
    mrkdwn = typed(
        "mrkdwn", required={"text": string(most=most, least=least, counted=True)}, optional={"verbatim": boolean}
    )
    return tagged({"plain_text": plain(most, least=least), "mrkdwn": mrkdwn})


def action_id(value: Any, walk: Walk, at: str) -> None:
    """Unique among the actions of its block."""
    string(most=255)(value, walk, at)
    if isinstance(value, str):
        if value in walk.action_ids:
            walk.refuse(at, "duplicate", f"action_id {value} already exists in this block")
        walk.action_ids.add(value)


def block_id(value: Any, walk: Walk, at: str) -> None:
    """Unique in the whole message or view."""
    string(most=255)(value, walk, at)
    if isinstance(value, str):
        if value in walk.block_ids:
            walk.refuse(at, "duplicate", f"block_id {value} already exists")
        walk.block_ids.add(value)


def focus_on_load(value: Any, walk: Walk, at: str) -> None:
    boolean(value, walk, at)
    if value is True:
        walk.focused += 1
        if walk.focused > 1:
            walk.refuse(at, "duplicate", "only one element can have focus_on_load")


confirm = record(
    required={"title": plain(100), "text": text(300), "confirm": plain(30), "deny": plain(30)},
    optional={"style": one_of("primary", "danger")},
)

dispatch_config = record(
    required={
        "trigger_actions_on": items(one_of("on_enter_pressed", "on_character_entered"), most=2),
    }
)

slack_file = record(required={}, optional={"id": string(most=32), "url": url}, then=(exactly_one("id", "url"),))


def option(*, rich: bool = False, linked: bool = False) -> Check:
    """An option; radio buttons and checkboxes take mrkdwn in it (`rich`), overflow menus a link (`linked`)."""
    words = text(75) if rich else plain(75)
    extra: Fields = {"url": url} if linked else {}
    return record(
        required={"text": words, "value": string(most=150)},
        optional={"description": text(75) if rich else plain(75), **extra},
    )


def unique_values(value: Any, walk: Walk, at: str) -> None:
    """The options of one menu differ in `value`."""
    options = value.get("options")
    if not isinstance(options, list):
        return
    seen: set[str] = set()
    for index, each in enumerate(options):
        word = each.get("value") if isinstance(each, dict) else None
        if isinstance(word, str) and word in seen:
            walk.refuse(f"{at}/options/{index}/value", "duplicate", f"option value {word} already exists")
        elif isinstance(word, str):
            seen.add(word)


def initial_among_options(value: Any, walk: Walk, at: str) -> None:
    """What is chosen at first is one of the options, word for word."""
    groups = [value, *(value.get("option_groups") or [])]
    options = [each for group in groups if isinstance(group, dict) for each in group.get("options") or []]
    chosen = value.get("initial_options") or ([value["initial_option"]] if "initial_option" in value else [])
    for each in chosen if isinstance(chosen, list) else []:
        if each not in options:
            name = "initial_option" if "initial_option" in value else "initial_options"
            walk.refuse(f"{at}/{name}", "bad_value", "must match one of the options")


option_group = record(required={"label": plain(75), "options": items(option(), most=OPTIONS)}, then=(unique_values,))
