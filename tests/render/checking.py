"""Two independent checkers of a message or view, and golden files; both checkers only look."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from slack_sdk.models.blocks import Block
from slack_sdk.models.views import View

from bot.render.plain import plain, plain_block
from bot.render.rendered import Rendered
from bot.sandbox.slack.blocks import check_message, check_view

GOLDEN = Path(__file__).parent / "golden"
SCHEMA = Draft202012Validator(json.loads((Path(__file__).parent / "blocks.schema.json").read_text(encoding="utf-8")))
MOST_CHARACTERS = 9_000
MOST_UPDATE_TEXT = 4_000


def refused(rendered: Rendered) -> list[str]:
    """What the strict stand-in, Slack's own models and the schema find wrong with a message, in either of its forms."""
    return [
        *_refused(rendered.text, rendered.blocks),
        *(_refused(rendered.text, rendered.richer) if rendered.richer else ()),
    ]


def _refused(text: str, blocks: tuple[dict[str, Any], ...]) -> list[str]:
    payload = {"text": text, "blocks": list(blocks)}
    found = [f"{each.pointer}: {each.message}" for each in check_message(payload, updating=True)]
    found += [f"{each.json_path}: {each.message[:200]}" for each in SCHEMA.iter_errors(list(blocks))]
    parsed: list[Block | None] = [*Block.parse_all(list(blocks))]
    for block, given in zip(parsed, blocks, strict=True):
        if block is None:
            found.append(f"unknown block {given['type']}")
        else:
            block.validate_json()
            block.to_dict()
    if characters(blocks) > MOST_CHARACTERS:
        found.append(f"{characters(blocks)} characters")
    return found


def refused_view(view: dict[str, Any]) -> list[str]:
    """What the strict stand-in and Slack's own models find wrong with a modal."""
    View(**view).to_dict()
    for block in Block.parse_all(view["blocks"]):
        block.validate_json()
    against = [f"{each.json_path}: {each.message[:200]}" for each in SCHEMA.iter_errors(view["blocks"])]
    return [*(f"{each.pointer}: {each.message}" for each in check_view(view)), *against]


def characters(value: Any) -> int:
    """How much text the blocks hold, whatever shows it."""
    if isinstance(value, dict):
        own = sum(len(each) for key, each in value.items() if key in ("text", "fallback") and isinstance(each, str))
        return own + sum(characters(each) for each in value.values())
    return sum(characters(each) for each in value) if isinstance(value, (list, tuple)) else 0


def golden_message(name: str, rendered: Rendered) -> None:
    """Compare with the golden files, or write them where GOLDEN=write."""
    file = rendered.file and {"name": rendered.file.name, "title": rendered.file.title, "text": rendered.file.text}
    richer = {"richer": rendered.richer} if rendered.richer else {}
    message = {"text": rendered.text, "blocks": rendered.blocks, **richer, **({"file": file} if file else {})}
    _compare(f"{name}.json", _json(message))
    _compare(f"{name}.txt", f"{rendered.text}\n\n{plain(rendered)}\n")
    if rendered.richer:
        _compare(f"{name}.rich.txt", f"{plain(replace(rendered, blocks=rendered.richer))}\n")


def golden_view(name: str, view: dict[str, Any]) -> None:
    _compare(f"{name}.json", _json(view))
    submit = view["submit"]["text"] if "submit" in view else "-"
    lines = [f"{view['title']['text']} / {submit} / {view['private_metadata']}", *map(plain_block, view["blocks"])]
    _compare(f"{name}.txt", "\n".join(lines) + "\n")


def golden_home(name: str, view: dict[str, Any]) -> None:
    _compare(f"{name}.json", _json(view))
    _compare(f"{name}.txt", "\n".join(map(plain_block, view["blocks"])) + "\n")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _compare(name: str, now: str) -> None:
    path = GOLDEN / name.replace(" ", "_")
    if os.environ.get("GOLDEN") == "write":
        path.write_text(now, encoding="utf-8")

    assert path.exists(), f"no golden file {path.name}: run with GOLDEN=write and read it"
    assert path.read_text(encoding="utf-8") == now
