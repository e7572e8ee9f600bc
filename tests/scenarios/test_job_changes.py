"""What sources tell of jobs themselves: another owner, gone, back again, called otherwise."""

from datetime import timedelta

import pytest

from bot.incidents.model import Outcome, Status
from tests.scenarios.test_downstream import follows, wait_of
from tests.world.fixtures import Build
from tests.world.people import LOST_COLUMN, POLICIES
from tests.world.reporting import key_of
from tests.world.reports import Report, cloud_event
from tests.world.world import World

UNOWNED = POLICIES.replace("  team: finance\n", "", 1).replace("match: shop/orders,", "match: shop/orders, ")
BOTH = POLICIES.replace("match: shop/revenue\n    team", "match: shop/*\n    team")


def told(answer: dict[str, list[dict[str, str]]]) -> tuple[str, str]:
    (result,) = answer["results"]
    return result["result"], result["reason"] or ""


def test_an_owner_that_a_scheduler_names_is_noted_and_shown_where_the_policy_names_no_team(build_world: Build) -> None:
    world: World = build_world(policies=UNOWNED)
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.changes("orders", owner="ana@example.com")

    assert "its scheduler names ana@example.com as its owner" in world.reasons("orders")
    assert "no owning team known; its scheduler names ana@example.com" in world.text_of(world.root("orders"))


def test_a_job_that_is_gone_asks_once_whether_to_retire_it(world: World) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    before = len(world.asks())
    world.passes(minutes=1)
    world.changes("orders", deleted=True)
    world.passes(minutes=1)
    world.changes("orders", deleted=True)

    assert len(world.asks()) == before + 1
    assert "its scheduler says that the job is gone: retire it?" in world.reasons("orders")
    world.clicks("ana", "Retire", "orders")
    world.submits("ana", reason="it is gone")
    assert world.incident("orders").status is Status.RETIRED


def test_a_job_that_is_gone_is_not_late_and_one_that_runs_again_is_there(build_world: Build) -> None:
    world: World = build_world(policies=POLICIES.replace("start: off", "start: 0s"))
    world.moves_to("02:00")
    world.succeeds("orders", nominal="Sun 03:00")
    world.changes("orders", deleted=True)
    world.moves_to("Tue 12:00")
    assert world.incidents() == ()

    world.starts("orders", at="Tue 13:00", nominal="Tue 03:00")
    world.succeeds("orders", at="Tue 13:10", nominal="Tue 03:00")
    world.moves_to("Wed 04:00")

    assert [incident.failure.cause for incident in world.incidents()] == ["late.not_started"]


def test_a_renamed_job_keeps_its_record_its_marks_and_its_budget_and_old_events_find_it(world: World) -> None:
    world.has_run("orders")
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    before = world.incident("orders")
    answer = world.changes("orders", renamed_to="purchases")
    assert told(answer)[0] == "accepted"

    after = world.incident("purchases")
    assert (after.id, after.job) == (before.id, key_of("purchases"))
    assert world.incidents("orders") == ()
    assert "purchases" in world.text_of(world.root("purchases"))
    memory = world.service.storage.reads.job(key=key_of("purchases"))
    assert memory is not None
    assert memory.memory.last_good is not None
    assert len(memory.memory.samples) == 6
    assert world.service.storage.reads.job(key=key_of("orders")) is None, "the old name is no job any more"

    world.succeeds("orders", at="04:00", nominal="03:00", trigger="manual")
    assert world.incident("purchases").outcome is Outcome.RECOVERED_BY_HAND
    assert [row.key.name for row in world.service.storage.reads.jobs()] == ["purchases"]


def test_a_rerun_that_is_under_way_is_booked_under_the_new_name(build_world: Build) -> None:
    world: World = build_world(policies=BOTH)
    world.has_run("revenue")
    world.fails("revenue", at="03:12")
    world.moves_to("03:17")
    assert world.used("revenue") > 0
    world.changes("revenue", renamed_to="takings")
    assert world.used("revenue") == 0

    assert world.used("takings") > 0
    world.rerun_starts("revenue")
    world.moves_to("03:40")
    world.rerun_succeeds("revenue")
    assert world.incident("takings").outcome is Outcome.RECOVERED


def test_renames_may_follow_one_another_and_lead_back(world: World) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    record = world.incident("orders").id
    for was, now in (("orders", "purchases"), ("purchases", "buying"), ("buying", "orders"), ("orders", "orders")):
        world.passes(minutes=1)
        assert told(world.changes(was, renamed_to=now))[0] == "accepted"

    assert [incident.id for incident in world.incidents("orders")] == [record]
    for name in ("purchases", "buying", "orders"):
        world.passes(minutes=1)
        world.fails(name, nominal=world.now - timedelta(hours=1), log=LOST_COLUMN)
    assert [(incident.job.name, incident.count) for incident in world.incidents()] == [("orders", 4)]


def test_a_name_that_has_a_history_of_its_own_is_refused_with_words(world: World) -> None:
    world.has_run("stock", times=1)
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    rename = {"scheduler": "shop", "job": "orders", "renamed_to": "stock"}
    result, reason = told(world.posts([cloud_event("job.changed", rename, at=world.now, id="r")]).json())
    world.settles()

    assert result == "rejected"
    assert "shop/stock has a history of its own: two jobs cannot become one" in reason
    assert "it keeps its name" in world.reasons("orders")
    assert world.incident("orders").status is Status.OPEN


def test_a_rename_and_what_comes_after_it_may_stand_in_one_batch(world: World) -> None:
    world.moves_to("03:12")
    failed = Report(kind="failed", job="orders", at=world.now, nominal=world.now, error={"log": LOST_COLUMN})
    rename = {"scheduler": "shop", "job": "orders", "renamed_to": "purchases"}
    good = Report(kind="succeeded", job="purchases", at=world.now, nominal=world.now, generation=1, trigger="rerun")
    answer = world.sends(
        [failed.event(), cloud_event("job.changed", rename, at=world.now, id="r"), good.event(), failed.event()]
    )

    assert [result["result"] for result in answer["results"]] == ["accepted", "accepted", "accepted", "duplicate"]
    assert world.incident("purchases").status is Status.RESOLVED


@pytest.mark.scenario(22)
def test_a_downstream_job_that_is_renamed_while_it_waits_is_still_waited_for(world: World) -> None:
    world.has_run("board_pack")
    world.fails("revenue", at="03:30", log=LOST_COLUMN)
    world.changes("board_pack", renamed_to="pack")
    world.succeeds("revenue", at="07:00", nominal="03:00", trigger="manual")
    world.succeeds("pack", at="07:30", nominal="06:00")
    follows(world)

    assert wait_of(world, "board_pack").delay == timedelta(hours=1, minutes=20)
