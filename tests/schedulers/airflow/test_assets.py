"""Assets: which DAG waits for which, under names that others use for the same data; owners and tags."""

from pathlib import Path

import pytest

from bot.schedulers.airflow.assets import EVERY, dataset_of
from bot.schedulers.airflow.shapes import Asset
from bot.schedulers.openlineage.datasets import name_of
from bot.schedulers.openlineage.nodes import Node
from bot.sources import JobChange
from tests.schedulers.airflow.desk import NAME, Desk
from tests.schedulers.airflow.server import Airflow

ORDERS = "s3://lake/orders"


def changes(desk: Desk) -> dict[str, JobChange]:
    """What was told last of each DAG."""
    return {event.job.name: event.change for event in desk.changes() if event.change is not None}


def test_a_dag_is_told_with_the_assets_that_it_writes_and_those_that_it_waits_for(desk: Desk, airflow: Airflow) -> None:
    for dag in ("extract", "report", "audit", "other"):
        airflow.records.add_dag(dag)
    airflow.records.add_asset(ORDERS, written_by="extract", starts="report", read_by="audit")
    airflow.records.add_asset("s3://lake/sums", written_by="report")
    desk.polls()
    told = changes(desk)

    assert (told["extract"].reads, told["extract"].writes) == ((), (ORDERS,))
    assert (told["report"].reads, told["report"].writes) == ((ORDERS,), ("s3://lake/sums",))
    assert told["audit"].reads == (ORDERS,)
    assert (told["other"].reads, told["other"].writes) == ((), ())
    assert len(desk.changes()) == 4


def test_assets_cost_a_page_of_calls_now_and_then_and_never_one_a_dag(desk: Desk, airflow: Airflow) -> None:
    airflow.page_limit = 10
    for number in range(25):
        airflow.records.add_dag(f"dag_{number:02}")
        airflow.records.add_asset(f"s3://lake/{number:02}", written_by=f"dag_{number:02}")
    desk.polls(10)

    assert len(airflow.calls("GET", "/assets$")) == 3
    assert changes(desk)["dag_24"].writes == ("s3://lake/24",)
    assert len(desk.changes()) == 25
    desk.moves(EVERY)
    desk.polls(10)
    assert len(airflow.calls("GET", "/assets$")) == 6
    assert len(desk.changes()) == 25


def test_an_asset_that_is_spoken_of_no_more_is_told_of_no_more(desk: Desk, airflow: Airflow) -> None:
    airflow.records.add_dag("extract")
    airflow.records.add_asset(ORDERS, written_by="extract")
    desk.polls()
    airflow.records.assets.clear()
    desk.moves(EVERY)
    desk.polls(2)

    assert [event.change and event.change.writes for event in desk.changes()] == [(ORDERS,), ()]


def test_assets_that_are_not_shown_leave_what_was_told(desk: Desk, airflow: Airflow) -> None:
    airflow.records.add_dag("extract")
    airflow.records.add_asset(ORDERS, written_by="extract")
    desk.polls()
    airflow.assets_hidden = True
    desk.restarted()
    desk.moves(EVERY)
    desk.polls(2)

    assert desk.poller.trouble == ""
    assert len(desk.changes()) == 1


def test_where_assets_are_never_shown_nothing_is_said_of_them(airflow: Airflow, tmp_path: Path) -> None:
    airflow.assets_hidden = True
    airflow.records.add_dag("extract")
    desk = Desk(airflow, tmp_path)
    desk.polls()
    desk.scheduler.close()

    assert (changes(desk)["extract"].reads, changes(desk)["extract"].writes) == (None, None)


def test_tags_and_owners_stand_with_the_facts_of_a_run(desk: Desk, airflow: Airflow) -> None:
    airflow.records.add_dag("finance.daily", owner="ana", tags=["gold", "daily"])
    desk.fails()
    failed = desk.polls()[-1]

    assert failed.facts["config"]["tags"] == ["daily", "gold"]
    assert failed.facts["job"] == {"owner": "ana"}


@pytest.mark.parametrize(
    ("uri", "namespace", "name"),
    [
        ("s3://lake/orders/day", "s3://lake", "orders/day"),
        ("s3://lake", "s3://lake", "/"),
        ("gs://lake/orders", "gs://lake", "orders"),
        ("file:///data/orders.csv", "file", "/data/orders.csv"),
        ("file://host/data/orders.csv", "file://host", "/data/orders.csv"),
        ("postgres://db:5432/shop/public/orders", "postgres://db:5432", "shop.public.orders"),
        ("postgresql://db:5432/shop/public/orders", "postgres://db:5432", "shop.public.orders"),
        ("mysql://db:3306/shop/orders", "mysql://db:3306", "shop.orders"),
        ("bigquery://project/shop/orders", "bigquery", "project.shop.orders"),
        ("kafka://broker:9092/orders", "kafka://broker:9092", "orders"),
    ],
)
def test_an_asset_is_called_as_the_lineage_door_calls_the_same_data(uri: str, namespace: str, name: str) -> None:
    heard = name_of(Node({"namespace": namespace, "name": name}))

    assert dataset_of(Asset(name="orders", uri=uri), scheduler=NAME) == heard


def test_an_asset_that_is_only_a_name_is_one_of_this_airflow_alone() -> None:
    here = dataset_of(Asset(name="orders", uri="orders"), scheduler="prod")
    there = dataset_of(Asset(name="orders", uri="orders"), scheduler="test")

    assert here == "airflow://prod/orders"
    assert here != there


def test_an_asset_without_a_name_that_could_be_told_apart_is_left_out() -> None:
    assert dataset_of(Asset(name="a\nb", uri="a\nb"), scheduler=NAME) is None
