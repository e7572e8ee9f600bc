"""An incident that was taken to the wrong team goes to the right one, which is asked, decides, and can hand it back."""

import pytest

from bot.incidents.model import Status
from tests.world.people import LOST_COLUMN
from tests.world.seen import buttons
from tests.world.world import World


def hands_over(world: World, person: str, job: str, *, to: str, note: str = "") -> str:
    world.clicks(person, "More", job)
    world.presses(person, "Hand over")
    return world.submits(person, team=to, note=note).errors


def ask_in_growth(world: World) -> dict[str, object]:
    """The newest message in growth's own channel, with the place where it stands."""
    message = world.stage.slack.messages("C0GROWTH")[-1]
    return {**message, "channel": "C0GROWTH"}


def test_the_other_team_is_asked_in_its_channel_and_decides(world: World) -> None:
    world.fails("orders", at="Mon 03:12", log=LOST_COLUMN)
    hands_over(world, "ana", "orders", to="growth", note="their export dropped the column")

    last = world.mentions()[-1]
    assert (last.who, last.channel) == ("growth-oncall", "growth")
    assert "It was handed to you" in last.text
    assert "Open the thread" in last.text
    assert "their export dropped the column" in last.text
    assert "ana handed this over to team growth" in world.thread("orders")
    assert "their export dropped the column" in world.text_of(world.root("orders"))

    refused = world.clicks("olga", "Acknowledge", "orders")
    assert "growth" in refused.text or "owning team" in refused.text
    assert world.incident("orders").acknowledgement is None

    world.clicks_on("gil", "Acknowledge", ask_in_growth(world))
    assert "On it: gil" in world.text_of(world.root("orders"))


def test_the_modal_says_what_will_happen_and_whom_it_cannot_go_to(world: World) -> None:
    world.fails("orders", at="Mon 03:12", log=LOST_COLUMN)
    world.clicks("ana", "More", "orders")

    modal = world.presses("ana", "Hand over").text

    assert "its on-call is asked at once, and only it decides" in modal
    assert "counts as a correction" in modal
    assert "( ) growth" in modal or "growth" in modal
    assert "finance\n" not in modal.split("To which team")[1]


def test_the_ladder_goes_on_where_the_other_team_reads(world: World) -> None:
    world.fails("orders", at="Mon 03:12", log=LOST_COLUMN)
    hands_over(world, "ana", "orders", to="growth")
    before = len(world.mentions())

    world.moves_to("Mon 03:40")

    assert [(mention.who, mention.channel) for mention in world.mentions()[before:]] == [("growth-oncall", "growth")]


@pytest.mark.parametrize("person", ["ana", "gil"])
def test_who_handed_it_over_or_now_has_it_hands_it_back(world: World, person: str) -> None:
    world.fails("orders", at="Mon 03:12", log=LOST_COLUMN)
    hands_over(world, "ana", "orders", to="growth")

    world.clicks(person, "More", "orders")
    world.presses(person, "Hand back")

    last = world.mentions()[-1]
    assert (last.who, last.channel) == ("finance-oncall", "finance")
    assert world.clicks("ana", "Acknowledge", "orders").text == ""
    assert "On it: ana" in world.text_of(world.root("orders"))


def test_the_jobs_own_rerun_budget_and_its_next_incident_stay_with_its_own_team(world: World) -> None:
    world.fails("orders", at="Mon 03:12", log=LOST_COLUMN)
    hands_over(world, "ana", "orders", to="growth")
    world.clicks_on("gil", "Rerun", ask_in_growth(world))
    world.passes(minutes=20)
    world.rerun_succeeds("orders")
    assert world.incident("orders").status is Status.RESOLVED

    world.fails("orders", at="Tue 03:12", log=LOST_COLUMN)

    last = world.mentions()[-1]
    assert (last.who, last.channel) == ("finance-oncall", "finance")
    assert world.incident("orders").handed == ()
    assert "Acknowledge" in buttons(world.root("orders"))


def test_a_hand_over_is_a_correction_in_the_record(world: World) -> None:
    world.fails("orders", at="Mon 03:12", log=LOST_COLUMN)
    hands_over(world, "ana", "orders", to="growth")

    (row,) = [row for row in world.timeline("orders") if row.kind == "handed_over"]

    assert row.facts["correction"] == "wrong_team"
    assert (row.facts["was"], row.facts["team"]) == ("finance", "growth")
