"""A stricter and a looser policy bring the difference that is worked out by hand, beside each story."""

from datetime import UTC, datetime, timedelta

import pytest

from bot.backtest.figures import Figures
from bot.backtest.report import Limits, Report
from bot.compose.backtest import report_of
from bot.policies import load
from tests.backtest.replays import played_again
from tests.world.fixtures import Build
from tests.world.people import LOST_COLUMN, POLICIES
from tests.world.world import World

MARKED = "safe_to_retry: {causes: [network.connection_reset], by: ana@example.com, since: 2026-11-02}"
STRICTER = POLICIES.replace(f"    {MARKED}\n", "    mode: ask\n")
BY_NAME = "  - {match: shop/orders, team: finance, " + MARKED + "}\n"
LOOSER = POLICIES.replace("fallback: {channel", BY_NAME + "fallback: {channel")
SINCE = datetime(2026, 11, 30, 1, tzinfo=UTC)


def reported(world: World, policies: str, *, limits: Limits | None = None) -> Report:
    with played_again(world, policies, since=SINCE) as found:
        return report_of(found, load(policies, env={}), limits or Limits())


def healed_once(world: World) -> None:
    """Revenue fails at 03:12; its licensed rerun at 03:17 takes ten minutes and brings it."""
    world.has_run("revenue", times=3)
    world.moves_to("01:30")
    world.fails("revenue", at="03:12")
    world.moves_to("03:18")
    world.rerun_starts("revenue")
    world.moves_to("03:28")
    world.rerun_succeeds("revenue")
    world.moves_to("05:00")


def test_what_asks_first_asks_the_on_call_instead_of_rerunning(world: World) -> None:
    healed_once(world)

    found = reported(world, STRICTER)

    was, would_be = found.everything.happened, found.everything.replayed
    assert (was.opened, was.automatic, was.asks, was.night_asks, was.unresolved) == (1, 1, 0, 0, 0)
    assert was.costs == {"run_hours": pytest.approx(1 / 6, abs=1e-5)}
    assert (was.tried, was.known, was.good) == (1, 1, 1)
    # asked at 03:12; the ladder at 03:27 (on-call) and 03:57 (team), 04:57 (on-call by direct message): all before 08:00
    assert would_be == Figures(opened=1, unresolved=1, asks=4, night_asks=4)
    assert found.openings.same == 1
    assert found.unknown == 0


def by_hand(world: World) -> None:
    """Orders fails the same way; nothing licenses a rerun, so the on-call is asked, and clears it at 03:20 by hand."""
    world.has_run("orders", times=3)
    world.moves_to("01:30")
    world.fails("orders", at="03:12")
    world.moves_to("03:20")
    world.succeeds("orders", generation=1, trigger="rerun", by="ben", took=timedelta(minutes=6))
    world.moves_to("05:00")


def test_a_rerun_goes_as_the_one_went_that_somebody_made_by_hand(world: World) -> None:
    by_hand(world)

    found = reported(world, LOOSER)

    was, would_be = found.everything.happened, found.everything.replayed
    assert (was.automatic, was.asks) == (0, 1)
    # asked for at 03:17 and done by hand at 03:20: the rerun of ours has its six minutes and is known to go well
    assert (would_be.opened, would_be.automatic, would_be.asks) == (1, 1, 0)
    assert (would_be.tried, would_be.known, would_be.good) == (1, 1, 1)
    assert would_be.costs == {"run_hours": pytest.approx(0.1)}
    assert found.unknown == 0


def test_a_rerun_of_which_nothing_is_known_fails_and_counts_as_unknown(world: World) -> None:
    world.has_run("orders", times=3)
    world.moves_to("01:30")
    world.fails("orders", at="03:12")
    world.moves_to("04:00")

    found = reported(world, LOOSER)

    would_be = found.everything.replayed
    # 03:17 to 03:27 and, five minutes of back-off later, 03:32 to 03:42: two is the most; asked then, and at 03:57 again
    assert (would_be.automatic, would_be.asks) == (2, 2)
    assert (would_be.tried, would_be.known, would_be.good) == (1, 0, 0)
    assert would_be.costs == {"run_hours": pytest.approx(1 / 3, abs=1e-4)}
    assert found.unknown == 2
    assert any("upper bound" in one for one in found.assumed)


def test_a_job_that_opens_after_two_failures_opens_later_or_never(build_world: Build) -> None:
    world = build_world()
    world.has_run("stock", times=3)
    for hour in (2, 3):
        world.fails("stock", at=f"0{hour}:05", log=LOST_COLUMN)
    world.succeeds("stock", at="04:05")
    world.fails("orders", at="04:12", log=LOST_COLUMN)
    world.moves_to("04:20")
    twice = POLICIES.replace("recovers_by: any_later_run}", "recovers_by: any_later_run, open_after: 2}")

    found = reported(world, twice)

    assert (found.everything.happened.opened, found.everything.replayed.opened) == (2, 2)
    assert (found.openings.later, found.openings.same) == (1, 1)


def test_limits_are_named_where_they_are_exceeded(world: World) -> None:
    healed_once(world)

    assert reported(world, POLICIES, limits=Limits(cost=0.2, night_asks=0)).exceeded == ()
    (cost,) = reported(world, POLICIES, limits=Limits(cost=0.1, night_asks=0)).exceeded
    (night,) = reported(world, STRICTER, limits=Limits(cost=0.1, night_asks=3)).exceeded
    assert cost == "--max-cost: 0.166667 run_hours, at most 0.1"
    assert night == "--max-night-asks: 4, at most 3"


def test_the_jobs_that_differ_most_come_first_and_teams_are_told_apart(world: World) -> None:
    world.fails("ads", at="03:12")
    healed_once(world)

    found = reported(world, STRICTER)

    assert [one.name for one in found.teams] == ["finance", "growth"]
    assert [one.name for one in found.jobs] == ["shop/revenue"]
    growth = found.teams[1]
    assert growth.happened == growth.replayed
    assert growth.happened.night_asks == growth.happened.asks > 0, "no hours are given: between 22 and 7"
