"""How many statements an event costs on its whole way: their number decides the latency, so it may not creep up."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Engine, event

from tests.world.people import LOST_COLUMN
from tests.world.reports import Report
from tests.world.world import World


@contextmanager
def counted() -> Iterator[list[str]]:
    """The statements that are executed inside, those that begin a transaction aside."""
    seen: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        if not statement.startswith("BEGIN"):
            seen.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def test_a_failure_that_opens_an_incident_costs_few_statements(world: World) -> None:
    world.has_run("orders")
    world.moves_to("03:12")
    report = Report(
        kind="failed",
        job="orders",
        at=world.now,
        nominal=world.nominal_before("orders", world.now),
        error={"log": LOST_COLUMN},
    )
    with counted() as statements:
        world.posts([report.event()])

    assert len(statements) <= 21, statements


def test_a_good_run_of_a_healthy_job_costs_few_statements(world: World) -> None:
    world.has_run("orders")
    world.moves_to("03:12")
    report = Report(kind="succeeded", job="orders", at=world.now, nominal=world.nominal_before("orders", world.now))
    with counted() as statements:
        world.posts([report.event()])

    assert len(statements) <= 8, statements


def test_a_hundred_good_runs_cost_as_many_statements_as_one(world: World) -> None:
    world.moves_to("03:12")
    jobs = [f"job-{number}" for number in range(100)]
    reports = [Report(kind="succeeded", job=job, at=world.now, nominal=world.now) for job in jobs]
    world.posts([report.event() for report in reports[:1]])
    with counted() as statements:
        world.posts([report.event() for report in reports[1:]])

    assert len(statements) <= 9, statements
