"""A night in the company, from the scheduler's reports to the figures: nothing is written by the test itself."""

from datetime import timedelta

import pytest

from bot.health.query import Query
from bot.health.reporting import HealthReports
from bot.incidents.health import Period, Scope, Share
from tests.world.people import LOST_COLUMN
from tests.world.world import World

A_MOMENT = timedelta(seconds=5)


def test_a_night_is_measured_as_it_went(world: World) -> None:
    world.has_run("revenue")
    world.fails("revenue", at="03:12")
    world.moves_to("03:17")
    world.rerun_starts("revenue")
    world.moves_to("03:27")
    world.rerun_succeeds("revenue")
    world.fails("orders", at="04:00", log=LOST_COLUMN)
    world.moves_to("04:05")
    world.clicks("gil", "Acknowledge", "orders")
    world.moves_to("04:20")
    world.clicks("ana", "Acknowledge", "orders")
    world.moves_to("05:00")
    world.succeeds("orders", trigger="manual", by="ana")
    world.fails("orders", at="06:00", nominal="05:55", log=LOST_COLUMN)
    world.moves_to("06:30")

    reports = HealthReports(reads=world.service.storage.reads, baselines=world.service.storage)
    period = Period(since=world.now - timedelta(days=1), until=world.now, name="1d")
    report = reports.report(Query(scope=Scope(), period=period), now=world.now)
    health = report.health

    assert (health.occurrences, health.completed) == (3, 2)
    assert health.cases == (("recovered", 1), ("recovered_by_hand", 1))
    assert health.alone == 1
    assert health.acknowledged.n == 1, "an outsider's look is not the team's act"
    assert health.acknowledged.p50 is not None
    assert timedelta(minutes=20) <= health.acknowledged.p50 < timedelta(minutes=20) + A_MOMENT
    assert health.recovery.n == 2
    assert health.recovery.p50 == timedelta(minutes=15)
    assert (health.automatic, health.approved) == (Share(n=1, yes=1), Share())
    assert [cost.unit for cost in health.spent] == ["run_hours"]
    assert health.saved[0].amount == pytest.approx(_estimates(world) - health.spent[0].amount, abs=2e-6)
    assert health.repeats == 1, "orders failed again as it did before"
    assert (health.unresolved.n, health.unattended.n, health.unattended.under_a_day) == (1, 1, 1)
    assert [(row.name, row.occurrences) for row in report.rows] == [("finance", 3)]
    assert health.rejected == health.marked == 0


def _estimates(world: World) -> float:
    found = [world.incident(job).measured.estimate for job in ("revenue", "orders")]
    return sum(one.amount for one in found if one is not None)
