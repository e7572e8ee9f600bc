"""Owners and the things of Slack that go away: the incident goes on, and says what is broken."""

from typing import Any

import pytest

from bot.incidents.model import Status
from tests.world.people import CHANNELS, GROUPS, PEOPLE, POLICIES
from tests.world.world import World


@pytest.mark.scenario(27)
def test_an_owner_record_that_leads_to_nobody_falls_to_the_fallback_and_says_so(world: World) -> None:
    gone = [{"id": PEOPLE[name], "name": name, "deleted": True} for name in ("ana", "olga")]
    groups: list[dict[str, Any]] = [
        {"id": GROUPS["finance-oncall"], "handle": "finance-oncall", "users": [], "disabled": True},
        {"id": GROUPS["finance-data"], "handle": "finance-data", "users": [PEOPLE["ana"], PEOPLE["olga"]]},
    ]
    world.stage.slack.change_people(users=gone, usergroups=groups)
    world.passes(minutes=6)
    world.fails("orders", at="03:12")

    assert world.mentions() == []
    assert "the owner record of this job leads to no one" in world.thread("orders")
    records, fallback = world.channel("jobs")
    assert "Owner records that lead to nobody" in records
    assert "the owner record of this job leads to no one" in fallback


@pytest.mark.scenario(28)
def test_an_archived_channel_is_left_for_the_fallback_channel(world: World) -> None:
    world.fails("orders", at="03:12")
    old_channel, old_ts = world.place("orders")
    world.stage.slack.change_channel(CHANNELS["finance"], archived=True)
    world.moves_to("03:30")

    channel, _ = world.place("orders")
    assert channel == CHANNELS["jobs"]
    assert "This incident goes on here: its channel was archived. The thread before" in world.thread("orders")
    assert f"/archives/{old_channel}/p{old_ts.replace('.', '')}" in str(world.messages("orders"))
    assert len([each for each in world.stage.slack.messages(CHANNELS["jobs"]) if "thread_ts" not in each]) == 1
    assert [mention.channel for mention in world.mentions()] == ["finance", "jobs"]
    world.clicks("ana", "Acknowledge", "orders")
    assert "On it: ana" in world.text_of(world.root("orders"))


@pytest.mark.scenario(28)
def test_a_renamed_channel_changes_nothing(world: World) -> None:
    world.fails("orders", at="03:12")
    place = world.place("orders")
    world.stage.slack.change_channel(CHANNELS["finance"], name="money-jobs")
    world.moves_to("03:30")

    assert world.place("orders") == place
    assert [mention.channel for mention in world.mentions()] == ["finance", "finance"]


@pytest.mark.scenario(29)
def test_a_deleted_root_is_posted_once_more_and_replies_stay_in_its_thread(world: World) -> None:
    world.fails("orders", at="03:12")
    channel, ts = world.place("orders")
    for message in reversed(world.messages("orders")):
        world.stage.slack.delete(channel=channel, ts=message["ts"])
    world.moves_to("03:28")
    world.moves_to("04:30")

    assert world.place("orders") != (channel, ts)
    loose = [message for message in world.stage.slack.messages(channel) if message.get("thread_ts") == ts]
    assert loose == []
    roots = [each for each in world.stage.slack.messages(channel) if "thread_ts" not in each]
    assert len(roots) == 1
    assert "Nobody has answered yet" in world.thread("orders")


@pytest.mark.scenario(30)
def test_a_revoked_token_turns_readiness_red_and_makes_no_hot_loop(world: World) -> None:
    world.stage.slack.change_token(revoked=True)
    before = len(world.stage.slack.calls())
    world.fails("orders", at="00:10", nominal="Sun 03:00")
    world.passes(minutes=10)

    ready = world.ready()
    assert ready.status_code == 503
    assert "token_revoked" in ready.json()["checks"]["slack"]
    calls = world.stage.slack.calls()[before:]
    assert sum(call["method"] == "chat.postMessage" for call in calls) <= 12
    assert len(calls) < 130

    world.stage.slack.change_token(revoked=False)
    world.passes(minutes=2)
    assert world.ready().status_code == 200
    assert len([each for each in world.stage.slack.messages(CHANNELS["finance"]) if "thread_ts" not in each]) == 1


@pytest.mark.scenario(31)
def test_a_job_that_moves_to_another_team_is_its_new_owners_from_then_on(world: World) -> None:
    world.has_run("orders")
    world.fails("orders", at="03:12")
    message = world.message_with("Acknowledge", "orders")
    world.has_policies(POLICIES.replace("fallback:", "  - {match: shop/orders, team: growth}\nfallback:"))

    told = world.clicks_on("ana", "Acknowledge", message)
    assert "Gil and Rita" in told.text
    assert world.incident("orders").acknowledgement is None
    world.moves_to("03:28")
    assert world.mentions()[-1].who == "growth-oncall"
    world.clicks_on("gil", "Acknowledge", message)
    incident = world.incident("orders")
    assert incident.acknowledgement is not None
    assert incident.acknowledgement.by.person.name == "gil"
    assert incident.status is Status.OPEN


@pytest.mark.scenario(31)
def test_history_and_budget_follow_a_job_that_moves(world: World) -> None:
    world.has_run("revenue")
    world.fails("revenue", at="03:12")
    world.moves_to("03:18")
    used, history = world.used("revenue"), world.reasons("revenue")
    assert used > 0
    world.has_policies(POLICIES.replace("fallback:", "  - {match: shop/revenue, team: growth}\nfallback:"))
    world.rerun_fails("revenue")

    assert world.used("revenue") >= used
    assert world.reasons("revenue").startswith(history)
    assert len(world.reruns()) == 1, "the mark was the other team's"
    assert world.mentions()[-1].who == "growth-oncall"
    assert world.incident("revenue").record == 1
