"""Two replicas on one PostgreSQL at the same tick: everything goes out once, and either carries on without the other."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from threading import Barrier

import pytest

from bot.compose import Service, build
from bot.store import EffectState
from tests.world.fixtures import Build
from tests.world.process import AT_ONCE
from tests.world.stage import Stage
from tests.world.world import World

MINUTE = timedelta(minutes=1)
ROUNDS = 4


@pytest.fixture
def database(postgresql_url: str) -> str:
    return postgresql_url


@pytest.fixture
def other(build_world: Build, stage: Stage, tmp_path: Path) -> Iterator[tuple[World, Service]]:
    """The world with its process, and a second process beside it."""
    world = build_world()
    service = build(
        world.service.settings,
        world.service.policies,
        pace=AT_ONCE,
        threads=0,
        clock=world.clock,
        connect=lambda spec: world.scheduler,
    )
    service.schedulers.follow(service.policies.current)
    yield world, service
    for close in service.closing:
        close()
    service.storage.close()


def ticks(*services: Service, now: datetime) -> None:
    """The same tick in each process at once, until each has found nothing more to do."""
    together = Barrier(len(services))

    def tick(service: Service) -> None:
        for _ in range(ROUNDS):
            together.wait(30)
            service.steps["timers"](now)
            service.steps["delivery"](now)

    with ThreadPoolExecutor(len(services)) as pool:
        list(pool.map(tick, services))


def plays_on(world: World, *services: Service, minutes: int) -> None:
    for _ in range(minutes):
        world.clock.now += MINUTE
        ticks(*services, now=world.now)


@pytest.mark.scenario(2)
def test_two_replicas_send_every_ask_and_rerun_once(other: tuple[World, Service]) -> None:
    world, second = other
    world.has_run("revenue")
    world.moves_to("03:12")
    world.fails("revenue")
    world.fails("orders")
    plays_on(world, world.service, second, minutes=55)

    (rerun,) = world.reruns()
    assert rerun.job.name == "revenue"
    texts = [mention.text for mention in world.mentions() if "orders" in mention.text]
    assert len(texts) == len(set(texts)) == 3, "the opening and two steps of the ladder, each once"
    assert len(world.direct("ben")) == len(set(world.direct("ben"))) <= 1
    assert len([each for each in world.stage.slack.messages("C0FINANCE") if "thread_ts" not in each]) == 2
    assert world.outbox(EffectState.WAITING, EffectState.SENDING, EffectState.BURIED) == ()


@pytest.mark.scenario(2)
@pytest.mark.parametrize("left", ["first", "second"])
def test_whichever_replica_is_killed_the_other_carries_on(other: tuple[World, Service], left: str) -> None:
    world, second = other
    world.moves_to("03:12")
    world.fails("orders")
    remaining = world.service if left == "first" else second
    plays_on(world, remaining, minutes=20)

    assert [mention.who for mention in world.mentions()] == ["finance-oncall", "finance-oncall"]
    assert world.incident("orders").chase.count == 2
