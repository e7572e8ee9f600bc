"""Block Kit's blocks as rules, and the surfaces that each may stand on; it must not judge a message as a whole."""

from typing import Any

from bot.sandbox.slack import data_blocks, elements, rich
from bot.sandbox.slack.objects import block_id, plain, slack_file, text, url
from bot.sandbox.slack.rules import (
    Check,
    Fields,
    Surface,
    Walk,
    at_least_one,
    boolean,
    exactly_one,
    items,
    number,
    one_of,
    record,
    string,
    tagged,
    typed,
)

TABLE_ROWS = 100
TABLE_COLUMNS = 20
EVERYWHERE = frozenset(Surface)
MESSAGES = frozenset({Surface.MESSAGE})
NOT_MODALS = frozenset({Surface.MESSAGE, Surface.HOME})
MODALS = frozenset({Surface.MODAL})


def block(
    kind: str,
    *,
    required: Fields | None = None,
    optional: Fields | None = None,
    then: tuple[Check, ...] = (),
    on: frozenset[Surface] = EVERYWHERE,
) -> Check:
    """A typed record with a block_id that may stand on some surfaces only."""
    shape = typed(kind, required=required, optional={"block_id": block_id, **(optional or {})}, then=then)

    def check(value: Any, walk: Walk, at: str) -> None:
        if walk.surface not in on:
            walk.refuse(f"{at}/type", "wrong_surface", f"unsupported type: {kind} is not available in a {walk.surface}")
        walk.action_ids = set()
        shape(value, walk, at)

    return check


def rows_of_one_length(value: Any, walk: Walk, at: str) -> None:
    rows = value.get("rows")
    lengths = {len(row) for row in rows if isinstance(row, list)} if isinstance(rows, list) else set()
    if len(lengths) > 1:
        walk.refuse(f"{at}/rows", "bad_value", "all rows must have the same number of cells")


def collapsed_can_open(value: Any, walk: Walk, at: str) -> None:
    if value.get("default_collapsed") and not value.get("is_collapsible"):
        walk.refuse(f"{at}/default_collapsed", "bad_value", "default_collapsed requires is_collapsible")


def task_ids_differ(value: Any, walk: Walk, at: str) -> None:
    tasks = value.get("tasks")
    seen: set[str] = set()
    for index, task in enumerate(tasks if isinstance(tasks, list) else []):
        name = task.get("task_id") if isinstance(task, dict) else None
        if isinstance(name, str) and name in seen:
            walk.refuse(f"{at}/tasks/{index}/task_id", "duplicate", f"task_id {name} already exists")
        elif isinstance(name, str):
            seen.add(name)


def started(value: Any, walk: Walk, at: str) -> None:
    if value.get("status") == "pending":
        walk.refuse(f"{at}/status", "bad_value", "a task_card outside a plan may not be pending")


rich_text = block("rich_text", required={"elements": rich.elements})

_cell = tagged(
    {
        "raw_text": typed("raw_text", required={"text": string(most=10_000, counted=True)}),
        "raw_number": typed("raw_number", required={"value": number, "text": string(most=100, counted=True)}),
        "rich_text": rich_text,
    }
)
_column = record(required={}, optional={"align": one_of("left", "center", "right"), "is_wrapped": boolean})
_task_fields: Fields = {
    "task_id": string(most=255),
    "title": string(most=256, counted=True),
    "status": one_of("pending", "in_progress", "complete", "error"),
}
_task_details: Fields = {
    "details": rich_text,
    "output": rich_text,
    "sources": items(typed("url", required={"url": url, "text": string(most=256, counted=True)}), most=20, least=0),
}

SIMPLE: dict[str, Check] = {
    "section": block(
        "section",
        optional={
            "text": text(3000),
            "fields": items(text(2000), most=10),
            "accessory": elements.BESIDE_SECTION,
            "expand": boolean,
        },
        then=(at_least_one("text", "fields"),),
    ),
    "header": block("header", required={"text": plain(150)}),
    "divider": block("divider"),
    "image": block(
        "image",
        required={"alt_text": string(most=2000)},
        optional={"image_url": url, "slack_file": slack_file, "title": plain(2000)},
        then=(exactly_one("image_url", "slack_file"),),
    ),
    "context": block(
        "context",
        required={
            "elements": items(
                tagged({"plain_text": plain(3000), "mrkdwn": text(3000), "image": elements.image}), most=10
            )
        },
    ),
    "actions": block("actions", required={"elements": items(elements.IN_ACTIONS, most=25)}),
    "rich_text": rich_text,
    "markdown": block("markdown", required={"text": string(most=12_000, counted=True)}, on=MESSAGES),
    "table": block(
        "table",
        required={"rows": items(items(_cell, most=TABLE_COLUMNS), most=TABLE_ROWS)},
        optional={"column_settings": items(_column, most=TABLE_COLUMNS)},
        then=(rows_of_one_length,),
        on=NOT_MODALS,
    ),
}

BLOCKS: dict[str, Check] = {
    **SIMPLE,
    "input": block(
        "input",
        required={"label": plain(2000), "element": elements.IN_INPUT},
        optional={"hint": plain(2000), "optional": boolean, "dispatch_action": boolean},
    ),
    "container": block(
        "container",
        required={"child_blocks": items(tagged(SIMPLE), most=10)},
        optional={
            "title": plain(150),
            "rich_text_title": rich_text,
            "subtitle": text(150),
            "width": one_of("narrow", "standard", "wide", "full"),
            "icon": elements.image,
            "is_collapsible": boolean,
            "default_collapsed": boolean,
            "has_header_divider": boolean,
        },
        then=(at_least_one("title", "rich_text_title"), collapsed_can_open),
        on=NOT_MODALS,
    ),
    "plan": block(
        "plan",
        required={"title": string(most=256, counted=True)},
        optional={
            "tasks": items(
                typed("task_card", required=_task_fields, optional={**_task_details, "block_id": block_id}), most=50
            )
        },
        then=(task_ids_differ,),
        on=MESSAGES,
    ),
    "task_card": block("task_card", required=_task_fields, optional=_task_details, then=(started,), on=MESSAGES),
    "data_table": block(
        "data_table",
        required=data_blocks.TABLE_REQUIRED,
        optional=data_blocks.TABLE_OPTIONAL,
        then=(data_blocks.one_length,),
        on=NOT_MODALS,
    ),
    "data_visualization": block(
        "data_visualization",
        required=data_blocks.CHART_REQUIRED,
        then=(data_blocks.every_category_once,),
        on=NOT_MODALS,
    ),
    "alert": block(
        "alert",
        required={"text": text(200)},
        optional={"level": one_of("default", "info", "warning", "error", "success")},
        on=MODALS,
    ),
}
ANY_BLOCK = tagged(BLOCKS)
