"""Deliveries repeated, crossed and raced: each thing happens once, and everybody is told what became of theirs."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest

from bot.incidents.model import Outcome, Status
from tests.world.people import LOST_COLUMN, PEOPLE
from tests.world.reports import Report
from tests.world.seen import buttons
from tests.world.world import World


def reordered(value: Any) -> Any:
    """The same JSON with the keys of every object the other way round."""
    if isinstance(value, dict):
        return {key: reordered(value[key]) for key in reversed(value)}
    return value


@pytest.mark.scenario(1)
def test_the_same_failure_five_times_in_a_second_is_one_incident(world: World) -> None:
    world.moves_to("03:12")
    nominal = world.nominal_before("orders", world.now)
    failure = Report(kind="failed", job="orders", at=world.now, nominal=nominal, error={"log": LOST_COLUMN}).event()
    copies = [failure, reordered(failure), failure, reordered(failure), failure]
    with ThreadPoolExecutor(5) as pool:
        answers = list(pool.map(lambda copy: world.posts([copy]), copies))
    world.settles()

    results = sorted(answer.json()["results"][0]["result"] for answer in answers)
    assert {answer.status_code for answer in answers} == {200}
    assert results == ["accepted"] + ["duplicate"] * 4
    assert len(world.incidents()) == 1
    assert len(world.channel("finance")) == 1
    assert world.incident("orders").count == 1
    assert [mention.who for mention in world.mentions()] == ["finance-oncall"]


@pytest.mark.scenario(3)
def test_killed_between_slacks_yes_and_our_commit_it_finds_its_own_post(world: World) -> None:
    world.dies_when(lambda: len(world.posted()) == 1)
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    assert len(world.channel("finance")) == 1
    assert world.service.storage.reads.conversation_of(record=1, number=1) == ("C0FINANCE", None)

    world.passes(minutes=1)

    assert len(world.channel("finance")) == 1
    assert "Nobody yet" in world.text_of(world.root("orders"))
    assert any("UndefinedColumn" in reply for reply in world.replies("orders"))
    world.clicks("ana", "Acknowledge", "orders")
    assert "On it: ana" in world.text_of(world.root("orders"))


@pytest.mark.scenario(6)
def test_a_click_that_slack_repeats_counts_once_and_is_answered_alike(world: World) -> None:
    world.fails("orders", at="03:12")
    world.clicks("ana", "Acknowledge", "orders", tamper="repeat")
    told = world.clicks("ben", "Acknowledge", "orders", tamper="repeat")

    acknowledged = [row for row in world.timeline("orders") if row.kind == "acknowledged"]
    second = [row for row in world.timeline("orders") if row.kind == "also_acknowledged"]
    assert len(acknowledged) == 1
    assert sum("is on it until" in reply for reply in world.replies("orders")) == 1
    assert len(second) == 1
    first, again = told.text.splitlines()
    assert first == again
    assert "On it: ana" in first


@pytest.mark.scenario(7)
def test_of_two_who_press_acknowledge_at_once_one_wins_and_the_other_is_told_who(world: World) -> None:
    world.fails("orders", at="03:12")
    message = world.message_with("Acknowledge", "orders")
    button, ready = buttons(message)["Acknowledge"], Barrier(2)
    pressed_at = world.now

    def press(person: str) -> None:
        ready.wait()
        world.stage.slack.click(
            user=PEOPLE[person],
            action_id="ack",
            block_id=button["block_id"],
            channel=message["channel"],
            ts=message["ts"],
        )

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(press, ("ana", "ben")))
    world.settles()

    held = world.incident("orders").acknowledgement
    assert held is not None
    winner = held.by.person.name
    loser = {"ana": "ben", "ben": "ana"}[winner]
    told = [world.text_of(each) for each in world.stage.slack.ephemerals(PEOPLE[loser])]
    assert len(told) == 1
    assert f"On it: {winner}" in told[0]
    assert world.stage.slack.ephemerals(PEOPLE[winner]) == []
    assert world.incident("orders").first_word_at == pressed_at


@pytest.mark.scenario(8)
def test_an_acknowledgement_that_races_the_good_run_stays_resolved(world: World) -> None:
    world.fails("orders", at="03:12")
    message = world.message_with("Acknowledge", "orders")
    world.succeeds("orders", run_id="manual__7", trigger="manual", by="olga")
    told = world.clicks_on("ana", "Acknowledge", message)

    incident = world.incident("orders")
    assert incident.status is Status.RESOLVED
    assert incident.acknowledgement is None
    assert "already resolved by run manual__7" in told.text


@pytest.mark.scenario(8)
def test_whichever_of_click_and_good_run_is_first_the_end_is_resolved(world: World) -> None:
    world.fails("orders", at="03:12")
    message = world.message_with("Acknowledge", "orders")
    button, ready = buttons(message)["Acknowledge"], Barrier(2)
    nominal = world.nominal_before("orders", world.now)
    good = Report(kind="succeeded", job="orders", at=world.now, nominal=nominal, trigger="manual").event()

    def press() -> None:
        ready.wait()
        world.stage.slack.click(
            user=PEOPLE["ana"],
            action_id="ack",
            block_id=button["block_id"],
            channel=message["channel"],
            ts=message["ts"],
        )

    def run() -> None:
        ready.wait()
        world.posts([good])

    with ThreadPoolExecutor(2) as pool:
        for done in (pool.submit(press), pool.submit(run)):
            done.result()
    world.settles()

    assert world.incident("orders").status is Status.RESOLVED
    assert "recovered" in world.text_of(world.root("orders"))


@pytest.mark.scenario(9)
def test_a_button_from_before_a_reopening_never_acts_on_the_newer_occurrence(world: World) -> None:
    world.fails("orders", at="03:12")
    old = world.message_with("Acknowledge", "orders")
    world.succeeds("orders", at="03:40", trigger="manual")
    world.fails("orders", at="Tue 02:30", nominal="02:00", run_id="extra__2")
    assert world.incident("orders").number == 2

    told = world.clicks_on("ana", "Acknowledge", old)

    assert world.incident("orders").acknowledgement is None
    assert world.incident("orders", number=1).status is Status.RESOLVED
    assert "already resolved" in told.text
    channel, ts = world.place("orders")
    assert f"/archives/{channel}/p{ts.replace('.', '')}" in told.text


@pytest.mark.scenario(10)
def test_a_failure_that_arrives_after_its_rerun_went_well_opens_nothing(world: World) -> None:
    world.moves_to("03:30")
    nominal = world.nominal_before("orders", world.now)
    world.succeeds("orders", run_id="scheduled__1", generation=1, trigger="rerun")
    world.fails("orders", run_id="scheduled__1", nominal=nominal)
    world.fails("orders", run_id="another__run", nominal=nominal, trigger="rerun")

    assert world.incidents() == ()
    assert world.channel("finance") == []


@pytest.mark.scenario(10)
def test_a_good_run_of_an_earlier_time_closes_nothing_for_a_later_one(world: World) -> None:
    world.fails("orders", at="Tue 03:12")
    sunday = world.nominal_before("orders", world.now) - timedelta(days=2)
    world.succeeds("orders", nominal=sunday)

    incident = world.incident("orders")
    assert incident.status is Status.OPEN
    assert [owed.nominal_time for owed in incident.owed] == [world.nominal_before("orders", world.now)]

    world.succeeds("orders", trigger="manual")
    assert world.incident("orders").outcome is Outcome.RECOVERED_BY_HAND
