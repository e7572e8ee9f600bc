"""Renders a message's blocks as plain text, as a person would read them; it must invent nothing."""

import re
from collections.abc import Callable, Iterator
from typing import Any

Json = dict[str, Any]
Names = dict[str, str]
ENTITY = re.compile(r"<(?P<sign>[@#!]?)(?P<target>[^|>]+)(?:\|(?P<label>[^>]*))?>")
ESCAPES = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))
TASK_SIGNS = {"complete": "[x]", "in_progress": "[>]", "error": "[!]", "pending": "[ ]"}


def text_of(message: Json, names: Names | None = None) -> str:
    """The message as lines of text; `names` turns ids of people, groups and channels into words."""
    known = names or {}
    blocks = message.get("blocks") or []
    lines = [line for block in blocks for line in _lines(block, known)]
    if not blocks:
        lines = plain(message.get("text", ""), known).splitlines()
    lines += [f"[file] {each['title']} ({each['size']} bytes)" for each in message.get("files", [])]
    return "\n".join(lines)


def plain(mrkdwn: str, names: Names) -> str:
    """mrkdwn with its mentions, links and dates spelled out, and its escapes undone."""

    def spelled(match: re.Match[str]) -> str:
        sign, target, label = match["sign"], match["target"], match["label"]
        if sign == "@":
            return f"@{names.get(target, target)}"
        if sign == "#":
            return f"#{names.get(target, target)}"
        if sign == "!" and target.startswith("subteam^"):
            group = target.removeprefix("subteam^")
            return f"@{names.get(group, label or group)}"
        if sign == "!" and target.startswith("date^"):
            return label or target
        if sign == "!":
            return f"@{target}"
        return f"{label} ({target})" if label else target

    text = ENTITY.sub(spelled, mrkdwn)
    for escaped, sign in ESCAPES:
        text = text.replace(escaped, sign)
    return text


def _lines(block: Json, names: Names) -> Iterator[str]:
    yield from _DRAWN.get(block["type"], _unknown)(block, names)


def _words(text: Json | None, names: Names) -> str:
    if text is None:
        return ""
    return plain(text["text"], names) if text["type"] == "mrkdwn" else str(text["text"])


def _section(block: Json, names: Names) -> Iterator[str]:
    yield from _words(block.get("text"), names).splitlines()
    for field in block.get("fields", []):
        yield "  " + _words(field, names).replace("\n", ": ", 1)
    if "accessory" in block:
        yield f"  {_element(block['accessory'], names)}"


def _header(block: Json, names: Names) -> Iterator[str]:
    yield f"# {_words(block['text'], names)}"


def _divider(block: Json, names: Names) -> Iterator[str]:
    yield "----"


def _image(block: Json, names: Names) -> Iterator[str]:
    yield f"[image] {block['alt_text']}"


def _context(block: Json, names: Names) -> Iterator[str]:
    parts = [each["alt_text"] if each["type"] == "image" else _words(each, names) for each in block["elements"]]
    yield "  ~ " + " | ".join(parts)


def _actions(block: Json, names: Names) -> Iterator[str]:
    yield " ".join(_element(each, names) for each in block["elements"])


def _element(element: Json, names: Names) -> str:
    if element["type"] == "image":
        return f"[image] {element['alt_text']}"
    label = _words(element.get("text") or element.get("placeholder"), names)
    return f"[{label or element['type']}]"


def _input(block: Json, names: Names) -> Iterator[str]:
    optional = " (optional)" if block.get("optional") else ""
    options = [_words(each["text"], names) for each in block["element"].get("options", [])]
    yield f"{_words(block['label'], names)}{optional}: <{block['element']['type']}>" + "".join(
        f" ({each})" for each in options
    )
    if "hint" in block:
        yield f"  ~ {_words(block['hint'], names)}"


def _rich_text(block: Json, names: Names) -> Iterator[str]:
    for element in block["elements"]:
        if element["type"] == "rich_text_list":
            for index, item in enumerate(element["elements"], element.get("offset", 0) + 1):
                mark = f"{index}." if element["style"] == "ordered" else "-"
                yield f"{'  ' * element.get('indent', 0)}{mark} {_inline(item['elements'], names)}"
            continue
        start = {"rich_text_quote": "> ", "rich_text_preformatted": "    "}.get(element["type"], "")
        for line in _inline(element["elements"], names).splitlines():
            yield f"{start}{line}"


def _inline(elements: list[Json], names: Names) -> str:
    return "".join(_span(each, names) for each in elements)


def _span(span: Json, names: Names) -> str:
    kind = span["type"]
    if kind in ("user", "usergroup", "channel"):
        target = span[f"{kind}_id"]
        return f"{'#' if kind == 'channel' else '@'}{names.get(target, target)}"
    if kind == "link":
        return f"{span['text']} ({span['url']})" if span.get("text") else str(span["url"])
    words = {"text": "text", "broadcast": "range", "emoji": "name", "date": "fallback", "color": "value"}[kind]
    marked = {"emoji": ":{}:", "broadcast": "@{}"}.get(kind, "{}")
    return marked.format(span.get(words, ""))


def _markdown(block: Json, names: Names) -> Iterator[str]:
    yield from block["text"].splitlines()


def _table(block: Json, names: Names) -> Iterator[str]:
    rows = [[_cell(cell, names) for cell in row] for row in block["rows"]]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"


def _chart(block: Json, names: Names) -> Iterator[str]:
    chart = block["chart"]
    yield f"[chart] {block['title']}"
    for each in chart.get("series", [{"name": "", "data": chart.get("segments", [])}]):
        points = ", ".join(f"{point['label']} {point['value']}" for point in each["data"])
        yield f"  {each['name']}: {points}"


def _cell(cell: Json, names: Names) -> str:
    return " ".join(_rich_text(cell, names)) if cell["type"] == "rich_text" else str(cell["text"])


def _container(block: Json, names: Names) -> Iterator[str]:
    title = _words(block.get("title"), names) or " ".join(_rich_text(block["rich_text_title"], names))
    yield f"{'>' if block.get('default_collapsed') else 'v'} {title}"
    for child in block["child_blocks"]:
        yield from (f"  {line}" for line in _lines(child, names))


def _plan(block: Json, names: Names) -> Iterator[str]:
    yield str(block["title"])
    for task in block.get("tasks", []):
        yield from _task(task, names)


def _task(block: Json, names: Names) -> Iterator[str]:
    yield f"  {TASK_SIGNS[block['status']]} {block['title']}"
    for part in ("details", "output"):
        if part in block:
            yield from (f"      {line}" for line in _rich_text(block[part], names))


def _alert(block: Json, names: Names) -> Iterator[str]:
    yield f"! {_words(block['text'], names)}"


def _unknown(block: Json, names: Names) -> Iterator[str]:
    yield f"[{block['type']}]"


_DRAWN: dict[str, Callable[[Json, Names], Iterator[str]]] = {
    "section": _section,
    "header": _header,
    "divider": _divider,
    "image": _image,
    "context": _context,
    "actions": _actions,
    "input": _input,
    "rich_text": _rich_text,
    "markdown": _markdown,
    "table": _table,
    "data_table": _table,
    "data_visualization": _chart,
    "container": _container,
    "plan": _plan,
    "task_card": _task,
    "alert": _alert,
}
