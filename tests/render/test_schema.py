"""The schema of the blocks refuses what Slack's limits refuse; what it takes is shown by every golden file."""

from typing import Any

import pytest

from bot.render.blocks import actions, button, container, preformatted, table
from tests.render.checking import SCHEMA

Block = dict[str, Any]


def section(words: str, **more: Any) -> Block:
    return {"type": "section", "text": {"type": "mrkdwn", "text": words}, **more}


def header(words: str) -> Block:
    return {"type": "header", "text": {"type": "plain_text", "text": words}}


def labelled(words: str) -> Block:
    one = button("ack", "x")
    return actions("a", [{**one, "text": {"type": "plain_text", "text": words}}])


TAKEN: dict[str, Block] = {
    "a header of 150": header("x" * 150),
    "a section of 3,000": section("x" * 3000),
    "a button of 75": labelled("x" * 75),
    "a table of 100 rows": table([("a", "b")] * 100),
    "a folded table": container("What changed", [table([("a", "b")])]),
    "verbatim lines": preformatted("a\nb"),
}
REFUSED: dict[str, Block] = {
    "a header of 151": header("x" * 151),
    "a header in mrkdwn": {"type": "header", "text": {"type": "mrkdwn", "text": "x"}},
    "a section of 3,001": section("x" * 3001),
    "a section without text": {"type": "section"},
    "a field that nobody knows": section("x", colour="red"),
    "a button of 76": labelled("x" * 76),
    "a button without a name": actions("a", [{"type": "button", "text": {"type": "plain_text", "text": "x"}}]),
    "26 buttons": actions("a", [button(f"b{number}", "x") for number in range(26)]),
    "a table of 101 rows": table([("a", "b")] * 101),
    "an empty cell": {"type": "table", "rows": [[{"type": "raw_text", "text": ""}]]},
    "a container in a container": container("x", [container("y", [section("z")])]),
    "a container of eleven": container("x", [section("z")] * 11),
    "collapsed for ever": {k: v for k, v in container("x", [section("z")]).items() if k != "is_collapsible"},
    "a stage of another standing": {
        "type": "plan",
        "title": "x",
        "tasks": [{"type": "task_card", "task_id": "a", "title": "x", "status": "completed"}],
    },
    "a block that nobody knows": {"type": "marquee", "text": "x"},
    "a link without its scheme": {
        "type": "rich_text",
        "elements": [{"type": "rich_text_section", "elements": [{"type": "link", "url": "javascript:alert(1)"}]}],
    },
    "markup in verbatim lines": {
        "type": "rich_text",
        "elements": [{"type": "rich_text_preformatted", "elements": [{"type": "user", "user_id": "U1"}]}],
    },
}


@pytest.mark.parametrize("name", TAKEN)
def test_what_slack_takes_is_taken(name: str) -> None:
    assert [error.message for error in SCHEMA.iter_errors([TAKEN[name]])] == []


@pytest.mark.parametrize("name", REFUSED)
def test_what_slack_refuses_is_refused(name: str) -> None:
    assert list(SCHEMA.iter_errors([REFUSED[name]])) != []
