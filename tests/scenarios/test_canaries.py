"""Many jobs fail alike: one is rerun first, the others follow in waves, and the first that fails stops them."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from bot.incidents.model import Outcome, RerunPhase, Status
from tests.scenarios.outages import EVERYBODY, FINANCE, GROWTH, policies
from tests.world.fixtures import Build
from tests.world.people import LOST_COLUMN
from tests.world.world import World


def outage(world: World, jobs: Sequence[str] = EVERYBODY) -> None:
    """Every job ran well for a week, and at 03:12 all of them fail of the same cause, a second apart."""
    for job in jobs:
        world.has_run(job)
    world.moves_to("03:12")
    for job in jobs:
        world.fails(job)
        world.passes(seconds=1)


def asked_for(world: World) -> list[str]:
    """The jobs whose reruns the scheduler was asked for, in order."""
    return [request.job.name for request in world.reruns()]


def phases(world: World, jobs: Sequence[str] = EVERYBODY) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for job in jobs:
        incident = world.incident(job)
        phase = incident.rerun.phase if incident.rerun and incident.status is Status.RERUNNING else incident.status
        found.setdefault(phase, []).append(job)
    return found


def recovers(world: World, jobs: Sequence[str]) -> None:
    """These reruns run, and run well."""
    for job in jobs:
        world.rerun_starts(job)
    for job in jobs:
        world.rerun_succeeds(job)


@pytest.fixture
def world(build_world: Build) -> World:
    return build_world(policies=policies())


@pytest.mark.scenario(36)
def test_one_is_rerun_first_and_the_others_follow_in_waves_until_all_have_recovered(world: World) -> None:
    outage(world)
    assert len(phases(world)[RerunPhase.HELD]) == len(EVERYBODY) - 3

    world.moves_to("03:18")
    assert len(asked_for(world)) == 1
    waves, done = [1], 0
    while len(asked_for(world)) > done:
        wave = asked_for(world)[done:]
        done += len(wave)
        recovers(world, wave)
        waves.append(len(asked_for(world)) - done)

    assert waves == [1, 2, 4, 8, 1, 0]
    assert sorted(asked_for(world)) == sorted(EVERYBODY)
    assert {world.incident(job).outcome for job in EVERYBODY} == {Outcome.RECOVERED}
    assert world.mentions() == []


@pytest.mark.scenario(36)
def test_the_first_failure_stops_the_waves_and_asks_each_team_once(world: World) -> None:
    outage(world)
    world.moves_to("03:18")
    (first,) = asked_for(world)
    recovers(world, [first])
    second, third = asked_for(world)[1:]
    world.rerun_starts(second)
    world.rerun_starts(third)
    world.rerun_fails(second)

    assert len(asked_for(world)) == 3
    assert len(phases(world)[Status.OPEN]) == len(EVERYBODY) - 2
    assert sorted(mention.who for mention in world.mentions()) == ["finance-oncall", "growth-oncall"]
    assert f"the rerun of shop/{second} did not help" in world.reasons(FINANCE[-1])
    assert f"the rerun of shop/{second} did not help" in world.thread(GROWTH[-1])
    world.passes(minutes=10)
    assert len(asked_for(world)) == 3


def test_what_runs_already_when_the_canary_fails_may_still_end_well(world: World) -> None:
    outage(world)
    world.moves_to("03:18")
    recovers(world, asked_for(world))
    second, third = asked_for(world)[1:]
    world.rerun_starts(third)
    world.rerun_fails(second)
    world.rerun_succeeds(third)

    assert world.incident(third).outcome is Outcome.RECOVERED
    assert len(asked_for(world)) == 3


def test_after_the_canary_has_failed_nothing_of_that_cause_is_rerun_by_itself_for_an_hour(world: World) -> None:
    world.has_run("revenue")
    outage(world)
    world.moves_to("03:18")
    world.rerun_fails(asked_for(world)[0])
    world.fails("revenue", at="03:40")

    assert world.incident("revenue").status is Status.OPEN
    assert "did not help" in world.incident("revenue").reason
    assert len(asked_for(world)) == 1


def test_those_that_back_off_when_another_rerun_fails_are_asked_about_and_not_rerun(build_world: Build) -> None:
    world = build_world(policies=policies(backoff="30s"))
    for job in FINANCE[:4]:
        world.has_run(job)
    first, *others, last = FINANCE[:4]
    world.fails(first, at="03:12")
    world.passes(seconds=20)
    for job in others:
        world.fails(job)
    world.passes(seconds=11)
    world.fails(last)
    assert asked_for(world) == [first]

    world.rerun_fails(first, log=LOST_COLUMN)
    world.passes(minutes=5)
    assert asked_for(world) == [first]
    assert set(phases(world, FINANCE[:4])) == {Status.OPEN}
    assert [mention.who for mention in world.mentions()] == ["finance-oncall"]


def test_held_reruns_whose_canary_brings_no_result_go_back_to_their_owners(build_world: Build) -> None:
    world = build_world(policies=policies())
    for job in EVERYBODY:
        world.has_run(job, took=timedelta(hours=2))
    world.moves_to("05:12")
    for job in EVERYBODY:
        world.fails(job, took=timedelta(hours=2))
        world.passes(seconds=1)
    world.moves_to("05:18")
    world.rerun_starts(asked_for(world)[0])
    world.moves_to("06:19")

    assert len(phases(world)[Status.OPEN]) == len(EVERYBODY) - 1
    assert len(asked_for(world)) == 1
    assert sorted(mention.who for mention in world.mentions()) == ["finance-oncall", "growth-oncall"]
    assert "has run well in time" in world.reasons(FINANCE[-1])


def test_one_that_is_taken_while_it_waits_gives_its_place_to_the_next(world: World) -> None:
    outage(world)
    world.moves_to("03:18")
    (first,) = asked_for(world)
    held = [job for job in EVERYBODY if job != first]
    world.clicks("ana", "More", held[0])
    world.presses("ana", "Pause")
    world.submits("ana", until="Tue 09:00", reason="its supplier is down")
    recovers(world, [first])

    assert held[0] not in asked_for(world)
    assert len(asked_for(world)) == 3


def test_a_held_job_that_recovers_by_hand_is_not_rerun(world: World) -> None:
    outage(world)
    world.moves_to("03:18")
    (first,) = asked_for(world)
    held = [job for job in EVERYBODY if job != first]
    world.succeeds(held[0], generation=1, trigger="rerun", by="Olga")
    recovers(world, [first])

    assert world.incident(held[0]).outcome is Outcome.RECOVERED_BY_HAND
    assert held[0] not in asked_for(world)
    assert len(asked_for(world)) == 3


def test_fewer_jobs_than_that_are_rerun_at_once(world: World) -> None:
    outage(world, FINANCE[:3])
    world.moves_to("03:18")

    assert sorted(asked_for(world)) == list(FINANCE[:3])


def test_many_jobs_over_a_longer_time_are_no_case_for_a_canary(world: World) -> None:
    for job in FINANCE[:6]:
        world.has_run(job)
    world.moves_to("03:12")
    for job in FINANCE[:6]:
        world.fails(job)
        world.passes(minutes=3)
    world.passes(minutes=6)

    assert sorted(asked_for(world)) == list(FINANCE[:6])


def test_an_outage_that_outlasts_a_restart_goes_on_where_it_was(world: World) -> None:
    outage(world)
    world.kill()
    world.moves_to("03:18")
    (first,) = asked_for(world)
    world.kill()
    recovers(world, [first])
    world.kill()

    assert len(asked_for(world)) == 3
