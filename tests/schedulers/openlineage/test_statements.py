"""How many statements the events cost before intake: their number decides the latency, so it may not grow with a batch."""

from typing import Any

import pytest

from tests.intake.test_statements import counted
from tests.schedulers.openlineage.events import ROOT, captured, dataset, error, run_event
from tests.schedulers.openlineage.road import Road


def lineage_statements(statements: list[str]) -> list[str]:
    return [one for one in statements if "lineage_" in one]


def parts(count: int, word: str = "COMPLETE", **more: Any) -> list[dict[str, Any]]:
    return [
        run_event(word, "06:00:02", run=f"p{number}", job=f"load.t{number}", parent=ROOT, root=ROOT, **more)
        for number in range(count)
    ]


def test_the_start_of_a_run_costs_few(road: Road) -> None:
    with counted() as statements:
        road.takes(run_event("START", "06:00:00"))

    assert len(lineage_statements(statements)) <= 5, statements


def test_a_part_that_fails_costs_few(road: Road) -> None:
    road.takes(run_event("START", "06:00:00"))
    with counted() as statements:
        road.takes(*parts(1, "FAIL", facets=error("disk full")))

    assert len(statements) <= 5, statements


def test_the_end_of_a_run_costs_few_beside_intake(road: Road) -> None:
    road.takes(run_event("START", "06:00:00"), *parts(3, inputs=[dataset("raw")], outputs=[dataset("mart")]))
    with counted() as statements:
        road.takes(run_event("COMPLETE", "06:01:00"))

    assert len(lineage_statements(statements)) <= 6, statements


@pytest.mark.parametrize("count", [1, 200])
def test_a_batch_costs_as_many_as_one(road: Road, count: int) -> None:
    road.takes(run_event("START", "06:00:00"))
    with counted() as statements:
        road.takes(*parts(count, inputs=[dataset("raw")]))

    assert len(statements) <= 6, statements


def test_the_ends_of_many_runs_cost_as_many_as_one(road: Road) -> None:
    ends = [run_event("COMPLETE", "06:00:02", run=f"r{number}", job=f"j{number}") for number in range(100)]
    with counted() as statements:
        road.takes(*ends)

    assert len(lineage_statements(statements)) <= 7, statements


def test_what_airflow_sends_for_one_run_with_two_tasks(road: Road) -> None:
    with counted() as statements:
        for event in captured()[4:10]:
            road.takes(event)

    assert len(lineage_statements(statements)) <= 30, len(statements)
