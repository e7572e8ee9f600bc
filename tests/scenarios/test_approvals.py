"""Budget and approval: what may be spent without a person, and what a person's yes is worth."""

from datetime import UTC, datetime, timedelta

import pytest

from bot.incidents.keys import Action, Trigger
from bot.incidents.model import Outcome, Status
from bot.store import EffectKind, EffectState
from tests.world.fixtures import Build
from tests.world.people import POLICIES, RESET, STRANGE
from tests.world.reporting import key_of
from tests.world.reports import Report
from tests.world.stage import Stage
from tests.world.world import World


@pytest.mark.scenario(15)
def test_an_unknown_cause_is_rerun_only_by_an_owner_who_confirms_it(world: World) -> None:
    world.has_run("orders")
    world.fails("orders", at="03:12", log=STRANGE)
    world.moves_to("03:20")
    assert world.incident("orders").failure.cause == "unknown"
    assert world.reruns() == []

    told = world.clicks("sam", "Rerun", "orders")
    assert "proposed to the owning team" in told.text.lower()
    assert world.incident("orders").status is Status.AWAITING_APPROVAL

    told = world.clicks("sam", "Approve", "orders")
    assert "Only the owning team finance can decide" in told.text
    assert world.incident("orders").status is Status.AWAITING_APPROVAL
    assert "Approved by sam, who may not decide" in world.reasons("orders")

    question = world.root("orders")
    approve = next(each for block in question["blocks"] if block["type"] == "actions" for each in block["elements"])
    assert "The cause is not known" in approve["confirm"]["text"]["text"]
    told = world.clicks("ana", "Approve", "orders")

    assert told.text == ""
    (request,) = world.reruns()
    assert "ana" in request.requested_by
    assert world.incident("orders").status is Status.RERUNNING
    approved = next(row for row in world.timeline("orders") if row.kind == "approved")
    assert approved.by is not None
    assert approved.by.person.name == "ana"


@pytest.mark.scenario(16)
def test_of_two_incidents_that_want_the_last_unit_one_gets_it(build_world: Build) -> None:
    policies = POLICIES.replace("budget: {limit: 40,", "budget: {limit: 0.3,").replace(
        "fallback:",
        """  - match: shop/orders
    team: finance
    safe_to_retry: {causes: [network.connection_reset], by: ana@example.com, since: 2026-11-02}
fallback:""",
    )
    world = build_world(policies=policies)
    world.has_run("revenue")
    world.has_run("orders")
    world.fails("revenue", at="03:12")
    world.fails("orders")

    assert world.incident("revenue").status is Status.RERUNNING
    assert world.used("revenue") == pytest.approx(1 / 6, abs=0.001), "reserved before the request"
    assert world.reruns() == []
    assert world.incident("orders").status is Status.AWAITING_APPROVAL

    world.moves_to("03:18")
    world.rerun_succeeds("revenue", took=world.now - world.now.replace(minute=15))
    assert world.used("revenue") == pytest.approx(3 / 60, abs=0.001), "settled to the actual cost"


@pytest.mark.scenario(17)
def test_an_overdraft_is_recorded_and_the_next_rerun_needs_approval(build_world: Build) -> None:
    world = build_world(policies=POLICIES.replace("budget: {limit: 4,", "budget: {limit: 0.3,"))
    world.has_run("revenue")
    world.fails("revenue", at="03:12")
    world.moves_to("03:17")
    world.rerun_starts("revenue")
    world.moves_to("03:37")
    world.rerun_succeeds("revenue", took=world.now - world.now.replace(minute=17))
    assert world.used("revenue") == pytest.approx(20 / 60, abs=0.001)
    assert world.mentions() == []

    world.fails("revenue", at="20:00", nominal="19:00", run_id="extra__1")
    assert world.incident("revenue").status is Status.AWAITING_APPROVAL
    assert len(world.reruns()) == 1

    world.clicks("ana", "Approve", "revenue")
    assert len(world.reruns()) == 2
    assert world.used("revenue") == pytest.approx(20 / 60, abs=0.001), "an approved rerun is booked apart"


@pytest.mark.scenario(17)
def test_a_budgets_day_of_twenty_five_hours_begins_and_ends_in_its_own_zone(build_world: Build, stage: Stage) -> None:
    stage.clock.now = datetime(2026, 10, 24, 21, 0, tzinfo=UTC)
    world = build_world(
        policies=POLICIES.replace("budget: {limit: 4,", "budget: {timezone: Europe/Berlin, limit: 0.2,")
    )
    world.has_run("revenue")
    world.fails("revenue", at="22:05", nominal="22:00", run_id="first")
    world.moves_to("22:10")
    world.rerun_succeeds("revenue")
    assert world.used("revenue") > 0

    world.fails("revenue", at="Sun 22:40", nominal="22:30", run_id="second")
    assert world.incident("revenue").status is Status.AWAITING_APPROVAL, "it is 23:40 of the same day in Berlin"
    world.succeeds("revenue", nominal="22:30", trigger="manual")

    world.fails("revenue", at="Sun 23:05", nominal="23:00", run_id="third")
    assert world.incident("revenue").status is Status.RERUNNING, "it is 00:05 of the next day in Berlin"


@pytest.mark.scenario(18)
def test_approve_after_what_was_owed_is_paid_reruns_nothing_and_says_why(build_world: Build) -> None:
    world = build_world(policies=POLICIES.replace("budget: {limit: 4,", "budget: {limit: 0.1,"))
    world.has_run("revenue")
    world.fails("revenue", at="03:12")
    waiting = world.message_with("Approve", "revenue")
    world.succeeds("revenue", at="03:40", trigger="manual", run_id="manual__1", by="olga")
    told = world.clicks_on("ana", "Approve", waiting) if waiting["ts"] != world.root("revenue")["ts"] else None

    assert world.incident("revenue").outcome is Outcome.RECOVERED_BY_HAND
    assert world.reruns() == []
    assert told is not None
    assert "already resolved by run manual__1" in told.text


@pytest.mark.scenario(18)
def test_an_approval_that_nobody_gave_in_time_means_no(build_world: Build) -> None:
    world = build_world(policies=POLICIES.replace("budget: {limit: 4,", "budget: {limit: 0.1,"))
    world.has_run("revenue")
    world.fails("revenue", at="03:12")
    waiting = world.message_with("Approve", "revenue")
    world.moves_to("Tue 03:00")

    assert world.incident("revenue").status is Status.OPEN
    told = world.clicks_on("ana", "Approve", waiting)
    assert "no longer open" in told.text
    assert world.reruns() == []


@pytest.mark.scenario(19)
def test_approve_twice_is_one_rerun(build_world: Build) -> None:
    world = build_world(policies=POLICIES.replace("budget: {limit: 4,", "budget: {limit: 0.1,"))
    world.has_run("revenue")
    world.fails("revenue", at="03:12")
    waiting = world.message_with("Approve", "revenue")
    world.clicks_on("ana", "Approve", waiting)
    told = world.clicks_on("olga", "Approve", waiting)

    assert len(world.reruns()) == 1
    assert "no longer open" in told.text


@pytest.mark.scenario(19)
def test_a_pause_cancels_a_rerun_that_was_not_yet_requested(world: World) -> None:
    world.has_run("revenue")
    world.fails("revenue", at="03:12")
    world.clicks("ana", "More", "revenue")
    world.presses("ana", "Pause")
    world.submits("ana", until="Tue 12:00", reason="the supplier is down")
    world.moves_to("04:00")

    assert world.incident("revenue").status is Status.PAUSED
    assert world.reruns() == []
    assert world.used("revenue") == 0


@pytest.mark.scenario(19)
def test_a_pause_cancels_an_approved_rerun_that_was_not_yet_requested(build_world: Build) -> None:
    world = build_world(policies=POLICIES.replace("budget: {limit: 4,", "budget: {limit: 0.1,"))
    world.has_run("revenue")
    world.fails("revenue", at="03:12")
    with world.undelivered():
        world.clicks("ana", "Approve", "revenue")
        world.clicks("ana", "More", "revenue")
        world.presses("ana", "Pause")
        world.submits("ana", until="Tue 12:00", reason="the supplier is down")

    assert world.reruns() == []
    assert world.incident("revenue").status is Status.PAUSED
    assert [mention for mention in world.mentions() if mention.at > world.incident("revenue").opened_at] == []
    (cancelled,) = [row for row in world.outbox(EffectState.CANCELLED) if row.kind is EffectKind.REQUEST]
    assert cancelled.content["action"] == Action.RERUN


@pytest.mark.scenario(45)
def test_a_run_cleared_by_hand_in_the_scheduler_takes_a_waiting_approval_back(build_world: Build) -> None:
    world = build_world(policies=POLICIES.replace("budget: {limit: 4,", "budget: {limit: 0.1,"))
    world.has_run("revenue")
    world.fails("revenue", at="03:12", run_id="scheduled__1")
    assert world.incident("revenue").status is Status.AWAITING_APPROVAL

    world.starts("revenue", at="03:20", run_id="scheduled__1", generation=1, trigger=Trigger.RERUN, by="olga")
    assert world.incident("revenue").proposal is None
    assert "olga" in world.replies("revenue")[-1]

    world.succeeds("revenue", at="03:31", run_id="scheduled__1", generation=1, trigger=Trigger.RERUN, by="olga")
    assert world.incident("revenue").outcome is Outcome.RECOVERED_BY_HAND
    assert world.reruns() == []


@pytest.mark.scenario(35)
def test_a_backfill_of_three_hundred_old_dates_is_one_incident_and_drains_no_budget(world: World) -> None:
    world.has_run("revenue")
    world.moves_to("09:00")
    good = world.service.storage.reads.job(key=key_of("revenue"))
    newest = world.nominal_before("revenue", world.now)
    old = [
        Report(
            kind="failed",
            job="revenue",
            at=world.now,
            nominal=newest - timedelta(days=back),
            trigger="backfill",
            error={"log": RESET},
        )
        for back in range(400, 100, -1)
    ]
    for first in range(0, 300, 50):
        world.reports(*old[first : first + 50])

    (incident,) = world.incidents("revenue")
    assert incident.count == 300
    assert len(world.asks()) == 1
    assert world.reruns() == []
    assert world.used("revenue") == 0
    now_good = world.service.storage.reads.job(key=key_of("revenue"))
    assert good is not None
    assert now_good is not None
    assert now_good.memory.last_good == good.memory.last_good
