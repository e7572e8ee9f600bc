"""What people saw in the workspace, read from the stand-in's messages and journal. It must not ask the product."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

Json = dict[str, Any]
PING = re.compile(r"<(?:@|!subteam\^)([A-Z0-9]+)(?:\|[^>]*)?>|<!(channel|here|everyone)>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """Somebody's phone rang: `who` by name, `at` which instant, in which channel, by which `text`."""

    at: datetime
    who: str
    channel: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What came of a click or a submission: what the person alone reads now, and the fields they must mend."""

    text: str = ""
    errors: str = ""
    status: int | None = None


def pinged(message: Json) -> list[str]:
    """The ids whom a message notifies when it is posted."""
    found = [sign for block in message.get("blocks") or [] for sign in _pinged(block)]
    if not message.get("blocks"):
        found = _in_markup(message.get("text", ""))
    return list(dict.fromkeys(found))


def buttons(message: Json) -> dict[str, Json]:
    """The buttons of a message or a view, by their labels."""
    found = {}
    for block in message.get("blocks") or []:
        for element in [*block.get("elements", []), block.get("accessory")]:
            if isinstance(element, dict) and element.get("type") == "button":
                found[element["text"]["text"]] = {**element, "block_id": block["block_id"]}
    return found


def _pinged(part: Any) -> Iterator[str]:
    if isinstance(part, list):
        for each in part:
            yield from _pinged(each)
    elif isinstance(part, dict):
        match part.get("type"):
            case "mrkdwn":
                yield from _in_markup(part["text"])
            case "user":
                yield part["user_id"]
            case "usergroup":
                yield part["usergroup_id"]
            case "broadcast":
                yield part["range"]
        for each in part.values():
            yield from _pinged(each)


def _in_markup(text: str) -> list[str]:
    return [found[1] or found[2] for found in PING.finditer(text)]
