"""The Home tab: each page reads as its golden file, and Slack takes it however much there is."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from bot.render.home import home, mark_value, read_mark_value
from bot.render.plain import plain_block
from tests.render import team_cases
from tests.render.checking import golden_home, refused_view
from tests.render.test_hostile import TEXTS

MOST_BLOCKS = 100


def buttons(view: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for block in view["blocks"]:
        if block["type"] == "actions":
            yield from block["elements"]


@pytest.mark.parametrize("name", team_cases.HOMES)
def test_a_page_reads_as_its_golden_file_and_slack_takes_it(name: str) -> None:
    view = home(team_cases.HOMES[name])

    assert refused_view(view) == []
    golden_home(f"home {name}", view)


def test_what_waits_for_the_person_comes_first() -> None:
    text = "\n".join(map(plain_block, home(team_cases.FULL)["blocks"]))
    places = [
        "Waits for you",
        "Waits for your yes or no",
        "You were asked",
        "You are on it",
        "Open as well\n",
        "Ends within",
    ]

    assert sorted(places, key=text.index) == places
    assert "and 14 more: `/job-health`" in text


def test_who_may_not_decide_gets_no_buttons() -> None:
    assert list(buttons(home(team_cases.HOMES["manager"]))) == []
    assert list(buttons(home(team_cases.HOMES["nobody"]))) == []


def test_only_marks_made_in_slack_can_be_changed_and_only_of_teams_that_one_decides_for() -> None:
    page = replace(team_cases.FULL, mine=(), held=(), held_count=0, open=())
    labels = [button["text"]["text"] for button in buttons(home(page))]

    assert labels == ["Confirm", "Revoke", "Confirm", "Revoke", "Revoke", "Revoke"]
    assert list(buttons(home(replace(page, decides=frozenset({"growth"}))))) == []


@pytest.mark.scenario(25)
def test_much_more_than_fits_is_cut_and_counted() -> None:
    view = home(team_cases.hostile_home())
    text = "\n".join(map(plain_block, view["blocks"]))

    assert refused_view(view) == []
    assert len(view["blocks"]) <= MOST_BLOCKS
    assert "and 9990 more" in text
    assert "and 9988 more" in text
    assert "and 92 more" in text


@settings(max_examples=30, deadline=None)
@given(TEXTS)
def test_no_text_from_outside_makes_slack_refuse_the_page(text: str) -> None:
    view = home(team_cases.hostile_home(text))

    assert refused_view(view) == []
    assert len(view["blocks"]) <= MOST_BLOCKS


def test_the_value_of_a_marks_button_is_read_back() -> None:
    assert read_mark_value(mark_value("finance", "a/b: c")) == ("finance", "a/b: c")
    for wrong in ("", "finance", "/cause", "finance/"):
        with pytest.raises(ValueError, match="value"):
            read_mark_value(wrong)
