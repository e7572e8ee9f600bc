"""`/job-health` in a company: what a manager reads, shares and sets, with everything behind it that is real."""

from typing import Any

import pytest

from tests.storage.test_statements import counted
from tests.world.fixtures import Build
from tests.world.people import CHANNELS, LOST_COLUMN, PEOPLE, RESET
from tests.world.seen import buttons
from tests.world.world import World

Json = dict[str, Any]


def newest(world: World, person: str) -> Json:
    found: Json = world.stage.slack.ephemerals(PEOPLE[person])[-1]
    return found


def kinds(message: Json) -> list[str]:
    return [block["type"] for block in message["blocks"]]


def shares(world: World, person: str) -> None:
    message = newest(world, person)
    button = buttons(message)["Share here"]
    world.stage.slack.click(
        user=PEOPLE[person],
        channel=message["channel"],
        ts=message["ts"],
        action_id=button["action_id"],
        block_id=button["block_id"],
    )


def in_channel(world: World) -> list[str]:
    said = world.stage.slack.messages(CHANNELS["finance"])
    return [world.text_of(each) for each in said if "Job health" in world.text_of(each)]


@pytest.fixture
def busy(world: World) -> World:
    """Orders failed and Ana is on it; revenue failed and ran well when it was rerun."""
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.clicks("ana", "Acknowledge", "orders")
    world.fails("ads", at="03:20", log=LOST_COLUMN)
    world.passes(minutes=10)
    return world


def test_a_manager_reads_what_is_so_with_chart_and_table(busy: World) -> None:
    told = busy.types("maria", "/job-health")

    assert "All jobs: 2 failures in the last 30 days, 0 settled, 2 open now" in told
    assert "shop/orders" in told
    assert "on it: Ana" in told
    assert "nobody yet" in told
    assert {"data_visualization", "data_table", "actions"} <= set(kinds(newest(busy, "maria")))


def test_a_team_a_job_and_a_group_are_asked_for_by_name(busy: World) -> None:
    assert "finance: 1 failure in the last 7 days" in busy.types("maria", "/job-health FINANCE 7d")
    assert "shop/orders: 1 failure" in busy.types("maria", "/job-health orders")
    assert "growth: 1 failure" in busy.types("maria", "/job-health <!subteam^S0GROWTH|@growth-oncall>")
    assert "cause data.schema" not in busy.types("maria", "/job-health scheduler:shop")


@pytest.mark.scenario(40)
def test_what_is_unknown_or_empty_is_said(busy: World) -> None:
    assert "no team and no job “ordres”" in busy.types("maria", "/job-health ordres")
    assert "shop/orders" in busy.types("maria", "/job-health ordres")
    quiet = busy.types("maria", "/job-health stock")

    assert "no team and no job" in quiet or "No data" in quiet
    assert "nothing to measure (n=0)" in busy.types("maria", "/job-health ads 1d")
    assert "No baseline is set" in busy.types("maria", "/job-health vs baseline")


def test_a_workspace_that_draws_no_charts_is_told_in_classic_blocks(busy: World) -> None:
    busy.stage.slack.inject("response_url", contains="data_", error="invalid_blocks", count=None)
    told = busy.types("maria", "/job-health")
    busy.stage.slack.heal()

    assert "2 failures in the last 30 days" in told
    assert not {"data_visualization", "data_table"} & set(kinds(newest(busy, "maria")))
    assert "finance" in busy.types("maria", "/job-health")
    assert "data_table" not in kinds(newest(busy, "maria"))


def test_figures_are_shared_once(busy: World) -> None:
    busy.types("maria", "/job-health finance")
    button = newest(busy, "maria")
    shares(busy, "maria")

    (shared,) = in_channel(busy)
    assert "Shared by Maria" in shared
    assert "[Share here]" not in shared
    assert "You shared this here" in busy.text_of(newest(busy, "maria"))
    assert button["ts"] == newest(busy, "maria")["ts"]


def test_only_managers_and_admins_set_the_baseline(busy: World) -> None:
    wish = "/job-health baseline set 2026-10-01..2026-10-31"
    refused = busy.types("ana", wish)
    assert "Only managers and admins" in refused
    assert "Maria" in refused
    assert "Rita" in refused
    assert "No baseline is set" in busy.types("ana", "/job-health baseline")

    assert "The baseline is set" in busy.types("maria", wish)
    assert "set by Maria (U0MARIA)" in busy.types("ana", "/job-health baseline")
    assert "lies before the record" in busy.types("ana", "/job-health vs baseline")


def test_one_answer_costs_few_statements(build_world: Build) -> None:
    """However many jobs there are, as long as no more are shown."""
    world = build_world()
    for job in ("orders", "ads", "report"):
        world.fails(job, at="03:12", log=RESET)
    few = _statements(world)
    for job in ("revenue", "board_pack", "stock", "minutely"):
        world.fails(job, at="03:40", log=RESET)
    many = _statements(world)

    assert many <= few + 4
    assert many <= 40


def _statements(world: World) -> int:
    with counted() as seen:
        world.types("maria", "/job-health")
    return len(seen)
