"""Says what Slack would refuse in a message or a view, all at once; it must change nothing and hold no state."""

import json
from collections.abc import Iterator
from typing import Any

from bot.sandbox.slack.data_blocks import MOST_CHARTS
from bot.sandbox.slack.layout import ANY_BLOCK
from bot.sandbox.slack.objects import plain
from bot.sandbox.slack.rules import Problem, Surface, Walk, boolean, items, one_of, record, string

MESSAGE_BLOCKS = 50
VIEW_BLOCKS = 100
MESSAGE_CHARACTERS = 11_300
UPDATE_TEXT = 4_000
METADATA_BYTES = 2_048
VIEW_BYTES = 250_000

__all__ = ["Problem", "Surface", "check_blocks", "check_message", "check_view", "walk_blocks"]


def check_message(payload: dict[str, Any], *, updating: bool = False) -> list[Problem]:
    """What chat.postMessage (or chat.update, when `updating`) would refuse in these arguments."""
    blocks = payload.get("blocks")
    words = payload.get("text") or ""
    walk = Walk(surface=Surface.MESSAGE)
    if not isinstance(words, str):
        walk.refuse("/text", "wrong_type", "must be a string")
    elif not words.strip() and not blocks and not payload.get("attachments"):
        walk.refuse("/text", "no_text", "no text and no blocks")
    elif updating and len(words) > UPDATE_TEXT:
        walk.refuse("/text", "msg_too_long", f"must be less than {UPDATE_TEXT + 1} characters")
    if blocks is not None:
        _walk_blocks_of(blocks, walk, most=MESSAGE_BLOCKS)
    if walk.characters > MESSAGE_CHARACTERS:
        walk.refuse("/blocks", "msg_blocks_too_long", f"{walk.characters} characters, about {MESSAGE_CHARACTERS} fit")
    if payload.get("metadata") is not None:
        _check_metadata(payload["metadata"], walk)
    return walk.problems


def check_blocks(blocks: Any, surface: Surface) -> list[Problem]:
    """What is wrong with a bare list of blocks on this surface."""
    walk = Walk(surface=surface)
    _walk_blocks_of(blocks, walk, most=MESSAGE_BLOCKS if surface is Surface.MESSAGE else VIEW_BLOCKS)
    return walk.problems


def check_view(view: Any) -> list[Problem]:
    """What views.open (or views.publish, by the view's type) would refuse in this view."""
    kind = view.get("type") if isinstance(view, dict) else None
    if kind not in (Surface.MODAL, Surface.HOME):
        return [Problem(pointer="/view/type", code="bad_value", message="must be one of: modal, home")]
    walk = Walk(surface=Surface(kind))
    (_MODAL if kind == Surface.MODAL else _HOME)(view, walk, "/view")
    asks = any(isinstance(block, dict) and block.get("type") == "input" for block in view.get("blocks") or [])
    if kind == Surface.MODAL and asks and "submit" not in view:
        walk.refuse("/view", "missing_field", "missing required field: submit")
    if len(json.dumps(view, ensure_ascii=False).encode()) > VIEW_BYTES:
        walk.refuse("/view", "view_too_large", f"must be at most {VIEW_BYTES} bytes")
    return walk.problems


def walk_blocks(blocks: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], dict[str, Any] | None]]:
    """Each block with each element in it that a person can act on (None for a block without one), top to bottom."""
    for block in blocks:
        found = [*block.get("elements", []), *([block["accessory"]] if "accessory" in block else [])]
        if block["type"] == "input":
            found = [block["element"]]
        if block["type"] not in ("actions", "section", "input"):
            found = []
        yield from ((block, element) for element in found)
        if not found:
            yield block, None
        yield from walk_blocks(block.get("child_blocks", []))


def _walk_blocks_of(blocks: Any, walk: Walk, *, most: int) -> None:
    items(ANY_BLOCK, most=most, least=0)(blocks, walk, "/blocks")
    blocks = blocks if isinstance(blocks, list) else []
    tables = [at for at, each in _tables(blocks, "/blocks")]
    for at in tables[1:] if walk.surface is Surface.MESSAGE else []:
        walk.refuse(at, "too_many", "only_one_table_allowed")
    charts = [each for each in blocks if isinstance(each, dict) and each.get("type") == "data_visualization"]
    if len(charts) > MOST_CHARTS and walk.surface is Surface.MESSAGE:
        walk.refuse("/blocks", "too_many", f"at most {MOST_CHARTS} charts")


def _tables(blocks: Any, at: str) -> Iterator[tuple[str, Any]]:
    for index, block in enumerate(blocks if isinstance(blocks, list) else []):
        if isinstance(block, dict) and block.get("type") == "table":
            yield f"{at}/{index}", block
        elif isinstance(block, dict):
            yield from _tables(block.get("child_blocks"), f"{at}/{index}/child_blocks")


def _view_blocks(value: Any, walk: Walk, at: str) -> None:
    items(ANY_BLOCK, most=VIEW_BLOCKS, least=0)(value, walk, at)


def _check_metadata(metadata: Any, walk: Walk) -> None:
    payload = metadata.get("event_payload") if isinstance(metadata, dict) else None
    if not isinstance(payload, dict) or not isinstance(metadata.get("event_type"), str):
        walk.refuse("/metadata", "invalid_metadata_format", "event_type and event_payload are required")
        return
    for key in metadata.keys() - {"event_type", "event_payload", "entities"}:
        walk.refuse("/metadata", "invalid_metadata_format", f"invalid additional property: {key}")
    for key, value in payload.items():
        if not _metadata_value(value):
            walk.refuse(f"/metadata/event_payload/{key}", "invalid_metadata_format", "nested too deep, or null")
    if len(json.dumps(metadata, ensure_ascii=False).encode()) > METADATA_BYTES:
        walk.refuse("/metadata", "metadata_too_large", f"must be at most {METADATA_BYTES} bytes")


def _metadata_value(value: Any, *, nested: bool = False) -> bool:
    if isinstance(value, (str, int, float, bool)):
        return True
    if nested:
        return False
    if isinstance(value, dict):
        return all(_metadata_value(each, nested=True) for each in value.values())
    return isinstance(value, list) and all(
        _metadata_value(each, nested=True) or (isinstance(each, dict) and _metadata_value(each)) for each in value
    )


_COMMON = {
    "private_metadata": string(most=3000, least=0),
    "callback_id": string(most=255),
    "external_id": string(most=255),
}
_MODAL = record(
    required={"type": one_of("modal"), "title": plain(24), "blocks": _view_blocks},
    optional={
        **_COMMON,
        "submit": plain(24),
        "close": plain(24),
        "clear_on_close": boolean,
        "notify_on_close": boolean,
        "submit_disabled": boolean,
    },
)
_HOME = record(required={"type": one_of("home"), "blocks": _view_blocks}, optional=_COMMON)
