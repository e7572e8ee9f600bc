"""Slack as it really is: channels and roots that go away, refusals, late clicks; the incident goes on and says so."""

from typing import Any

import pytest

from bot.adapters.slack_scopes import NEEDED
from bot.incidents.model import Status
from bot.store import EffectState
from tests.world.fixtures import Build
from tests.world.people import CHANNELS, LOST_COLUMN, PEOPLE, POLICIES
from tests.world.seen import buttons
from tests.world.world import World

SILENT = sorted(NEEDED - {"chat:write"})


def roots(world: World, channel: str) -> list[dict[str, Any]]:
    return [each for each in world.stage.slack.messages(CHANNELS[channel]) if "thread_ts" not in each]


@pytest.mark.scenario(28)
@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"private": True, "bot_member": False}, "its channel is gone, or private and without ontrack"),
        ({"bot_member": False}, "ontrack was removed from its channel"),
        ({"archived": True}, "its channel was archived"),
    ],
    ids=["made private", "bot removed", "archived"],
)
def test_a_channel_that_is_closed_mid_incident_is_left_with_a_link_back(
    world: World, change: dict[str, bool], why: str
) -> None:
    world.fails("orders", at="03:12")
    channel, ts = world.place("orders")
    world.stage.slack.change_channel(channel, **change)
    world.moves_to("04:30")

    assert world.place("orders")[0] == CHANNELS["jobs"]
    assert len(roots(world, "jobs")) == 1
    thread = world.thread("orders")
    assert why in thread
    assert thread.count("This incident goes on here") == 1
    assert f"/archives/{channel}/p{ts.replace('.', '')}" in str(world.messages("orders"))
    assert "Nobody has answered yet" in thread
    assert "moved: C0FINANCE cannot be written to" in world.reasons("orders")
    world.clicks("ana", "Acknowledge", "orders")
    assert "On it: ana" in world.text_of(world.root("orders"))


@pytest.mark.scenario(28)
def test_a_private_channel_that_ontrack_is_in_changes_nothing(world: World) -> None:
    world.fails("orders", at="03:12")
    place = world.place("orders")
    world.stage.slack.change_channel(CHANNELS["finance"], private=True)
    world.moves_to("03:30")

    assert world.place("orders") == place
    assert [mention.channel for mention in world.mentions()] == ["finance", "finance"]


@pytest.mark.scenario(28)
def test_without_a_fallback_channel_everything_waits_until_its_own_is_open_again(build_world: Build) -> None:
    world = build_world(policies=POLICIES.replace("fallback: {channel: C0JOBS}\n", ""))
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.stage.slack.change_channel(CHANNELS["finance"], archived=True)
    world.moves_to("03:40")
    assert world.outbox(EffectState.BURIED) == ()

    world.stage.slack.change_channel(CHANNELS["finance"], archived=False)
    world.moves_to("03:42")
    assert len(roots(world, "finance")) == 1
    assert "Nobody has answered yet" in world.thread("orders")


@pytest.mark.scenario(29)
@pytest.mark.parametrize("error", ["edit_window_closed", "cant_update_message", "message_not_found"])
def test_a_root_that_can_be_edited_no_more_is_posted_once_more(world: World, error: str) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    old = world.place("orders")
    world.stage.slack.inject("chat.update", error=error)
    world.clicks("ana", "Acknowledge", "orders")

    channel, ts = world.place("orders")
    assert (channel, ts) != old
    assert len(roots(world, "finance")) == 2
    assert "On it: ana" in world.text_of(world.root("orders"))
    told = world.clicks_on("olga", "Rerun", world.message_with("Rerun", "orders"))
    assert told.status == 200
    assert world.incident("orders").acknowledgement is not None


@pytest.mark.scenario(29)
def test_a_thread_in_which_nobody_can_reply_any_more_begins_anew(world: World) -> None:
    world.stage.slack.inject("chat.postMessage", error="thread_not_found", contains="What changed")
    world.fails("orders", at="03:12", log=LOST_COLUMN)

    assert len(roots(world, "finance")) == 2
    evidence, log, ask = world.replies("orders")
    assert "What changed" in evidence
    assert "[file]" in log
    assert "needs someone" in ask
    assert world.outbox(EffectState.BURIED) == ()


@pytest.mark.scenario(30)
def test_a_missing_scope_turns_readiness_red_names_it_and_makes_no_hot_loop(world: World) -> None:
    world.stage.slack.change_token(scopes=SILENT)
    before = len(world.stage.slack.calls())
    world.fails("orders", at="00:10", nominal="Sun 03:00")
    world.passes(minutes=10)

    ready = world.ready()
    assert ready.status_code == 503
    assert "chat:write" in ready.json()["checks"]["slack"]
    calls = world.stage.slack.calls()[before:]
    assert sum(call["method"] == "chat.postMessage" for call in calls) <= 12

    world.stage.slack.change_token(scopes=sorted(NEEDED))
    world.passes(minutes=2)
    assert world.ready().status_code == 200
    assert len(roots(world, "finance")) == 1
    assert [mention.who for mention in world.mentions()] == ["finance-oncall"]


def test_what_slack_finds_too_long_goes_out_in_a_short_form_with_its_buttons(world: World) -> None:
    world.stage.slack.inject("chat.postMessage", error="msg_blocks_too_long", contains="/root", count=2)
    world.stage.slack.inject("chat.postMessage", error="msg_blocks_too_long", contains="What changed")
    world.fails("orders", at="03:12", log=LOST_COLUMN)

    root = world.root("orders")
    assert "short form" in world.text_of(root)
    assert {"Acknowledge", "Rerun", "Fixed"} <= set(buttons(root))
    evidence, *_ = world.replies("orders")
    assert "short form" in evidence
    assert world.outbox(EffectState.BURIED, EffectState.WAITING) == ()
    world.clicks("ana", "Acknowledge", "orders")
    assert "short form" not in world.text_of(world.root("orders")), "the next update is tried whole"


def test_a_click_whose_form_comes_too_late_is_told_to_click_again(world: World) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.stage.slack.inject("views.open", error="expired_trigger_id")
    told = world.clicks("ana", "Fixed", "orders")

    assert "Please click once more" in told.text
    assert world.screen("ana") == ""
    world.clicks("ana", "Fixed", "orders")
    assert world.screen("ana") != ""
    assert world.incident("orders").status is Status.OPEN


def test_a_click_that_slack_repeats_while_its_form_is_open_opens_no_second_one(world: World) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.clicks("ana", "Fixed", "orders", tamper="repeat")

    assert len(world.stage.slack.state()["modals"][PEOPLE["ana"]]) == 1
    assert world.stage.slack.ephemerals(PEOPLE["ana"]) == []


@pytest.mark.scenario(27)
@pytest.mark.scenario(28)
def test_a_fallback_channel_that_is_gone_as_well_is_no_hot_loop_and_leaves_a_trace(world: World) -> None:
    world.stage.slack.change_channel(CHANNELS["jobs"], archived=True)
    gone = [{"id": PEOPLE[name], "name": name, "deleted": True} for name in ("ana", "olga", "ben")]
    world.stage.slack.change_people(users=gone)
    world.passes(minutes=6)
    before = len(world.stage.slack.calls())
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.passes(minutes=10)

    posts = [call for call in world.stage.slack.calls()[before:] if call["method"] == "chat.postMessage"]
    assert len(posts) < 40
    assert "is_archived" in world.reasons("orders")
    assert "the owner record of this job leads to no one" in world.thread("orders")
