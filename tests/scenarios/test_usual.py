"""Numbers are judged by the last good runs, not merely by the last one."""

from datetime import timedelta
from typing import Any

from tests.world.people import LOST_COLUMN
from tests.world.reports import Report
from tests.world.world import World


def good_runs(world: World, rows: list[int], *, took: float = 12) -> None:
    nominal, reports = world.now, []
    for count in rows:
        nominal = world.nominal_before("orders", nominal - timedelta(microseconds=1))
        minutes = timedelta(minutes=took + count % 3)
        facts: dict[str, Any] = {"inputs": {"orders.csv": {"rows": count, "schema": ["id", "amount"]}}}
        reports.append(
            Report(kind="succeeded", job="orders", at=nominal + minutes, nominal=nominal, took=minutes, facts=facts)
        )
    world.reports(*reversed(reports))


def evidence(world: World) -> str:
    return [reply for reply in world.replies("orders") if "Last good run" in reply][-1]


def test_a_number_is_compared_with_what_good_runs_usually_had(world: World) -> None:
    good_runs(world, [1_200_000 + 1000 * number for number in range(14)])
    facts = {"inputs": {"orders.csv": {"rows": 31, "schema": ["id"]}}}
    world.fails("orders", at="07:10", nominal="03:00", log=LOST_COLUMN, facts=facts, took=timedelta(minutes=250))

    told = evidence(world)

    assert "input orders.csv lost column amount, which the error names" in told
    assert "rows of orders.csv 1.2 M -> 31, -99.997 %; usually 1.21 M (± 3500, n = 14)" in told
    assert "ran 4 h 10 min, usually 13 min (± 1 min, n = 14)" in told
    assert told.index("lost column") < told.index("rows of orders.csv") < told.index("ran 4 h 10 min")


def test_a_number_that_good_runs_often_have_is_no_change(world: World) -> None:
    good_runs(world, [1_200_000, 40, 700_000, 31, 990_000, 55, 1_100_000, 62])
    facts = {"inputs": {"orders.csv": {"rows": 48, "schema": ["id", "amount"]}}}
    world.fails("orders", at="03:12", nominal="03:00", log=LOST_COLUMN, facts=facts, took=timedelta(minutes=12))

    assert "no difference found" in evidence(world)
