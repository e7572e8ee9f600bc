"""What the record remembers: how often this failure came, how it ended each time, and who else fails of the same cause."""

import pytest

from tests.world.people import LOST_COLUMN, RESET, STRANGE
from tests.world.world import World


def evidence(world: World, job: str) -> str:
    """The newest reply that tells the evidence."""
    return [reply for reply in world.replies(job) if "Last good run" in reply][-1]


def fails_and_recovers_by_rerun(world: World, at: str) -> None:
    world.moves_to(at)
    world.fails("revenue", log=RESET)
    world.passes(minutes=6)
    world.rerun_starts("revenue")
    world.passes(minutes=5)
    world.rerun_succeeds("revenue")


def test_a_failure_of_its_kind_that_never_came_before_says_so(world: World) -> None:
    world.has_run("orders")
    world.fails("orders", at="03:12", log=LOST_COLUMN)

    assert "Seen before: never" in evidence(world, "orders")
    assert "Same cause elsewhere" not in evidence(world, "orders")


def test_a_failure_that_came_before_tells_how_it_ended_each_time(world: World) -> None:
    world.has_run("revenue")
    fails_and_recovers_by_rerun(world, "Mon 03:12")
    fails_and_recovers_by_rerun(world, "Tue 03:12")
    world.moves_to("Wed 03:12")
    world.fails("revenue", log=RESET)

    told = evidence(world, "revenue")
    assert "Seen before: twice" in told
    assert told.count("a rerun worked") == 2
    assert "Tue 1 Dec" in told
    assert "Mon 30 Nov" in told


def test_a_fix_is_remembered_with_its_words_and_its_link(world: World) -> None:
    world.has_run("orders")
    world.fails("orders", at="Mon 03:12", log=LOST_COLUMN)
    world.clicks("ana", "Fixed", "orders")
    told = world.submits("ana", what="Renamed the column", link="https://git.example.com/etl/pull/12")
    assert not told.errors
    world.succeeds("orders", at="Mon 04:00", nominal="Mon 03:00", generation=1, trigger="rerun")
    world.succeeds("orders", at="Tue 03:10", nominal="Tue 03:00")
    world.fails("orders", at="Wed 03:12", log=LOST_COLUMN)

    told_again = evidence(world, "orders")
    assert "Seen before: once" in told_again
    assert "fixed by ana: Renamed the column" in told_again
    assert "https://git.example.com/etl/pull/12" in told_again


def test_other_jobs_that_failed_of_the_same_cause_today_are_named(world: World) -> None:
    for job in ("orders", "stock", "ads", "report"):
        world.has_run(job)
    world.fails("stock", at="Mon 01:12", log=RESET)
    world.fails("report", at="Tue 03:12", log=RESET)
    world.fails("ads", at="Tue 03:13", log=STRANGE)
    world.fails("orders", at="Tue 03:14", log=RESET)

    assert "Same cause elsewhere in the last 24 hours: report" in evidence(world, "orders")
    assert "stock" not in evidence(world, "orders")


@pytest.mark.scenario(15)
def test_an_unknown_cause_is_not_said_to_be_the_same_as_another(world: World) -> None:
    world.has_run("orders")
    world.fails("report", at="03:12", log=STRANGE)
    world.fails("orders", at="03:13", log=STRANGE)

    assert world.incident("orders").failure.cause == "unknown"
    assert "Same cause elsewhere" not in evidence(world, "orders")
