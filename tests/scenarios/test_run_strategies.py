"""Jobs whose scheduler lets runs live only at each other's cost: what is said before a yes, and what is never done alone."""

from datetime import timedelta

import pytest

from bot.incidents.keys import Action, Capability
from bot.incidents.model import Status
from bot.incidents.strategy import RunStrategy
from bot.intake import Inbound
from bot.sources import JobChange, SourceEvent, SourceKind
from tests.world.clock import MONDAY_MIDNIGHT
from tests.world.people import LOST_COLUMN
from tests.world.reporting import key_of
from tests.world.seen import buttons
from tests.world.world import World

TOMORROW = MONDAY_MIDNIGHT + timedelta(days=1, hours=3)


def treats_runs_by(world: World, job: str, rule: RunStrategy | None, owner: str | None = None) -> None:
    """The scheduler tells of the job's run strategy, as a connector does."""
    event = SourceEvent(
        id=f"{rule} {world.now}",
        kind=SourceKind.JOB_CHANGED,
        at=world.now,
        job=key_of(job),
        change=JobChange(run_strategy=rule, owner=owner),
    )
    world.service.intake.take_in([Inbound(key=event.key, event=event)])
    world.settles()


@pytest.mark.parametrize("rule", [RunStrategy.LAST_ONLY, RunStrategy.SERIAL_LATEST_ONLY, RunStrategy.FIRST_ONLY])
def test_a_rerun_at_another_runs_cost_waits_for_its_owner(world: World, rule: RunStrategy) -> None:
    world.has_run("revenue")
    treats_runs_by(world, "revenue", rule)
    world.starts("revenue", at="03:11", nominal=TOMORROW)
    world.fails("revenue", at="03:12")
    world.passes(minutes=20)

    assert world.reruns() == []
    assert world.incident("revenue").status is Status.OPEN
    assert "another run of the job lives" in world.reasons("revenue")
    assert str(rule) in world.text_of(world.root("revenue"))


def test_a_newer_run_that_begins_during_the_back_off_is_not_stopped(world: World) -> None:
    world.has_run("revenue")
    treats_runs_by(world, "revenue", RunStrategy.LAST_ONLY)
    world.fails("revenue", at="03:12")
    assert world.incident("revenue").status is Status.RERUNNING

    world.starts("revenue", at="03:14", nominal=TOMORROW)
    world.passes(minutes=20)

    assert world.reruns() == []
    assert world.incident("revenue").status is Status.OPEN


def test_an_owner_reads_the_cost_at_the_button_and_may_go_on(world: World) -> None:
    world.has_run("orders")
    treats_runs_by(world, "orders", RunStrategy.LAST_ONLY)
    world.starts("orders", at="03:11", nominal=TOMORROW)
    world.fails("orders", at="03:12", log=LOST_COLUMN)

    asked = buttons(world.message_with("Rerun", "orders"))["Rerun"]["confirm"]
    assert "a rerun stops the run of Tue" in asked["text"]["text"]
    world.clicks("ana", "Rerun", "orders")
    assert [request.requested_by for request in world.reruns()] == ["ana"]


def test_what_a_later_word_leaves_out_stays_as_it_was(world: World) -> None:
    treats_runs_by(world, "revenue", RunStrategy.LAST_ONLY)
    treats_runs_by(world, "revenue", None, owner="ana@example.com")

    memory = world.service.records.memory_of(key_of("revenue"))

    assert memory is not None
    assert (memory.run_strategy, memory.owner) == (RunStrategy.LAST_ONLY, "ana@example.com")


def test_in_strict_order_a_run_that_is_not_needed_is_let_go(world: World) -> None:
    world.scheduler.can |= {Capability.UNBLOCK}
    world.has_run("orders")
    treats_runs_by(world, "orders", RunStrategy.STRICT_SEQUENTIAL)
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.clicks("ana", "More", "orders")
    world.presses("ana", "Not needed")
    world.submits("ana", reason="nobody reads it")

    (asked,) = world.scheduler.requests(Action.UNBLOCK)
    assert asked.run is not None
    assert asked.requested_by == "ana"
    assert world.incident("orders").status is Status.RESOLVED
    assert "unblock_answered: taken" in world.reasons("orders")


def test_what_its_scheduler_does_not_let_go_is_told_in_the_thread(world: World) -> None:
    world.scheduler.can |= {Capability.UNBLOCK}
    world.scheduler.refuses(Action.UNBLOCK, "403: may not")
    world.has_run("orders")
    treats_runs_by(world, "orders", RunStrategy.STRICT_SEQUENTIAL)
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.clicks("ana", "More", "orders")
    world.presses("ana", "Not needed")
    world.submits("ana", reason="nobody reads it")

    assert "Later runs of it still wait in its scheduler: 403: may not." in world.thread("orders")
