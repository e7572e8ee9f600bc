"""A message as plain text, for mails, the command line and tests. It must not drop what the message says."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from bot.render.rendered import Rendered
from bot.render.text import unescaped

_DATE = re.compile(r"<!date\^\d+\^[^|>]*\|([^>]*)>")
_LINK = re.compile(r"<((?:https?|mailto):[^|>]+)\|([^>]*)>")
_CALL = re.compile(r"<(?:@|!subteam\^)([A-Z0-9]+)>")
_STRONG = re.compile(r"(?<![\w*])\*([^*\n]+)\*(?![\w*])")


def plain(rendered: Rendered) -> str:
    """`rendered` as plain text, block by block."""
    return "\n".join(part for block in rendered.blocks if (part := plain_block(block))) or plain_mrkdwn(rendered.text)


def plain_block(block: dict[str, Any]) -> str:
    """One block as lines of plain text."""
    match block["type"]:
        case "header":
            return f"{block['text']['text']}\n"
        case "section":
            texts = [block["text"]] if "text" in block else []
            beside = [f"[{block['accessory']['text']['text']}]"] if "text" in block.get("accessory", {}) else []
            return "  ".join([*(_text(each) for each in (*texts, *block.get("fields", ()))), *beside])
        case "context":
            return "\n".join(_text(each) for each in block["elements"] if "text" in each)
        case "rich_text":
            return "\n".join(_rich_element(each) for each in block["elements"])
        case "actions":
            return " ".join(f"[{each['text']['text']}]" for each in block["elements"] if "text" in each)
        case "table":
            return "\n".join(" | ".join(str(cell.get("text", "")) for cell in row) for row in block["rows"])
        case "container":
            return "\n".join(
                [f"> {_text(block['title'])}", *(f"  {plain_block(each)}" for each in block["child_blocks"])]
            )
        case "plan":
            return "\n".join([block["title"], *(f"  {_task(each)}" for each in block["tasks"])])
        case "input":
            return _input(block)
        case _:
            return ""


def plain_mrkdwn(text: str) -> str:
    """mrkdwn without its marks."""
    text = _LINK.sub(r"\2 (\1)", _DATE.sub(r"\1", text))
    return unescaped(_STRONG.sub(r"\1", _CALL.sub(r"@\1", text)))


def _text(value: dict[str, Any]) -> str:
    return plain_mrkdwn(value["text"]) if value["type"] == "mrkdwn" else str(value["text"])


def _task(task: dict[str, Any]) -> str:
    told = f": {plain_block(task['details'])}" if "details" in task else ""
    return f"({task['status']}) {task['title']}{told}"


def _rich_element(element: dict[str, Any]) -> str:
    match element["type"]:
        case "rich_text_list":
            return "\n".join(f"- {_inline(each['elements'])}" for each in element["elements"])
        case "rich_text_quote":
            return "\n".join(f"> {line}" for line in _inline(element["elements"]).split("\n"))
        case "rich_text_preformatted":
            return "\n".join(f"    {line}" for line in _inline(element["elements"]).split("\n"))
        case _:
            return _inline(element["elements"])


def _inline(elements: Iterable[dict[str, Any]]) -> str:
    return "".join(_piece(element) for element in elements)


def _piece(element: dict[str, Any]) -> str:
    match element["type"]:
        case "date":
            return str(element["fallback"])
        case "link":
            return f"{element.get('text', '')} ({element['url']})"
        case "user" | "usergroup":
            return f"@{element.get('user_id') or element.get('usergroup_id')}"
        case _:
            return str(element.get("text", ""))


def _input(block: dict[str, Any]) -> str:
    element = block["element"]
    chosen = element.get("initial_options") or [each for each in (element.get("initial_option"),) if each]
    lines = [f"{block['label']['text']}{' (optional)' if block.get('optional') else ''}:"]
    for each in element.get("options", ()):
        told = f": {each['description']['text']}" if "description" in each else ""
        lines.append(f"  {'(x)' if each in chosen else '( )'} {each['text']['text']}{told}")
    if "initial_date_time" in element:
        lines.append(f"  {datetime.fromtimestamp(element['initial_date_time'], tz=UTC):%a %d %b %Y %H:%M UTC}")
    if "options" not in element and "initial_date_time" not in element:
        lines.append(f"  ______ {element.get('initial_value', '')}".rstrip())
    if "hint" in block:
        lines.append(f"  {block['hint']['text']}")
    return "\n".join(lines)
