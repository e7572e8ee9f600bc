"""A timer that came due and an effect that was answered are consumed in the transaction that acts on them: exactly once."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest

from bot.incidents.events import AnswerKind, SchedulerAnswered, TimerDue
from bot.incidents.keys import Action
from bot.incidents.model import TimerKind
from bot.intake import Consume, Inbound, Outcome, Result
from bot.store import EffectKind, EffectState
from tests.world.people import LOST_COLUMN
from tests.world.world import World


def at_once(act: Callable[[], list[Outcome]], *, times: int) -> list[Result]:
    """The results of so many threads that all begin at the same moment."""
    ready = Barrier(times)

    def one() -> Result:
        ready.wait()
        return act()[0].result

    with ThreadPoolExecutor(times) as pool:
        done = [pool.submit(one) for _ in range(times)]
        return sorted(each.result() for each in done)


def ask_timer(world: World) -> Inbound:
    """The ladder's timer of the only incident, due now."""
    world.clock.now += timedelta(minutes=15)
    (row,) = world.service.storage.due_timers(now=world.now, limit=9)
    assert row.timer is not None
    assert row.timer.kind is TimerKind.ASK
    consume = Consume(timer=(row.id, row.due_at))
    return Inbound(key=f"timer:{row.id}", event=TimerDue(timer=row.timer), occurrence=(1, 1), consume=consume)


def test_a_timer_that_two_threads_take_up_acts_once(world: World) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    due = ask_timer(world)
    results = at_once(lambda: world.service.intake.take_in([due]), times=4)
    world.settles()

    assert results == [Result.ACCEPTED, Result.DUPLICATE, Result.DUPLICATE, Result.DUPLICATE]
    assert len(world.mentions()) == 2


def test_a_timer_that_was_moved_meanwhile_is_not_consumed(world: World) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    due = ask_timer(world)
    world.clicks("ana", "Acknowledge", "orders")
    before = world.incident("orders")
    (outcome,) = world.service.intake.take_in([due])

    assert outcome.result is Result.DUPLICATE
    assert world.incident("orders") == before


def test_an_answer_that_arrives_twice_settles_its_row_once(world: World) -> None:
    world.has_run("revenue")
    world.fails("revenue", at="03:12")
    with world.undelivered():
        world.moves_to("03:17")
        (row,) = [row for row in world.outbox(EffectState.WAITING) if row.kind is EffectKind.REQUEST]
        refused = SchedulerAnswered(
            key=row.content["key"],
            action=Action.RERUN,
            answer=AnswerKind.REFUSED,
            at=world.now,
            message="403",
        )
        inbound = Inbound(
            key="answer",
            event=refused,
            occurrence=(1, 1),
            consume=Consume(effect=(row.id, EffectState.REFUSED)),
        )
        results = at_once(lambda: world.service.intake.take_in([inbound]), times=4)

    assert results == [Result.ACCEPTED, Result.DUPLICATE, Result.DUPLICATE, Result.DUPLICATE]
    assert [row.kind for row in world.timeline("revenue")].count("rerun_dropped") == 1
    assert world.reruns() == [], "a refused request is not sent any more"
    assert len(world.mentions()) == 1


def test_a_poison_timer_steps_aside_loudly_and_is_not_lost(world: World, caplog: pytest.LogCaptureFixture) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.fails("ads", log=LOST_COLUMN)
    world.scheduler.bewitched.add("orders")
    world.moves_to("03:28")

    asked = [(mention.who, mention.at.minute) for mention in world.mentions()]
    assert asked == [("finance-oncall", 12), ("growth-oncall", 12), ("growth-oncall", 27)]
    assert "a timer could not be taken in" in [record.message for record in caplog.records]

    world.scheduler.bewitched.clear()
    world.moves_to("03:35")
    assert world.mentions()[-1].who == "finance-oncall"
