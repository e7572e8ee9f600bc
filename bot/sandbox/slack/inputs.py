"""What a person may enter into Block Kit's elements, as Slack's client has it; it must send nothing."""

import re
from collections.abc import Iterator
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

from bot.sandbox.slack.blocks import walk_blocks
from bot.sandbox.slack.objects import TIME
from bot.sandbox.slack.wire import Json, Refusal

STATELESS = {"button", "overflow", "image"}
FIELDS = {
    "plain_text_input": ("value", "initial_value"),
    "number_input": ("value", "initial_value"),
    "url_text_input": ("value", "initial_value"),
    "email_text_input": ("value", "initial_value"),
    "static_select": ("selected_option", "initial_option"),
    "radio_buttons": ("selected_option", "initial_option"),
    "overflow": ("selected_option", ""),
    "checkboxes": ("selected_options", "initial_options"),
    "multi_static_select": ("selected_options", "initial_options"),
    "users_select": ("selected_user", "initial_user"),
    "multi_users_select": ("selected_users", "initial_users"),
    "channels_select": ("selected_channel", "initial_channel"),
    "multi_channels_select": ("selected_channels", "initial_channels"),
    "conversations_select": ("selected_conversation", "initial_conversation"),
    "multi_conversations_select": ("selected_conversations", "initial_conversations"),
    "datepicker": ("selected_date", "initial_date"),
    "timepicker": ("selected_time", "initial_time"),
    "datetimepicker": ("selected_date_time", "initial_date_time"),
}
LISTS = {"selected_options", "selected_users", "selected_channels", "selected_conversations"}
REQUIRED = "Please complete this required field."


def stateful(blocks: list[Json]) -> Iterator[tuple[Json, Json]]:
    """Each block with each element whose value Slack keeps."""
    for block, element in walk_blocks(blocks):
        if element is not None and element["type"] not in STATELESS:
            yield block, element


def initial_values(blocks: list[Json]) -> Json:
    """The values that the elements start with, in the shape of a view's state."""
    values: Json = {}
    for block, element in stateful(blocks):
        name, initial = FIELDS[element["type"]]
        first = element.get(initial, [] if name in LISTS else None)
        values.setdefault(block["block_id"], {})[element["action_id"]] = {"type": element["type"], name: first}
    return values


def entered(element: Json, given: Any) -> Json:
    """The entry of an element in a view's state when a person gives it this value (an option by its value)."""
    kind = element["type"]
    name, _ = FIELDS[kind]
    if name == "selected_option":
        return {"type": kind, name: chosen(element, given) if given not in (None, "") else None}
    if name == "selected_options":
        return {"type": kind, name: [chosen(element, each) for each in given or []]}
    if name in LISTS:
        return {"type": kind, name: list(given or [])}
    if kind == "datetimepicker":
        return {"type": kind, name: int(given) if given not in (None, "") else None}
    return {"type": kind, name: str(given) if given not in (None, "") else None}


def chosen(element: Json, given: Any) -> Json:
    """The option with this value."""
    wanted = given.get("value") if isinstance(given, dict) else given
    groups = [element, *element.get("option_groups", [])]
    for option in (each for group in groups for each in group.get("options", [])):
        if option["value"] == wanted:
            return dict(option)
    raise Refusal("no_such_option", option=str(wanted))


def value_of(entry: Json) -> Any:
    return entry[FIELDS[entry["type"]][0]]


def fault_of(block: Json, element: Json, entry: Json) -> str | None:
    """What Slack's client would say under the field instead of sending it."""
    value = value_of(entry)
    if value in (None, "", []):
        return None if block["type"] != "input" or block.get("optional") else REQUIRED
    rule = {
        "plain_text_input": _text_fault,
        "number_input": _number_fault,
        "url_text_input": _url_fault,
        "email_text_input": _email_fault,
        "datepicker": _date_fault,
        "timepicker": _time_fault,
    }.get(element["type"])
    if rule is not None:
        return rule(element, str(value))
    most = element.get("max_selected_items")
    return f"Please choose {most} at most." if most and len(value) > most else None


def _text_fault(element: Json, value: str) -> str | None:
    least, most = element.get("min_length", 0), element.get("max_length", 3000)
    if len(value) < least:
        return f"Please use at least {least} characters."
    return f"Please use {most} characters or fewer." if len(value) > most else None


def _number_fault(element: Json, value: str) -> str | None:
    try:
        number = Decimal(value)
    except InvalidOperation:
        return "Please enter a number."
    if not number.is_finite():
        return "Please enter a number."
    if not element["is_decimal_allowed"] and number != number.to_integral_value():
        return "Please enter a whole number."
    if "min_value" in element and number < Decimal(element["min_value"]):
        return f"Please enter {element['min_value']} or more."
    if "max_value" in element and number > Decimal(element["max_value"]):
        return f"Please enter {element['max_value']} or less."
    return None


def _url_fault(element: Json, value: str) -> str | None:
    return None if re.fullmatch(r"https?://[^\s/]+\S*", value) else "Please enter a valid URL."


def _email_fault(element: Json, value: str) -> str | None:
    return None if re.fullmatch(r"[^\s@]+@[^\s@]+\.[^\s@]+", value) else "Please enter a valid email address."


def _date_fault(element: Json, value: str) -> str | None:
    try:
        date.fromisoformat(value)
    except ValueError:
        return "Please enter a valid date."
    return None


def _time_fault(element: Json, value: str) -> str | None:
    return None if re.fullmatch(TIME, value) else "Please enter a valid time."
