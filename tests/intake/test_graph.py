"""The graph of what is downstream: joined from policies, datasets and schedulers; circles and a million edges survive."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from sqlalchemy import Engine, event

from bot.incidents.keys import JobKey
from bot.incidents.waits import MOST_WAITS
from bot.intake.graph import MOST_EDGES_A_LEVEL, MOST_LEVELS, Graph
from bot.store.lineage import DatasetUse
from tests.world.fixtures import Build
from tests.world.people import LOST_COLUMN, POLICIES
from tests.world.reporting import key_of
from tests.world.world import World

LAYERS, WIDTH = 100, 100


def uses(world: World, *edges: tuple[str, str]) -> None:
    """What the second job reads is what the first one writes."""
    noted = []
    for upstream, downstream in edges:
        dataset = f"db/{upstream}"
        noted.append(DatasetUse(job=key_of(upstream), writes=True, dataset=dataset))
        noted.append(DatasetUse(job=key_of(downstream), writes=False, dataset=dataset))
    with world.service.storage.lineage() as unit:
        unit.note_uses(noted, now=world.now)
        unit.commit()


def graph(world: World, *told: Any) -> Graph:
    worlds = world.service.intake._worlds
    return Graph(worlds=worlds, reads=world.service.storage.reads, told=told)


def below(world: World, job: str, *, deep: bool = True) -> list[tuple[str, int]]:
    found = graph(world).below(key_of(job), world.now, deep=deep)
    return [(one.name, depth) for one, depth in found.jobs]


@contextmanager
def counted() -> Iterator[list[str]]:
    seen: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        if not statement.startswith("BEGIN"):
            seen.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def test_policies_come_first_then_datasets_then_what_schedulers_tell(world: World) -> None:
    uses(world, ("revenue", "margin"), ("revenue", "board_pack"), ("margin", "forecast"))

    def told(jobs: Sequence[JobKey]) -> Mapping[JobKey, Sequence[JobKey]]:
        return {job: (key_of("mailing"),) for job in jobs if job.name == "revenue"}

    found = graph(world, told).below(key_of("revenue"), world.now, deep=True)

    assert [(one.name, depth) for one, depth in found.jobs] == [
        ("board_pack", 1),
        ("margin", 1),
        ("mailing", 1),
        ("forecast", 2),
    ]
    assert below(world, "revenue", deep=False) == [("board_pack", 1), ("margin", 1)]


def test_circles_and_jobs_that_name_themselves_end(build_world: Build) -> None:
    world: World = build_world(policies=POLICIES.replace("[shop/board_pack]", "[shop/board_pack, shop/revenue]"))
    uses(
        world, ("board_pack", "revenue"), ("board_pack", "board_pack"), ("board_pack", "stock"), ("stock", "board_pack")
    )

    assert below(world, "revenue") == [("board_pack", 1), ("stock", 2)]


def test_an_edge_that_was_not_seen_for_long_is_not_believed(world: World) -> None:
    uses(world, ("orders", "margin"))
    assert below(world, "orders") == [("margin", 1)]
    world.clock.now += timedelta(days=31)

    assert below(world, "orders") == []


def test_a_million_edges_cost_a_few_looks(world: World) -> None:
    noted = []
    for layer in range(LAYERS):
        for number in range(WIDTH):
            noted.append(DatasetUse(job=key_of(f"j{layer}_{number}"), writes=True, dataset=f"db/{layer}"))
            reader = key_of(f"j{(layer + 1) % LAYERS}_{number}")
            noted.append(DatasetUse(job=reader, writes=False, dataset=f"db/{layer}"))
    with world.service.storage.lineage() as unit:
        unit.note_uses(noted, now=world.now)
        unit.commit()
    edges = LAYERS * WIDTH * WIDTH
    assert edges == 1_000_000

    with counted() as statements:
        found = graph(world).below(key_of("j0_0"), world.now, deep=True)
    read = world.service.storage.reads.readers_of(
        jobs=[key_of(f"j0_{number}") for number in range(WIDTH)], now=world.now, limit=MOST_EDGES_A_LEVEL
    )

    assert len(found.jobs) == MOST_WAITS
    assert found.beyond > 0
    assert [depth for _, depth in found.jobs][:WIDTH] == [1] * WIDTH
    assert len(statements) <= MOST_LEVELS
    assert sum(len(known) for known in read.downstream.values()) <= MOST_EDGES_A_LEVEL
    assert read.more


def test_who_reads_what_a_failed_job_writes_waits_for_it(world: World) -> None:
    uses(world, ("orders", "margin"), ("margin", "board_pack"))
    world.fails("orders", at="03:12", log=LOST_COLUMN)

    incident = world.incident("orders")
    assert [(wait.job, wait.depth) for wait in incident.waits] == [("shop/margin", 1), ("shop/board_pack", 2)]
    assert "Downstream waiting: shop/margin" in world.text_of(world.root("orders"))


def test_of_very_many_that_wait_the_first_are_kept_and_the_others_counted(world: World) -> None:
    uses(world, *((("orders", f"reader_{number}")) for number in range(MOST_WAITS + 50)))
    world.fails("orders", at="03:12", log=LOST_COLUMN)

    incident = world.incident("orders")
    assert (len(incident.waits), incident.waits_beyond) == (MOST_WAITS, 50)
    assert "and 195 more; further down at least 50 more" in world.text_of(world.root("orders"))
