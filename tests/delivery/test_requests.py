"""What is asked of schedulers: at most once where it must be, and taken back only before it went out."""

from typing import Any

import pytest

from bot.incidents.keys import Action
from bot.incidents.model import Status
from bot.store import EffectKind, EffectState
from tests.world.people import LOST_COLUMN, POLICIES
from tests.world.world import World


def leave(world: World, job: str) -> None:
    world.clicks("ana", "More", job)
    world.presses("ana", "Leave")
    world.submits("ana", until="Thu 12:00", why="known")


def requests(world: World, *states: EffectState) -> list[Any]:
    return [row for row in world.outbox(*states) if row.kind is EffectKind.REQUEST]


def test_a_cancel_before_it_is_sent_wins(world: World) -> None:
    world.has_run("orders")
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    with world.undelivered():
        world.clicks("ana", "Rerun", "orders")
        leave(world, "orders")

    assert world.reruns() == []
    assert world.incident("orders").status is Status.LEFT
    assert world.incident("orders").rerun is None
    assert len(requests(world, EffectState.CANCELLED)) == 1


def test_a_cancel_after_it_was_sent_does_not_and_its_end_is_booked(world: World) -> None:
    world.has_run("revenue")
    world.fails("revenue", at="03:12")
    world.moves_to("03:17")
    assert len(world.reruns()) == 1
    leave(world, "revenue")
    assert world.incident("revenue").status is Status.LEFT
    world.rerun_succeeds("revenue")

    (booking,) = world.service.storage.reads.reruns_of(record=1, number=1)
    assert booking.result == "succeeded"
    assert len(requests(world, EffectState.SETTLED)) == 1
    assert world.incident("revenue").status is Status.LEFT


def test_a_licence_that_is_withdrawn_before_the_request_is_sent_stops_it(world: World) -> None:
    world.has_run("revenue")
    world.fails("revenue", at="03:12")
    with world.undelivered():
        world.moves_to("03:17")
        assert [row.state for row in requests(world, EffectState.WAITING)] == [EffectState.WAITING]
        world.has_policies(POLICIES.replace("defaults:\n", "defaults:\n  mode: ask\n"))

    assert world.reruns() == []
    assert world.used("revenue") == 0
    assert world.incident("revenue").status is Status.OPEN


def test_a_refused_rerun_gives_its_reservation_back_and_asks_the_owner(world: World) -> None:
    world.has_run("revenue")
    world.scheduler.refuses(Action.RERUN, "403: dag is locked")
    world.fails("revenue", at="03:12")
    world.moves_to("03:18")

    assert world.used("revenue") == 0
    assert world.incident("revenue").status is Status.OPEN
    assert "403: dag is locked" in world.thread("revenue")
    assert [mention.who for mention in world.mentions()] == ["finance-oncall"]
    world.moves_to("06:00")
    assert len(world.reruns()) == 1


def test_a_pause_without_an_answer_is_asked_again_under_its_key_until_there_is_one(world: World) -> None:
    world.scheduler.times_out(Action.PAUSE, after_taking=True)
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.clicks("ana", "More", "orders")
    world.presses("ana", "Pause")
    world.submits("ana", until="Tue 12:00", reason="known")
    assert world.incident("orders").status is Status.OPEN
    world.scheduler.is_well_again()
    world.passes(minutes=1)

    assert world.incident("orders").status is Status.PAUSED
    first, second = world.scheduler.requests(Action.PAUSE)
    assert first.key == second.key


def test_a_pause_that_is_never_answered_ends_as_not_in_force(world: World) -> None:
    world.scheduler.times_out(Action.PAUSE, after_taking=False)
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.clicks("ana", "More", "orders")
    world.presses("ana", "Pause")
    world.submits("ana", until="Tue 12:00", reason="known")
    world.passes(minutes=30)

    incident = world.incident("orders")
    assert incident.status is Status.OPEN
    assert incident.decision is not None
    assert incident.decision.refused
    assert 2 <= len(world.scheduler.requests(Action.PAUSE)) <= 10


@pytest.mark.parametrize("moment", range(1, 15))
def test_a_process_that_dies_over_a_rerun_asks_for_it_exactly_once(world: World, moment: int) -> None:
    world.has_run("revenue")
    world.fails("revenue", at="03:12")
    looks = iter(range(1, 10_000))
    world.dies_when(lambda: next(looks) == moment)
    world.moves_to("03:19")
    assert next(looks) > moment, "it did die"

    assert len(world.reruns()) == 1
    assert world.used("revenue") > 0
    world.rerun_starts("revenue")
    world.rerun_succeeds("revenue")
    assert world.incident("revenue").status is Status.RESOLVED
    assert world.mentions() == []


@pytest.mark.parametrize("moment", range(1, 20))
def test_a_process_that_dies_over_a_thread_leaves_it_as_it_would_have_been(world: World, moment: int) -> None:
    looks = iter(range(1, 10_000))
    world.moves_to("03:12")
    world.dies_when(lambda: next(looks) == moment)
    world.fails("orders", log=LOST_COLUMN)
    world.passes(minutes=2)
    assert next(looks) > moment, "it did die"

    assert len(world.channel("finance")) == 1
    evidence, log, ask = world.replies("orders")
    assert "What changed" in evidence
    assert "[file]" in log
    assert "needs someone of the owning team" in ask
    assert [mention.who for mention in world.mentions()] == ["finance-oncall"]
    assert world.outbox(EffectState.WAITING, EffectState.SENDING, EffectState.BURIED) == ()
