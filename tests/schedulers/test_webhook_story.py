"""An incident whose scheduler is another process: asked by signed requests, it answers by events."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.incidents.keys import Action, Capability
from bot.incidents.model import Outcome, Status
from bot.policies.specs import WebhookSpec
from bot.schedulers.webhook import WebhookScheduler
from bot.schedulers.webhook_wire import WebhookWire
from bot.store import EffectKind, EffectState
from tests.standins.scheduler_process import SchedulerProcess
from tests.world.fixtures import Build
from tests.world.people import LOST_COLUMN, SOURCE_TOKEN
from tests.world.reporting import key_of
from tests.world.stage import Stage
from tests.world.world import World

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
EVERYTHING = frozenset({Capability(action.value) for action in Action})


@pytest.fixture
def shop(stage: Stage, tmp_path: Path) -> Iterator[SchedulerProcess]:
    events = f"{stage.url}/api/v1/events"
    process = SchedulerProcess(journal=tmp_path / "journal", events=events, token=SOURCE_TOKEN, secret=SECRET)
    yield process
    process.stop()


def asked_by(
    build: Build, shop: SchedulerProcess, *, can: frozenset[Capability] = EVERYTHING, within: float = 5.0
) -> World:
    """A world whose scheduler is that process."""
    spec = WebhookSpec(name="shop", url=shop.url, secret=SECRET, can=can)
    wire = WebhookWire(shop.url, within=timedelta(seconds=within))
    return build(scheduler=WebhookScheduler(spec, clock=lambda: datetime.now(UTC), client=wire))


def fails_and_is_rerun(world: World, shop: SchedulerProcess, *, until: str = "03:18", **outcome: Any) -> None:
    """The failure is licensed for a rerun, which is asked for at 03:17; the world goes on to `until`."""
    world.has_run("revenue")
    world.fails("revenue", at="03:12")
    shop.control(jobs={"revenue": {"outcome": "succeeded", **outcome}}, at="2026-11-30T03:17:30Z")
    world.moves_to(until)
    shop.settles()
    world.settles()


def pause(world: World, label: str = "Pause") -> str:
    """Ana pauses the job under that label; returns what she was told before she did."""
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.clicks("ana", "More", "orders")
    told = world.presses("ana", label)
    world.submits("ana", until="Tue 12:00", reason="the supplier is down")
    return told.text


def test_a_rerun_is_asked_for_and_its_events_resolve_the_incident(build_world: Build, shop: SchedulerProcess) -> None:
    world = asked_by(build_world, shop)
    fails_and_is_rerun(world, shop)

    (request,) = shop.taken("rerun")
    assert request["job"] == "revenue"
    assert request["nominal_times"] == ["2026-11-30T03:00:00Z"]
    assert shop.rows("refused") == []
    assert [report["status"] for report in shop.reports()] == [200, 200]
    incident = world.incident("revenue")
    assert incident.status is Status.RESOLVED
    assert incident.outcome is Outcome.RECOVERED
    assert world.mentions() == []


def test_a_rerun_that_fails_asks_the_owner_or_tries_its_second_licence(
    build_world: Build, shop: SchedulerProcess
) -> None:
    world = asked_by(build_world, shop)
    fails_and_is_rerun(world, shop, outcome="failed", log=LOST_COLUMN)

    assert world.incident("revenue").status is Status.OPEN
    assert [mention.who for mention in world.mentions()] == ["finance-oncall"]
    assert len(shop.taken("rerun")) == 1


@pytest.mark.parametrize(
    "fault",
    [
        {"what": "drop_after", "action": "rerun"},
        {"what": "drop", "action": "rerun"},
        {"what": "hang", "action": "rerun"},
        {"what": "fail", "action": "rerun", "status": 502},
        {"what": "fail", "action": "rerun", "status": 500, "times": 12},
        {"what": "refuse", "action": "rerun", "status": 503, "times": 12},
        {"what": "refuse", "action": "rerun", "status": 429, "headers": {"retry-after": "20"}, "times": 12},
    ],
    ids=lambda fault: f"{fault['what']} {fault.get('status', '')}",
)
def test_a_rerun_is_made_once_and_is_not_lost_whatever_goes_wrong(
    build_world: Build, shop: SchedulerProcess, fault: dict[str, Any]
) -> None:
    world = asked_by(build_world, shop, within=0.3)
    shop.control(faults=[fault])
    fails_and_is_rerun(world, shop, until="03:25")

    assert len(shop.taken("rerun")) == 1
    assert world.incident("revenue").status is Status.RESOLVED
    assert world.mentions() == []
    assert world.outbox(EffectState.WAITING, EffectState.SENDING) == ()


def test_a_rerun_is_asked_for_again_while_the_scheduler_is_down(build_world: Build, shop: SchedulerProcess) -> None:
    world = asked_by(build_world, shop)
    shop.kill()
    world.has_run("revenue")
    world.fails("revenue", at="03:12")
    world.moves_to("03:25")
    assert world.incident("revenue").status is Status.RERUNNING
    shop.start()
    shop.control(at="2026-11-30T03:25:30Z")
    world.passes(minutes=1)
    shop.settles()
    world.settles()

    assert len(shop.taken("rerun")) == 1
    assert world.incident("revenue").status is Status.RESOLVED
    assert world.mentions() == []


def test_a_scheduler_that_stays_down_leads_to_the_owner_and_books_nothing(
    build_world: Build, shop: SchedulerProcess
) -> None:
    world = asked_by(build_world, shop)
    shop.kill()
    world.has_run("revenue")
    world.fails("revenue", at="03:12")
    world.moves_to("04:00")

    assert world.incident("revenue").status is Status.OPEN
    (mention,) = world.mentions()
    assert mention.who == "finance-oncall"
    assert "no connection to it came about" in mention.text
    assert world.used("revenue") == 0
    assert world.outbox(EffectState.WAITING, EffectState.SENDING) == ()


def test_a_rerun_that_may_have_been_taken_keeps_its_reservation_when_it_is_refused_later(
    build_world: Build, shop: SchedulerProcess
) -> None:
    world = asked_by(build_world, shop)
    shop.control(
        faults=[
            {"what": "drop_after", "action": "rerun"},
            {"what": "refuse", "action": "rerun", "message": "who are you?", "times": None},
        ],
        jobs={"revenue": {"outcome": "nothing"}},
    )
    world.has_run("revenue")
    world.fails("revenue", at="03:12")
    world.moves_to("03:19")

    assert world.incident("revenue").status is Status.OPEN
    assert world.used("revenue") > 0
    assert "cannot be told" in world.reasons("revenue")
    asked = len(shop.rows("refused"))
    world.moves_to("04:30")
    assert len(shop.rows("refused")) == asked == 1


@pytest.mark.parametrize("goes_down", [False, True], ids=["", "down since"])
def test_a_rerun_that_is_put_aside_before_its_answer_is_known_may_still_run(
    build_world: Build, shop: SchedulerProcess, goes_down: bool
) -> None:
    world = asked_by(build_world, shop)
    shop.control(faults=[{"what": "drop_after", "action": "rerun"}], jobs={"revenue": {"outcome": "nothing"}})
    world.has_run("revenue")
    world.fails("revenue", at="03:12")
    world.moves_to("03:17")
    if goes_down:
        shop.kill()
        world.moves_to("03:18")
    put_aside(world)
    if goes_down:
        shop.start()
    world.passes(minutes=5)

    assert len(shop.taken("rerun")) == 1
    assert shop.rows("again") == []
    assert world.used("revenue") > 0, "it may run, so that it stays booked"
    (row,) = [row for row in world.outbox() if row.kind is EffectKind.REQUEST]
    assert row.state is EffectState.BURIED


def put_aside(world: World) -> None:
    with world.undelivered():
        world.clicks("ana", "More", "revenue")
        world.presses("ana", "Leave")
        world.submits("ana", until="Thu 12:00", why="known")


def test_a_rerun_that_surely_was_not_taken_and_is_put_aside_books_nothing(
    build_world: Build, shop: SchedulerProcess
) -> None:
    world = asked_by(build_world, shop)
    shop.control(faults=[{"what": "refuse", "action": "rerun", "status": 429, "times": None}])
    world.has_run("revenue")
    world.fails("revenue", at="03:12")
    world.moves_to("03:18")
    put_aside(world)
    world.passes(minutes=5)

    assert shop.taken("rerun") == []
    assert world.used("revenue") == 0
    (row,) = [row for row in world.outbox() if row.kind is EffectKind.REQUEST]
    assert row.state is EffectState.CANCELLED


def test_a_scheduler_that_dies_over_a_request_remembers_it(build_world: Build, shop: SchedulerProcess) -> None:
    world = asked_by(build_world, shop)
    shop.control(faults=[{"what": "drop_after", "action": "rerun"}], jobs={"revenue": {"outcome": "nothing"}})
    world.has_run("revenue")
    world.fails("revenue", at="03:12")
    world.moves_to("03:17")
    shop.kill()
    shop.start()
    shop.control(at="2026-11-30T03:17:05Z")
    world.moves_to("03:18")

    assert len(shop.rows("taken")) == 1
    assert len(shop.rows("again")) == 1


def test_a_stop_reaches_the_scheduler_under_the_key_of_the_rerun(build_world: Build, shop: SchedulerProcess) -> None:
    world = asked_by(build_world, shop)
    fails_and_is_rerun(world, shop, outcome="started")
    world.clicks("ana", "Stop rerun", "revenue")

    (rerun,), (stop,) = shop.taken("rerun"), shop.taken("stop")
    assert stop["key"] == f"{rerun['key']}:stop"
    assert stop["requested_by"] == "ana"


@pytest.mark.scenario(46)
def test_a_pause_that_is_refused_is_told_and_the_chase_goes_on(build_world: Build, shop: SchedulerProcess) -> None:
    world = asked_by(build_world, shop)
    shop.control(faults=[{"what": "refuse", "action": "pause", "status": 403, "message": "ontrack may not pause"}])
    pause(world)

    incident = world.incident("orders")
    assert incident.status is Status.OPEN
    assert incident.decision is not None
    assert incident.decision.refused == "ontrack may not pause"
    assert "ontrack may not pause" in world.thread("orders")
    assert "ana" in [mention.who for mention in world.mentions()]
    asked = len(world.mentions())
    world.passes(hours=1)
    assert len(world.mentions()) > asked


def test_a_pause_is_in_force_when_it_is_taken_and_resumed_at_its_end(
    build_world: Build, shop: SchedulerProcess
) -> None:
    world = asked_by(build_world, shop)
    pause(world)

    assert world.incident("orders").status is Status.PAUSED
    (request,) = shop.taken("pause")
    assert request["reason"] == "the supplier is down"
    world.moves_to("Tue 12:01")
    assert len(shop.taken("resume")) == 1
    assert shop.rows("refused") == []


@pytest.mark.scenario(47)
def test_a_scheduler_that_cannot_pause_is_only_silenced(build_world: Build, shop: SchedulerProcess) -> None:
    world = asked_by(build_world, shop, can=frozenset({Capability.RERUN}))
    told = pause(world, "Silence")

    assert "cannot" in told
    incident = world.incident("orders")
    assert incident.status is Status.PAUSED
    assert incident.decision is not None
    assert incident.decision.silences_only
    assert shop.rows("taken") == []
    assert world.service.schedulers.all()[key_of("orders").scheduler].can == {Capability.RERUN}
