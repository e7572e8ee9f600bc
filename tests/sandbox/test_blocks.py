"""Slack's limits on blocks, each at its last good value and one beyond."""

from typing import Any

import pytest
from slack_sdk.models.blocks import Block

from bot.sandbox.slack.blocks import Surface, check_blocks, check_message, check_view

Json = dict[str, Any]


def plain(words: str = "words") -> Json:
    return {"type": "plain_text", "text": words}


def mrkdwn(words: str = "words") -> Json:
    return {"type": "mrkdwn", "text": words}


def button(**changes: Any) -> Json:
    return {"type": "button", "text": plain("Go"), "action_id": "go", **changes}


def actions(*elements: Json) -> Json:
    return {"type": "actions", "elements": list(elements)}


def option(value: str = "a", words: str = "A") -> Json:
    return {"text": plain(words), "value": value}


def select(options: list[Json], **changes: Any) -> Json:
    return {"type": "static_select", "action_id": "pick", "options": options, **changes}


def asking(element: Json) -> Json:
    return {"type": "input", "label": plain("Why"), "element": element}


def table(rows: int, columns: int) -> Json:
    return {"type": "table", "rows": [[{"type": "raw_text", "text": "x"}] * columns for _ in range(rows)]}


def container(*children: Json, **changes: Any) -> Json:
    return {"type": "container", "title": plain("Changes"), "child_blocks": list(children), **changes}


def plan(*states: str) -> Json:
    tasks = [
        {"type": "task_card", "task_id": str(number), "title": "T", "status": state}
        for number, state in enumerate(states)
    ]
    return {"type": "plan", "title": "Road", "tasks": tasks}


def rich(*elements: Json) -> Json:
    return {"type": "rich_text", "elements": list(elements)}


DIVIDER: Json = {"type": "divider"}
WORD: Json = {"type": "text", "text": "x"}

LIMITS = [
    ({"type": "header", "text": plain("x" * 150)}, {"type": "header", "text": plain("x" * 151)}, "/0/text/text"),
    ({"type": "section", "text": mrkdwn("x" * 3000)}, {"type": "section", "text": mrkdwn("x" * 3001)}, "/0/text/text"),
    ({"type": "section", "text": plain()}, {"type": "section", "text": plain("")}, "/0/text/text"),
    ({"type": "section", "fields": [mrkdwn()] * 10}, {"type": "section", "fields": [mrkdwn()] * 11}, "/0/fields"),
    (
        {"type": "section", "fields": [mrkdwn("x" * 2000)]},
        {"type": "section", "fields": [mrkdwn("x" * 2001)]},
        "/0/fields/0/text",
    ),
    ({"type": "section", "text": mrkdwn()}, {"type": "section"}, "/0"),
    ({"type": "header", "text": plain()}, {"type": "header", "text": mrkdwn()}, "/0/text/type"),
    ({"type": "context", "elements": [mrkdwn()] * 10}, {"type": "context", "elements": [mrkdwn()] * 11}, "/0/elements"),
    (
        actions(*(button(action_id=str(n)) for n in range(25))),
        actions(*(button(action_id=str(n)) for n in range(26))),
        "/0/elements",
    ),
    (actions(button(text=plain("x" * 75))), actions(button(text=plain("x" * 76))), "/0/elements/0/text/text"),
    (actions(button()), actions(button(text=mrkdwn())), "/0/elements/0/text/type"),
    (actions(button(value="x" * 2000)), actions(button(value="x" * 2001)), "/0/elements/0/value"),
    (actions(button(action_id="x" * 255)), actions(button(action_id="x" * 256)), "/0/elements/0/action_id"),
    (actions(button(style="danger")), actions(button(style="default")), "/0/elements/0/style"),
    (actions(button()), actions(button(colour="red")), "/0/elements/0"),
    (actions(button(), button(action_id="b")), actions(button(), button()), "/0/elements/1/action_id"),
    (
        actions(button(url="https://example.com")),
        actions(button(url="javascript:alert(1)")),
        "/0/elements/0/url",
    ),
    (
        actions(select([option(str(n)) for n in range(100)])),
        actions(select([option(str(n)) for n in range(101)])),
        "/0/elements/0/options",
    ),
    (actions(select([option("x" * 150)])), actions(select([option("x" * 151)])), "/0/elements/0/options/0/value"),
    (
        actions(select([option(words="x" * 75)])),
        actions(select([option(words="x" * 76)])),
        "/0/elements/0/options/0/text/text",
    ),
    (
        actions(select([option("a"), option("b")])),
        actions(select([option(), option()])),
        "/0/elements/0/options/1/value",
    ),
    (
        actions(select([option()], initial_option=option())),
        actions(select([option()], initial_option=option("b"))),
        "/0/elements/0/initial_option",
    ),
    (
        actions({"type": "overflow", "action_id": "o", "options": [option(str(n)) for n in range(5)]}),
        actions({"type": "overflow", "action_id": "o", "options": [option(str(n)) for n in range(6)]}),
        "/0/elements/0/options",
    ),
    (
        actions(button(confirm={"title": plain("x" * 100), "text": mrkdwn(), "confirm": plain(), "deny": plain()})),
        actions(button(confirm={"title": plain("x" * 101), "text": mrkdwn(), "confirm": plain(), "deny": plain()})),
        "/0/elements/0/confirm/title/text",
    ),
    (actions(button()), actions({"type": "plain_text_input", "action_id": "t"}), "/0/elements/0/type"),
    (asking({"type": "plain_text_input", "action_id": "t"}), asking(button()), "/0/element/type"),
    (
        asking({"type": "number_input", "action_id": "n", "is_decimal_allowed": False}),
        asking({"type": "number_input", "action_id": "n"}),
        "/0/element",
    ),
    (
        asking({"type": "datepicker", "action_id": "d", "initial_date": "2026-12-31"}),
        asking({"type": "datepicker", "action_id": "d", "initial_date": "31.12.2026"}),
        "/0/element/initial_date",
    ),
    (table(100, 20), table(101, 20), "/0/rows"),
    (table(2, 20), table(2, 21), "/0/rows/0"),
    (container(*[DIVIDER] * 10), container(*[DIVIDER] * 11), "/0/child_blocks"),
    (container(DIVIDER), container(container(DIVIDER)), "/0/child_blocks/0/type"),
    (
        container(DIVIDER, is_collapsible=True, default_collapsed=True),
        container(DIVIDER, default_collapsed=True),
        "/0/default_collapsed",
    ),
    (plan("pending", "complete"), plan("completed"), "/0/tasks/0/status"),
    (plan(*["complete"] * 50), plan(*["complete"] * 51), "/0/tasks"),
    (
        rich({"type": "rich_text_preformatted", "elements": [WORD], "language": "diff"}),
        rich({"type": "rich_text_preformatted", "elements": [{"type": "user", "user_id": "U1"}]}),
        "/0/elements/0/elements/0/type",
    ),
    (
        rich({"type": "rich_text_section", "elements": [WORD]}),
        rich({"type": "rich_text_section", "elements": [{"type": "text", "text": ""}]}),
        "/0/elements/0/elements/0/text",
    ),
    ({"type": "markdown", "text": "x" * 11_300}, {"type": "markdown", "text": "x" * 12_001}, "/0/text"),
    (DIVIDER, {"type": "separator"}, "/0/type"),
    (DIVIDER, {"type": "alert", "text": plain()}, "/0/type"),
    (DIVIDER, {"type": "divider", "block_id": "x" * 256}, "/0/block_id"),
]


@pytest.mark.parametrize(("good", "bad", "pointer"), LIMITS)
def test_a_block_at_its_limit_is_taken_and_one_beyond_is_refused_where_it_is_wrong(
    good: Json, bad: Json, pointer: str
) -> None:
    assert check_message({"blocks": [good]}) == []
    assert next(each.pointer for each in check_message({"blocks": [bad]})) == f"/blocks{pointer}"


def test_fifty_blocks_fit_a_message_and_a_hundred_a_view() -> None:
    assert check_message({"blocks": [DIVIDER] * 50}) == []
    assert [each.code for each in check_message({"blocks": [DIVIDER] * 51})] == ["too_many"]
    assert check_blocks([DIVIDER] * 100, Surface.MODAL) == []
    assert [each.code for each in check_blocks([DIVIDER] * 101, Surface.HOME)] == ["too_many"]


def test_all_blocks_together_are_too_long_for_a_message_before_each_of_them_is() -> None:
    sections = [{"type": "section", "text": mrkdwn("x" * 2825)} for _ in range(4)]
    longer = [*sections, {"type": "context", "elements": [mrkdwn("x")]}]

    assert check_message({"blocks": sections}) == []
    assert [each.code for each in check_message({"blocks": longer})] == ["msg_blocks_too_long"]


def test_block_ids_differ_across_a_message_and_action_ids_within_a_block() -> None:
    twice = [{**DIVIDER, "block_id": "b"}, {**DIVIDER, "block_id": "b"}]

    assert [each.pointer for each in check_message({"blocks": twice})] == ["/blocks/1/block_id"]
    assert check_message({"blocks": [actions(button()), actions(button())]}) == []


def test_a_message_says_something() -> None:
    assert [each.code for each in check_message({"text": "  "})] == ["no_text"]
    assert check_message({"text": "x"}) == []
    assert check_message({"text": "x" * 4001}) == []
    assert [each.code for each in check_message({"text": "x" * 4001}, updating=True)] == ["msg_too_long"]


def test_metadata_is_small_and_flat() -> None:
    def code(payload: Any) -> list[str]:
        metadata = {"event_type": "ontrack", "event_payload": payload}
        return [each.code for each in check_message({"text": "x", "metadata": metadata})]

    assert code({"key": "k", "many": [1, 2], "nested": {"a": 1}}) == []
    assert code({"key": None}) == ["invalid_metadata_format"]
    assert code({"nested": {"deeper": {"a": 1}}}) == ["invalid_metadata_format"]
    assert code({"key": "x" * 2100}) == ["metadata_too_large"]
    assert code("text") == ["invalid_metadata_format"]


def test_every_problem_of_a_message_is_told_at_once() -> None:
    problems = check_message({"blocks": [{"type": "header"}, {"type": "nothing"}, actions(button(style="x"))]})

    assert [(each.pointer, each.code) for each in problems] == [
        ("/blocks/0", "missing_field"),
        ("/blocks/1/type", "unknown_type"),
        ("/blocks/2/elements/0/style", "bad_value"),
    ]


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"title": plain("x" * 25)}, "/view/title/text"),
        ({"submit": plain("x" * 25)}, "/view/submit/text"),
        ({"private_metadata": "x" * 3001}, "/view/private_metadata"),
        ({"callback_id": "x" * 256}, "/view/callback_id"),
        ({"blocks": [{"type": "markdown", "text": "x"}]}, "/view/blocks/0/type"),
        ({"blocks": [table(1, 1)]}, "/view/blocks/0/type"),
        ({"colour": "red"}, "/view"),
        ({"type": "page"}, "/view/type"),
    ],
)
def test_a_modal_beyond_its_limits_is_refused_where_it_is_wrong(change: Json, pointer: str) -> None:
    view = {
        "type": "modal",
        "title": plain("x" * 24),
        "submit": plain("x" * 24),
        "blocks": [{"type": "alert", "text": plain()}],
    }

    assert check_view(view) == []
    assert [each.pointer for each in check_view({**view, **change})] == [pointer]


def test_a_modal_that_asks_needs_a_submit_button() -> None:
    view = {"type": "modal", "title": plain(), "blocks": [asking({"type": "plain_text_input", "action_id": "t"})]}

    assert [each.message for each in check_view(view)] == ["missing required field: submit"]


def test_a_view_over_its_size_is_too_large() -> None:
    blocks = [{"type": "section", "text": mrkdwn("x" * 3000)} for _ in range(90)]

    assert [each.code for each in check_view({"type": "home", "blocks": blocks})] == ["view_too_large"]


@pytest.mark.parametrize("block", [good for good, _, _ in LIMITS])
def test_what_we_take_the_official_models_take_too(block: Json) -> None:
    """The SDK drops what it does not know (`language`, `task_card` inside a plan stays), so only its own checks speak."""
    parsed = Block.parse(block)

    assert parsed is not None
    parsed.validate_json()


@pytest.mark.parametrize("payload", [None, 1, "x", [1], [[]], [None], [{"type": 1}], {"type": "section"}])
def test_nonsense_is_a_problem_and_never_a_crash(payload: Any) -> None:
    problems = check_message({"text": "x", "blocks": payload})

    assert problems or payload is None
