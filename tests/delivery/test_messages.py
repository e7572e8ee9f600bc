"""What leaves for the workspace: in order, at its pace, found again when in doubt, and never twice."""

from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from bot.delivery import Pace
from bot.store import EffectState
from tests.world.fixtures import Build
from tests.world.people import CHANNELS, LOST_COLUMN, POLICIES
from tests.world.world import World

NO_STORMS = POLICIES.replace("  team: finance\n", "  team: finance\n  storm: {jobs: 1000}\n", 1)


def instants(rows: list[dict[str, Any]]) -> list[datetime]:
    return [datetime.fromisoformat(row["at"]) for row in rows]


def gaps(rows: list[dict[str, Any]]) -> list[timedelta]:
    at = instants(rows)
    return [after - before for before, after in pairwise(at)]


@pytest.mark.parametrize("contains", ["/root", "UndefinedColumn", "needs someone of the owning team"])
def test_a_post_whose_answer_was_lost_is_found_and_not_posted_again(world: World, contains: str) -> None:
    world.stage.slack.inject("chat.postMessage", after="drop", contains=contains)
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.passes(minutes=1)

    assert len(world.channel("finance")) == 1
    texts = world.replies("orders")
    assert len(texts) == len(set(texts)) == 3
    assert [mention.who for mention in world.mentions()] == ["finance-oncall"]
    looks = world.stage.slack.calls(method="conversations.history") + world.stage.slack.calls(
        method="conversations.replies"
    )
    assert looks
    assert world.outbox(EffectState.WAITING, EffectState.SENDING, EffectState.BURIED) == ()


def test_a_look_that_fails_is_made_again_before_anything_is_posted_again(world: World) -> None:
    world.stage.slack.inject("chat.postMessage", after="drop", contains="/root")
    world.stage.slack.inject("conversations.history", after="drop", count=3)
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.passes(minutes=3)

    assert len(world.channel("finance")) == 1
    assert len(world.replies("orders")) == 3


def test_the_look_waits_ten_seconds_for_what_is_still_on_its_way(world: World) -> None:
    world.stage.slack.inject("chat.postMessage", after="drop", contains="/root")
    before = len(world.stage.slack.calls())
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.passes(seconds=9)
    assert "conversations.history" not in [call["method"] for call in world.stage.slack.calls()[before:]]

    world.passes(seconds=2)
    assert len(world.replies("orders")) == 3


def test_a_post_that_surely_did_not_arrive_is_posted_once(world: World) -> None:
    world.stage.slack.inject("chat.postMessage", before="drop", contains="/root")
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.passes(minutes=1)

    assert len(world.channel("finance")) == 1
    assert len(world.replies("orders")) == 3


def test_a_log_file_whose_answer_was_lost_is_not_shared_again(world: World) -> None:
    world.stage.slack.inject("files.completeUploadExternal", after="drop")
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.passes(minutes=1)

    assert sum("[file]" in reply for reply in world.replies("orders")) == 1
    assert len(world.replies("orders")) == 3


def test_retry_after_is_honoured_to_the_second(world: World) -> None:
    before = len(world.stage.slack.calls())
    world.stage.slack.inject("chat.postMessage", status=429, retry_after=30, contains="/root")
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.passes(seconds=29)
    posts = [call for call in world.stage.slack.calls()[before:] if call["method"] == "chat.postMessage"]
    assert len(posts) == 1

    world.passes(seconds=2)
    assert len(world.channel("finance")) == 1
    assert len(world.replies("orders")) == 3


def test_a_reply_waits_for_its_root_and_a_thread_keeps_its_order(world: World) -> None:
    world.stage.slack.inject("chat.postMessage", error="internal_error", contains="/root", count=3)
    world.stage.slack.inject("chat.postMessage", status=503, contains="UndefinedColumn", count=2)
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    assert world.channel("finance") == []
    world.passes(minutes=2)

    evidence, log, ask = world.replies("orders")
    assert "What changed" in evidence
    assert "[file]" in log
    assert "needs someone of the owning team" in ask


def test_updates_that_wait_collapse_into_the_newest(world: World) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    before = len(world.stage.slack.journal(method="chat.update", since=world.stage.began_with))
    with world.undelivered():
        message = world.message_with("Acknowledge", "orders")
        for person in ("ana", "ben", "sam", "olga"):
            world.clicks_on(person, "Acknowledge", message)

    updates = world.stage.slack.journal(method="chat.update", since=world.stage.began_with)[before:]
    assert len(updates) == 1
    assert "On it: ana" in world.text_of(world.root("orders"))
    assert "sam is looking too" in world.text_of(world.root("orders"))


def test_posts_keep_their_distance_in_a_channel_and_updates_in_the_workspace(build_world: Build) -> None:
    world = build_world(pace=Pace())
    world.moves_to("03:12")
    for job in ("orders", "revenue", "stock"):
        world.fails(job, log=LOST_COLUMN)
    world.passes(minutes=1)
    world.clicks("ana", "Acknowledge", "orders")
    world.clicks("ana", "Acknowledge", "revenue")
    world.clicks("ana", "Acknowledge", "stock")
    world.passes(minutes=1)

    posts = [row for row in world.posted() if row["result"]["channel"] == CHANNELS["finance"]]
    updates = world.stage.slack.journal(method="chat.update", since=world.stage.began_with)
    assert len(posts) == 12
    assert min(gaps(posts)) >= timedelta(seconds=1)
    assert len(updates) >= 3
    assert min(gaps(updates)) >= timedelta(seconds=1.2)


@pytest.mark.slow
@pytest.mark.scenario(4)
def test_a_429_while_forty_incidents_wait_costs_no_order_and_no_message(build_world: Build) -> None:
    world = build_world(pace=Pace(), policies=NO_STORMS)
    world.moves_to("03:12")
    world.stage.slack.inject("chat.postMessage", status=429, retry_after=30)
    jobs = [f"batch_{number:02}" for number in range(40)]
    with world.undelivered():
        for job in jobs:
            world.fails(job, log=LOST_COLUMN, nominal=world.now)
    world.passes(minutes=8)

    posts = [row for row in world.posted() if row["result"]["channel"] == CHANNELS["finance"]]
    assert datetime.fromisoformat(posts[0]["at"]) - world.incident(jobs[0]).opened_at >= timedelta(seconds=30)
    roots = [row for row in posts if "thread_ts" not in row["result"]["message"]]
    assert min(gaps(posts)) >= timedelta(seconds=1)
    assert len(roots) == 40
    assert [row["n"] for row in posts[:40]] == [row["n"] for row in roots], "new incidents come before their replies"
    said = [next(job for job in jobs if job in world.text_of(row["result"]["message"])) for row in roots]
    assert said == jobs, "and in the order in which they failed"
    for job in jobs:
        evidence, log, ask = world.replies(job)[:3]
        assert "What changed" in evidence
        assert "[file]" in log
        assert "needs someone" in ask


@pytest.mark.scenario(5)
def test_after_two_hours_without_slack_one_thread_shows_the_current_state(world: World) -> None:
    world.moves_to("03:00")
    world.stage.slack.inject("*", status=503, count=None)
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.succeeds("orders", at="04:40", trigger="manual")
    world.moves_to("05:12")
    world.stage.slack.heal()
    world.passes(minutes=3)

    (root,) = world.stage.slack.messages(CHANNELS["finance"])
    assert "recovered" in world.text_of(root)
    assert world.mentions() == [], "nobody is woken for what is over"
    texts = world.replies("orders")
    assert len(texts) == len(set(texts))


def test_asks_that_could_not_leave_collapse_into_the_newest(world: World) -> None:
    world.moves_to("03:00")
    world.stage.slack.inject("chat.postMessage", status=503, count=None)
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.moves_to("04:00")
    assert world.incident("orders").chase.count >= 3
    world.stage.slack.heal()
    world.passes(minutes=3)

    assert len({mention.text for mention in world.mentions()}) == 1
