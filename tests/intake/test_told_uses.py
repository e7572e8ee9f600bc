"""Datasets that a job's scheduler itself names: they are edges of the graph until it names them no more."""

from datetime import timedelta

from bot.incidents.keys import JobKey
from bot.intake import Inbound
from bot.intake.graph import Graph
from bot.sources import JobChange, SourceEvent, SourceKind
from bot.store.lineage import DatasetUse
from storage.lineage_edges import BELIEVED, FORGOTTEN
from tests.world.people import LOST_COLUMN
from tests.world.reporting import key_of
from tests.world.world import World

ORDERS = "airflow://shop/orders"


def tells(world: World, job: str, **change: object) -> None:
    """The scheduler tells of a change of the job."""
    world.clock.tick()
    event = SourceEvent(
        id=world.now.isoformat(),
        kind=SourceKind.JOB_CHANGED,
        at=world.now,
        job=key_of(job),
        change=JobChange(**change),  # type: ignore[arg-type]
    )
    world.service.intake.take_in([Inbound(key=event.key, event=event)])
    world.settles()


def below(world: World, job: str) -> list[str]:
    graph = Graph(worlds=world.service.intake._worlds, reads=world.service.storage.reads)
    return [one.name for one, _ in graph.below(key_of(job), world.now, deep=True).jobs]


def seen_in_a_run(world: World, job: str, dataset: str, *, writes: bool) -> None:
    with world.service.storage.lineage() as unit:
        unit.note_uses([DatasetUse(job=key_of(job), writes=writes, dataset=dataset)], now=world.now)
        unit.commit()


def chained(world: World) -> None:
    tells(world, "extract", writes=(ORDERS,))
    tells(world, "sums", reads=(ORDERS,))


def test_a_job_that_reads_what_another_one_writes_is_downstream_of_it(world: World) -> None:
    chained(world)
    world.fails("extract", at="03:12", log=LOST_COLUMN)

    assert below(world, "extract") == ["sums"]
    assert "Downstream waiting: shop/sums" in world.text_of(world.root("extract"))


def test_what_is_told_is_believed_until_it_is_told_otherwise_however_long(world: World) -> None:
    chained(world)
    world.passes(days=FORGOTTEN.days + 1)
    world.service.storage.prune_lineage(now=world.now, limit=1000)

    assert below(world, "extract") == ["sums"]
    (edge,) = world.service.storage.downstream_of(job=key_of("extract"), now=world.now)
    assert edge.downstream == key_of("sums")
    assert edge.seen_at < world.now - FORGOTTEN


def test_what_is_named_no_more_is_forgotten(world: World) -> None:
    chained(world)
    tells(world, "sums", reads=("airflow://shop/prices",))

    assert below(world, "extract") == []


def test_a_change_that_speaks_of_no_datasets_leaves_them(world: World) -> None:
    chained(world)
    tells(world, "sums", owner="ana")

    assert below(world, "extract") == ["sums"]


def test_what_was_seen_in_runs_stays_when_the_scheduler_names_it_no_more(world: World) -> None:
    seen_in_a_run(world, "sums", ORDERS, writes=False)
    chained(world)
    tells(world, "sums", reads=())

    assert below(world, "extract") == ["sums"]


def test_what_is_told_and_seen_in_runs_later_is_two_words(world: World) -> None:
    chained(world)
    seen_in_a_run(world, "sums", ORDERS, writes=False)
    tells(world, "sums", reads=())

    assert below(world, "extract") == ["sums"]
    world.passes(seconds=(BELIEVED + timedelta(days=1)).total_seconds())
    assert below(world, "extract") == []


def test_datasets_go_with_a_job_that_has_another_name(world: World) -> None:
    chained(world)
    tells(world, "sums", renamed_to="totals", reads=(ORDERS, "airflow://shop/prices"))
    assert below(world, "extract") == ["totals"]

    tells(world, "totals", reads=())
    assert below(world, "extract") == []


def test_a_name_that_both_words_know_keeps_both_when_the_job_is_renamed(world: World) -> None:
    chained(world)
    seen_in_a_run(world, "totals", ORDERS, writes=False)
    tells(world, "sums", renamed_to="totals")
    world.passes(seconds=(BELIEVED + timedelta(days=1)).total_seconds())

    assert below(world, "extract") == ["totals"]


def test_a_job_that_is_gone_waits_for_nothing(world: World) -> None:
    chained(world)
    tells(world, "sums", deleted=True)

    assert below(world, "extract") == []
    assert world.service.storage.downstream_of(job=JobKey(scheduler="shop", name="extract"), now=world.now) == ()
