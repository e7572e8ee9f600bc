"""A failure that a rerun mends again and again: rerun still, asked about once and by day, and listed for the digest."""

from datetime import timedelta

import pytest

from bot.incidents.model import Outcome
from tests.world.reporting import key_of
from tests.world.seen import Mention
from tests.world.world import World

DAYS = ("Mon", "Tue", "Wed", "Thu")


def fails_and_recovers(world: World, day: str) -> None:
    """At 03:12 the nightly run loses its connection; its licensed rerun runs well by 03:27."""
    world.fails("revenue", at=f"{day} 03:12")
    world.moves_to(f"{day} 03:17")
    world.rerun_starts("revenue")
    world.moves_to(f"{day} 03:27")
    world.rerun_succeeds("revenue")

    assert world.incident("revenue").outcome is Outcome.RECOVERED


def told(world: World) -> list[Mention]:
    return [mention for mention in world.mentions() if "mended the same failure" in mention.text]


@pytest.fixture
def mended_twice(world: World) -> World:
    world.has_run("revenue")
    for day in DAYS[:2]:
        fails_and_recovers(world, day)
    return world


@pytest.mark.scenario(42)
def test_the_third_recovery_in_a_week_asks_once_when_the_working_hours_begin(mended_twice: World) -> None:
    world = mended_twice
    world.moves_to("Wed 03:00")
    assert told(world) == []

    fails_and_recovers(world, "Wed")
    assert len(world.reruns()) == 3
    world.moves_to("Wed 07:59")
    assert world.mentions() == []

    world.moves_to("Wed 08:00")
    (mention,) = world.mentions()
    assert (mention.who, mention.at.hour) == ("finance-oncall", 8)
    assert "3 times in 7 days" in world.thread("revenue")


def test_it_is_rerun_still_and_asked_about_no_more(mended_twice: World) -> None:
    world = mended_twice
    fails_and_recovers(world, "Wed")
    fails_and_recovers(world, "Thu")
    fails_and_recovers(world, "Fri")
    world.moves_to("Mon 12:00")

    assert len(world.reruns()) == 5
    assert len(told(world)) == 1


def test_a_failure_that_comes_once_a_week_is_not_chronic(world: World) -> None:
    world.has_run("revenue")
    for _ in range(4):
        fails_and_recovers(world, "Mon")
        world.passes(days=1)

    assert told(world) == []


def test_the_digest_can_list_what_is_chronic(mended_twice: World) -> None:
    world = mended_twice
    reads = world.service.storage.reads
    since = world.now - timedelta(days=7)
    assert reads.chronic([key_of("revenue")], since=since, times=3) == ()

    fails_and_recovers(world, "Wed")
    (found,) = reads.chronic([key_of("revenue"), key_of("orders")], since=since, times=3)
    assert (found.job, found.cause, found.times) == (key_of("revenue"), "network.connection_reset", 3)
    assert reads.chronic([key_of("orders")], since=since, times=3) == ()


def test_a_restart_in_the_night_does_not_forget_the_ask(mended_twice: World) -> None:
    world = mended_twice
    fails_and_recovers(world, "Wed")
    world.kill()
    world.moves_to("Wed 12:00")

    assert len(told(world)) == 1
