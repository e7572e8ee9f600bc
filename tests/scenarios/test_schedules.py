"""Schedules and the chase: asked in time, never in vain, never in a flood."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from tests.world.fixtures import Build
from tests.world.people import LOST_COLUMN, POLICIES
from tests.world.stage import Stage
from tests.world.world import World

FLOOR = timedelta(minutes=5)


@pytest.mark.scenario(32)
def test_with_the_next_run_in_two_minutes_it_is_asked_once_and_not_after_that_run_began(world: World) -> None:
    world.fails("orders", at="Tue 02:58", nominal="Mon 03:00")
    world.clicks("ana", "Acknowledge", "orders")
    world.clicks("ana", "Release", "orders")
    world.moves_to("Tue 03:00")
    world.starts("orders", nominal="Tue 03:00")
    world.moves_to("03:09")

    assert len(world.mentions()) == 1
    world.moves_to("Tue 12:00")
    assert len(world.mentions()) > 1, "the chase goes on for what is still owed"


@pytest.mark.scenario(32)
def test_a_job_of_every_minute_is_chased_at_the_floor_and_not_each_minute(world: World) -> None:
    world.fails("minutely", at="03:12", log=LOST_COLUMN)
    world.passes(hours=2)

    asked = [mention.at for mention in world.mentions()]
    gaps = [after - before for before, after in pairwise(asked)]
    assert 3 <= len(asked) <= 25
    assert min(gaps) >= FLOOR
    assert max(gaps) <= timedelta(hours=1)


@pytest.mark.scenario(32)
def test_a_job_without_a_schedule_is_chased_by_the_fallback_interval(world: World) -> None:
    world.fails("by_hand_only", at="03:12", log=LOST_COLUMN, trigger="manual")
    world.passes(hours=15)

    asked = [mention.at - world.incident("by_hand_only").opened_at for mention in world.mentions()]
    hours = [round(after.total_seconds() / 3600, 2) for after in asked]
    assert hours[:2] == [0, 0.25]
    assert hours[-1] - hours[-2] == 4
    assert len(hours) >= 5


@pytest.mark.scenario(33)
def test_the_night_of_the_dst_gap_has_one_run_and_nothing_late(build_world: Build, stage: Stage) -> None:
    stage.clock.now = datetime(2026, 3, 28, 0, 0, tzinfo=UTC)
    world = build_world(policies=berlin("30 2 * * *"))
    for nominal in ("2026-03-28T01:30:00+00:00", "2026-03-29T01:00:00+00:00", "2026-03-30T00:30:00+00:00"):
        runs_well(world, datetime.fromisoformat(nominal))
    world.moves_to(datetime(2026, 3, 30, 20, 0, tzinfo=UTC))

    assert world.incidents() == ()


@pytest.mark.scenario(33)
def test_the_night_of_the_dst_overlap_has_one_run_and_nothing_late(build_world: Build, stage: Stage) -> None:
    stage.clock.now = datetime(2026, 10, 24, 0, 0, tzinfo=UTC)
    world = build_world(policies=berlin("30 2 * * *"))
    for nominal in ("2026-10-24T00:30:00+00:00", "2026-10-25T00:30:00+00:00", "2026-10-26T01:30:00+00:00"):
        runs_well(world, datetime.fromisoformat(nominal))
    world.moves_to(datetime(2026, 10, 26, 20, 0, tzinfo=UTC))

    assert world.incidents() == ()


@pytest.mark.scenario(33)
def test_a_run_that_does_not_come_in_the_night_of_the_overlap_is_late_once(build_world: Build, stage: Stage) -> None:
    stage.clock.now = datetime(2026, 10, 24, 0, 0, tzinfo=UTC)
    world = build_world(policies=berlin("30 2 * * *"))
    runs_well(world, datetime(2026, 10, 24, 0, 30, tzinfo=UTC))
    world.moves_to(datetime(2026, 10, 25, 20, 0, tzinfo=UTC))

    (incident,) = world.incidents()
    assert incident.failure.cause == "late.not_started"
    assert incident.count == 1
    assert incident.opened_at == datetime(2026, 10, 25, 0, 45, tzinfo=UTC)


@pytest.mark.scenario(34)
def test_after_six_hours_of_downtime_missed_asks_collapse_into_one(world: World) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    assert len(world.mentions()) == 1
    world.clock.now += timedelta(hours=6)
    world.kill()
    world.settles()

    assert len(world.mentions()) == 2
    assert world.mentions()[-1].at == world.now


@pytest.mark.scenario(43)
def test_a_low_urgency_failure_of_friday_night_waits_for_the_teams_hours(world: World) -> None:
    world.fails("report", at="Fri 22:00", nominal="Fri 03:00", log=LOST_COLUMN)
    world.moves_to("Mon 07:59")
    assert world.mentions() == []

    world.moves_to("Mon 08:00")
    (mention,) = world.mentions()
    assert mention.at == world.now


@pytest.mark.scenario(43)
def test_a_low_urgency_failure_is_asked_at_the_last_hour_that_still_helps(world: World) -> None:
    world.fails("report", at="Thu 12:00", nominal="Thu 03:00", log=LOST_COLUMN)
    world.clicks("ana", "Acknowledge", "report")
    world.clicks("ana", "Release", "report")
    world.moves_to("Fri 03:00")

    asked = [mention.at for mention in world.mentions()]
    assert all(8 <= at.hour < 18 for at in asked)


@pytest.mark.scenario(44)
def test_an_acknowledgement_of_an_hourly_job_quiets_it_for_as_long_as_it_was_given(world: World) -> None:
    world.fails("stock", at="03:12", log=LOST_COLUMN)
    world.clicks("ben", "Acknowledge", "stock")
    world.clicks("ben", "4 hours", "stock")
    assert len(world.mentions()) == 1
    assert "until Mon 30 Nov 07:12" in world.text_of(world.root("stock"))
    for hour in (4, 5, 6, 7):
        world.fails("stock", at=f"{hour:02}:05", log=LOST_COLUMN)

    assert len(world.mentions()) == 1
    assert 1 <= len(world.direct("ben")) <= 2
    world.moves_to("07:13")
    first = world.mentions()[1]
    assert first.who == "ben"
    assert "ended" in first.text
    world.moves_to("07:30")
    assert world.mentions()[2].who == "finance-oncall"


def berlin(cron: str) -> str:
    job = f'  - {{match: shop/nightly, schedule: {{cron: "{cron}", timezone: Europe/Berlin}}, late: {{start: 0s}}}}\n'
    return POLICIES.replace("fallback:", f"{job}fallback:")


def runs_well(world: World, nominal: datetime) -> None:
    if nominal > world.now:
        world.moves_to(nominal)
    world.starts("nightly", nominal=nominal)
    world.passes(minutes=10)
    world.succeeds("nightly", nominal=nominal)
